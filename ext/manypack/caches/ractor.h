/*
 * Everything that Manypack keeps for a Ractor from one call to the next: one object, under one key of the Ractor's
 * storage.
 *
 * Ruby pins and marks that object as long as the Ractor lives, so a pointer to its struct stays valid for the rest of a
 * call. The Threads and Fibers of a Ractor share it: expect the caches to have changed after user code ran.
 */
#ifndef MANYPACK_RACTOR_H
#define MANYPACK_RACTOR_H

#include "caches/hash_template.h"
#include "caches/key_cache.h"
#include "caches/result_size.h"
#include "caches/spare.h"
#include "caches/symbol_cache.h"
#include "caches/trails.h"
#include "caches/value_cache.h"

typedef struct {
    mp_key_cache keys;
    mp_value_cache values;
    mp_symbol_cache symbols;
    mp_hash_templates rows;
    mp_result_sizes results;
    mp_spares spares;
    mp_trails *trails;
} mp_ractor;

/* The state of the current Ractor, created at the first call. NoMemoryError. */
mp_ractor *mp_ractor_current(void);

/* The object that owns it: what few Ractors need is an instance variable of it. */
VALUE mp_ractor_object(void);

bool mp_main_ractor_p(void);

#endif
