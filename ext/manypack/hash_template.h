/*
 * Hashes for keys that came before. The maps of a table have the same keys in the same order, row for row: the Hash of
 * a row is copied from a template with its values put in, so that no key is hashed again.
 */
#ifndef MANYPACK_HASH_TEMPLATE_H
#define MANYPACK_HASH_TEMPLATE_H

#include "manypack.h"

/* Of fewer pairs Ruby keeps no table of hashes beside a Hash that could be copied; more are no row any more. */
enum { MP_ROW_PAIRS_MIN = 9, MP_ROW_PAIRS_MAX = 256 };

typedef struct mp_hash_templates mp_hash_templates;

/* Those of the current Ractor, made when its first map of a row's size is decoded. */
mp_hash_templates *mp_hash_templates_get(void);

/* A new Hash of n objects, a key and a value in turn, every key hashed: for more pairs than fit into a Hash itself. */
VALUE mp_hash_of_new_keys(size_t n, const VALUE *objects);

/*
 * A new Hash of n objects, a key and a value in turn, of MP_ROW_PAIRS_MIN to MP_ROW_PAIRS_MAX pairs. Equal keys must be
 * the same object to be found again. User code runs in here when a key's class has a #hash of its own.
 */
VALUE mp_hash_of_row(mp_hash_templates *templates, size_t n, const VALUE *objects);

#endif
