/* How deep the containers of an input may be nested: at most max_depth, and less in map keys. */
#ifndef MANYPACK_NESTING_H
#define MANYPACK_NESTING_H

#include "unpack/decoder.h"

/* Must be called before a container that is a map key is opened. Its head is at `at`. StackError. */
void mp_nesting_check_key(mp_decoder *d, const uint8_t *at);

/*
 * Must be called before a container is opened at depth_limit. First resets depth_limit, which may still be that of the
 * last map key. StackError.
 */
void mp_nesting_check_depth(mp_decoder *d, const uint8_t *at);

/* The limit of depth inside the outermost open key. level: the level of that key; 0 if no key is open. */
uint32_t mp_nesting_limit_in_key(const mp_decoder *d, uint32_t level);

/* Raises StackError for the container at `at`, which exceeds the limit. */
NORETURN(void mp_nesting_raise(mp_decoder *d, uint32_t limit, const uint8_t *at));

#endif
