/*
 * Makes Hashes with the same keys as an earlier Hash. The rows of a table are maps with the same keys in the same
 * order. The Hash of a row is a copy of a template with the values of the row, so that no key is hashed again.
 */
#ifndef MANYPACK_HASH_TEMPLATE_H
#define MANYPACK_HASH_TEMPLATE_H

#include "base/support.h"

/* Ruby does not store the hashes of fewer keys, so copying would save nothing. Larger maps are rarely rows. */
enum { MP_ROW_PAIRS_MIN = 9, MP_ROW_PAIRS_MAX = 256 };

struct mp_hash_template_rings;

/* The templates of a Ractor. */
typedef struct {
    struct mp_hash_template_rings *rings; /* NULL before the first map that may be a row */
} mp_hash_templates;

/*
 * Forgets all templates. For the dmark of the object that holds them. Every collection must do so, including minor ones
 * and the end of an incremental one, because nothing marks a template.
 */
void mp_hash_templates_forget(mp_hash_templates *templates);

size_t mp_hash_templates_memsize(const mp_hash_templates *templates);

/* Makes a Hash of n objects, keys and values in turn, and hashes each key. For Hashes that outgrow their slot. */
VALUE mp_hash_of_new_keys(size_t n, const VALUE *objects);

/*
 * The same for MP_ROW_PAIRS_MIN to MP_ROW_PAIRS_MAX pairs. Copies a template if one has the same objects as keys. Runs
 * user code if the class of a key has its own #hash.
 */
VALUE mp_hash_of_row(mp_hash_templates *templates, size_t n, const VALUE *objects);

#endif
