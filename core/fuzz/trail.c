/* Trails: for every byte of every object, must have the containers, keys and indices that a simple recursion passes. */
#include "target.h"

#include "trail.h"

enum { PLACES = 1024 };

static mp_tape_entry entries[PLACES];

static bool
refuse(mp_tape *tape)
{
    (void)tape;
    return false;
}

/* The steps to the current object of the recursion. */
static mp_trail_step steps[PLACES];

/* A trail that goes on to some of the places, one after the other. */
static struct {
    mp_trail trail;
    mp_tape_entry entries[PLACES];
    mp_trail_mark marks[PLACES];
    size_t distance;
} onward;

static void
onward_init(const uint8_t *bytes, size_t distance)
{
    mp_trail_init(&onward.trail, bytes, 0);
    memset(onward.marks, 0, sizeof(onward.marks));
    onward.trail.marks = onward.marks;
    onward.trail.tape.entries = onward.entries;
    onward.trail.tape.capacity = PLACES;
    onward.trail.tape.grow = refuse;
    onward.distance = distance;
    mp_trail_walk(&onward.trail);
}

static void
steps_agree(mp_trail *trail, size_t offset, size_t object, uint32_t depth)
{
    uint64_t left[PLACES + 1];
    uint32_t i;

    ENSURE(trail->tape.at == object && trail->depth == depth, "%" PRIu32 " of %zu", trail->depth, offset);
    for (i = 0; i < depth; i++) {
        mp_trail_step step = mp_trail_step_at(trail, i, left);

        ENSURE(step.kind == steps[i].kind && step.index == steps[i].index, "%" PRIu32 " of %zu", i, offset);
        ENSURE(step.key == steps[i].key && step.key_end == steps[i].key_end, "%zu of %zu", step.key, offset);
    }
}

static void
leads_to(const uint8_t *bytes, size_t offset, size_t object, uint32_t depth)
{
    mp_trail trail;

    mp_trail_init(&trail, bytes, offset);
    trail.tape.entries = entries;
    trail.tape.capacity = PLACES;
    trail.tape.grow = refuse;
    ENSURE(mp_trail_walk(&trail), "%zu", offset);
    steps_agree(&trail, offset, object, depth);
    if (offset % onward.distance) return;
    ENSURE(mp_trail_go_on(&onward.trail, offset), "%zu", offset);
    steps_agree(&onward.trail, offset, object, depth);
}

/* Recurses into the object at a place, to which `depth` steps lead. in_key: it is inside a key, where a trail ends. */
static size_t
passes(const uint8_t *bytes, size_t n, size_t at, uint32_t depth, bool in_key)
{
    mp_plain_head head = mp_reference_head(bytes + at, bytes + n);
    size_t offset, next = at + head.size, key = 0;
    uint64_t i;

    if (head.kind == MP_STR || head.kind == MP_BIN || head.kind == MP_EXT) next += (size_t)head.n;
    for (offset = at; offset < next; offset++) leads_to(bytes, offset, at, depth);
    if (head.kind != MP_ARRAY && head.kind != MP_MAP) return next;
    for (i = 0; i < head.n * (head.kind == MP_MAP ? 2 : 1); i++) {
        bool is_key = head.kind == MP_MAP && i % 2 == 0;

        if (is_key) key = next;
        else if (head.kind == MP_MAP) steps[depth] = (mp_trail_step){.kind = MP_MAP, .key = key, .key_end = next};
        else steps[depth] = (mp_trail_step){.kind = MP_ARRAY, .index = (uint32_t)i};
        next = passes(bytes, n, next, depth + !(in_key || is_key), in_key || is_key);
    }
    return next;
}

/* For bytes that are no message, any answer will do. */
static void
stumbles(const uint8_t *bytes, size_t n)
{
    uint64_t left[PLACES + 1];
    mp_trail trail;
    uint32_t i;

    mp_trail_init(&trail, bytes, n);
    trail.tape.entries = entries;
    trail.tape.capacity = PLACES;
    trail.tape.grow = refuse;
    if (!mp_trail_walk(&trail)) return;
    for (i = 0; i < trail.depth; i++) {
        mp_trail_step step = mp_trail_step_at(&trail, i, left);

        ENSURE(step.key <= step.key_end && step.key_end <= n, "%zu", step.key);
    }
}

void
mp_fuzz_trail(const uint8_t *input, size_t n)
{
    const uint8_t *bytes;
    mp_reference whole;

    if (n == 0 || n > PLACES / 2) return;
    bytes = mp_at_the_edge(input, n);
    whole = mp_reference_walk(bytes, bytes + n, PLACES, false);
    onward_init(bytes, 1 + input[n - 1] % 5u);
    if (whole.status == MP_OK) passes(bytes, n, 0, 0, false);
    stumbles(bytes, n);
}
