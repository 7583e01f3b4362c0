/* Walks over the frames of the open containers, from the innermost outwards. */
#include "unpack/tree.h"

#include "core/skip.h"

mp_open_keys
mp_tree_open_keys(const mp_tree *tree, const VALUE *values, uint32_t outer_keys)
{
    uint32_t depth = tree->depth, top = depth > MP_KEY_DEPTH_MAX ? depth - MP_KEY_DEPTH_MAX : 0, level;
    mp_open_keys keys = {.nesting = outer_keys};
    size_t base = tree->base;

    for (level = depth; level > top; level--) {
        const VALUE *frame = &values[base - MP_FRAME_WORDS];

        if (mp_left_key_p(mp_frame_left(frame))) {
            keys.nesting++;
            keys.outermost = level;
        }
        base = mp_frame_base(frame);
    }
    return keys;
}

void
mp_tree_lefts(const mp_tree *tree, const VALUE *values, uint64_t *left)
{
    uint64_t here = tree->left;
    size_t base = tree->base;
    uint32_t level;

    for (level = tree->depth; level > 0; level--) {
        left[level - 1] = mp_left_objects(here);
        here = mp_frame_left(&values[base - MP_FRAME_WORDS]);
        base = mp_frame_base(&values[base - MP_FRAME_WORDS]);
    }
}

uint64_t
mp_tree_missing(const mp_tree *tree, const VALUE *values)
{
    uint32_t levels = tree->depth < MP_MISSING_LEVELS ? tree->depth : MP_MISSING_LEVELS;
    uint64_t left = tree->left, missing = 0;
    size_t base = tree->base;

    for (; levels; levels--) {
        missing += mp_left_objects(left) - 1;
        left = mp_frame_left(&values[base - MP_FRAME_WORDS]);
        base = mp_frame_base(&values[base - MP_FRAME_WORDS]);
    }
    return missing;
}
