/*
 * Hashes for keys that came before. The maps of a table have the same keys in the same order, row for row: the Hash of
 * a row is copied from a template with its values put in, so that no key is hashed again.
 */
#ifndef MANYPACK_HASH_TEMPLATE_H
#define MANYPACK_HASH_TEMPLATE_H

#include "support.h"

/* Of fewer pairs Ruby keeps no table of hashes beside a Hash that could be copied; more are no row any more. */
enum { MP_ROW_PAIRS_MIN = 9, MP_ROW_PAIRS_MAX = 256 };

struct mp_hash_template_list;

/* The templates of a Ractor. They have memory from the first map of a row's size on. */
typedef struct {
    struct mp_hash_template_list *list; /* NULL before */
} mp_hash_templates;

/*
 * For the dmark of the object that has the templates: forgets them all. Every collection has to do so, a minor one and
 * the end of an incremental one too: nothing marks a template.
 */
void mp_hash_templates_forget(mp_hash_templates *templates);

size_t mp_hash_templates_memsize(const mp_hash_templates *templates);

/* A new Hash of n objects, a key and a value in turn, every key hashed: for more pairs than fit into a Hash itself. */
VALUE mp_hash_of_new_keys(size_t n, const VALUE *objects);

/*
 * A new Hash of n objects, a key and a value in turn, of MP_ROW_PAIRS_MIN to MP_ROW_PAIRS_MAX pairs. Equal keys must be
 * the same object to be found again. User code runs in here when a key's class has a #hash of its own.
 */
VALUE mp_hash_of_row(mp_hash_templates *templates, size_t n, const VALUE *objects);

#endif
