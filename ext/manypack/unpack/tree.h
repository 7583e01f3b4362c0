/* The position of a decoder in nested containers. */
#ifndef MANYPACK_TREE_H
#define MANYPACK_TREE_H

#include "base/support.h"
#include "core/limit.h"

/*
 * "left" packs two facts about an open container into one word: twice the number of objects that are still to come
 * (keys and values count separately), plus 1 if it is an array.
 */
#define MP_LEFT_ONE 2

MP_INLINE uint64_t
mp_left_of_map(uint32_t pairs)
{
    return (uint64_t)pairs * 2 * MP_LEFT_ONE;
}

MP_INLINE uint64_t
mp_left_of_array(uint32_t elements)
{
    return (uint64_t)elements * MP_LEFT_ONE + 1;
}

MP_INLINE uint64_t
mp_left_objects(uint64_t left)
{
    return left / MP_LEFT_ONE;
}

MP_INLINE bool
mp_left_none_p(uint64_t left)
{
    return left < MP_LEFT_ONE;
}

MP_INLINE bool
mp_left_map_p(uint64_t left)
{
    return (left & 1) == 0;
}

/* True in a map whose next object is a key. */
MP_INLINE bool
mp_left_key_p(uint64_t left)
{
    return left % (2 * MP_LEFT_ONE) == 0;
}

/* Describes the innermost open container. Each container around it has a frame on the value stack, below base. */
typedef struct {
    uint64_t left;         /* of the innermost container; outside all containers, as in an array of one element */
    size_t base;           /* index of the container's first object on the value stack */
    size_t count;          /* number of words in use on the value stack */
    uint32_t depth;        /* open containers */
    uint32_t depth_limit;  /* no container may be opened at this depth: max_depth, or less, set by the last map key */
    bool keys_may_collide; /* a NaN or an object of user code came: different keys may have the same hash */
    uint64_t objects;      /* objects so far, including declared ones; only with a limited codec */
} mp_tree;

/*
 * A suspended container's frame: words on the value stack, directly below the base of the container inside it. They are
 * tagged as Fixnums, because the collector scans every word of the stack. `left` of the largest map takes 34 bits: if a
 * word has 32, a third word holds the upper part.
 */
enum { MP_FRAME_WORDS = sizeof(VALUE) < 8 ? 3 : 2 };

MP_INLINE void
mp_frame_put(VALUE *words, uint64_t left, size_t base)
{
    words[0] = (VALUE)(left << 1 | 1);
    words[1] = (VALUE)((uint64_t)base << 1 | 1);
    if (MP_FRAME_WORDS == 3) words[2] = (VALUE)(left >> 31 << 1 | 1);
}

MP_INLINE uint64_t
mp_frame_left(const VALUE *words)
{
    uint64_t left = (uint64_t)words[0] >> 1;

    if (MP_FRAME_WORDS == 3) left |= (uint64_t)words[2] >> 1 << 31;
    return left;
}

MP_INLINE size_t
mp_frame_base(const VALUE *words)
{
    return (size_t)(words[1] >> 1);
}

/* The open containers that are map keys. */
typedef struct {
    uint32_t nesting;   /* how many */
    uint32_t outermost; /* the level of the outermost key, from 1; 0 without one */
} mp_open_keys;

/* Counts the open keys, starting at outer_keys. Reads only the innermost MP_KEY_DEPTH_MAX levels: no key is deeper. */
mp_open_keys mp_tree_open_keys(const mp_tree *tree, const VALUE *values, uint32_t outer_keys);

/* Fills left, outermost level first, with the number of objects that are still to come in each level. */
void mp_tree_lefts(const mp_tree *tree, const VALUE *values, uint64_t *left);

/*
 * The least number of bytes that must follow the current object. Counts only the innermost levels, because it is called
 * for each byte if an io returns one at a time.
 */
uint64_t mp_tree_missing(const mp_tree *tree, const VALUE *values);

#endif
