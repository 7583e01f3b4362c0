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
#include "caches/latest_index.h"
#include "caches/packed_symbols.h"
#include "caches/result_size.h"
#include "caches/string_cache.h"
#include "caches/trails.h"

/* Members that few Ractors need, allocated together when the first of them is needed. */
typedef struct {
    mp_trails *trails;
    mp_latest latest;   /* the message that Views looked into last */
    VALUE types;        /* a Hash from Types to the same Types with the current ext types (record/type.c); or 0 */
    VALUE constructors; /* a hidden Hash from classes to the way to make their objects (record/instance.c); or 0 */
    VALUE paths;        /* a hidden Hash from Strings to Paths; 0 before the first */
    VALUE bytes;        /* a spare String to read into from an io; 0 while in use and after a collection */
    VALUE recent_codec; /* the Codec of the last call with options; a collection clears it; or 0 */
} mp_seldom;

/*
 * Spare objects: one Packer and one Unpacker for the blocks of pools, and a few Unpackers for the bodies of ext types,
 * so that small messages need no new ones. A spare is taken out while it is in use: user code that needs one meanwhile
 * gets a new object. A spare has no bytes, and refuses all use until it is taken.
 */
typedef struct {
    VALUE packer, unpacker; /* of pools; 0 without one */
    VALUE body;             /* the first of a linked list of Unpackers whose bodies have ended; 0 without one */
    unsigned bodies;        /* the length of that list */
} mp_spares;

/* Takes the object out of its place; 0 if there is none. */
MP_INLINE VALUE
mp_spare_take(VALUE *place)
{
    VALUE spare = *place;

    *place = 0;
    return spare;
}

typedef struct {
    mp_cache_table keys;
    mp_cache_table values;  /* with options that freeze Strings */
    mp_cache_table symbols; /* packed */
    mp_hash_templates rows;
    mp_result_sizes results;
    mp_spares spares;
    mp_seldom *seldom; /* NULL until it is needed */
} mp_ractor;

/* The state of the current Ractor, created at the first call. NoMemoryError. */
mp_ractor *mp_ractor_current(void);

/* The rarely needed members of the current Ractor, created at the first call. NoMemoryError. */
mp_seldom *mp_ractor_seldom(void);

bool mp_main_ractor_p(void);

#endif
