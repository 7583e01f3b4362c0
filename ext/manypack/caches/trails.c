/* Remembers a Ractor's last walk to an offset in a message. */
#include "caches/trails.h"

/* Up to this offset, walking again is as fast as remembering the walk. */
#define NEAR 1024

/* The memory of a deeper walk is freed when the next message is walked through. */
#define KEPT_CAPACITY 1024

/* A walk, with memory for its tape and its marks. The trail is its first member: grow gets the tape. */
typedef struct {
    mp_trail trail;
    uint64_t *left; /* for mp_trail_step_at */
    uint64_t id;    /* the object_id of the source, which Ruby gives to no other object; 0 for none */
    size_t start;
} walk;

struct mp_trails {
    walk near, last; /* near: to an offset below NEAR, which need not be remembered */
};

static void
walk_free(walk *w)
{
    xfree(w->trail.tape.entries);
    xfree(w->trail.marks);
    xfree(w->left);
    *w = (walk){.id = 0};
}

void
mp_trails_free(mp_trails *trails)
{
    if (!trails) return;
    walk_free(&trails->near);
    walk_free(&trails->last);
    xfree(trails);
}

size_t
mp_trails_memsize(const mp_trails *trails)
{
    const size_t entry = sizeof(mp_tape_entry) + sizeof(mp_trail_mark) + sizeof(uint64_t);

    if (!trails) return 0;
    return sizeof(mp_trails) + ((size_t)trails->near.trail.tape.capacity + trails->last.trail.tape.capacity) * entry;
}

static bool
grow_trail(mp_tape *tape)
{
    walk *w = (walk *)(void *)tape;
    uint32_t before = tape->capacity, capacity = before ? before * 2 : MP_ROUTE_HEAD;

    if (capacity <= before) return false;
    REALLOC_N(tape->entries, mp_tape_entry, capacity);
    REALLOC_N(w->trail.marks, mp_trail_mark, capacity);
    REALLOC_N(w->left, uint64_t, (size_t)capacity + 1); /* mp_trail_places */
    MEMZERO(w->trail.marks + before, mp_trail_mark, capacity - before);
    tape->capacity = capacity;
    return true;
}

/* Starts a new walk in the memory of the old one. */
static bool
start_anew(walk *w, const uint8_t *message, size_t offset)
{
    walk before;

    if (w->trail.tape.capacity > KEPT_CAPACITY) walk_free(w);
    before = *w;
    mp_trail_init(&w->trail, message, offset);
    w->trail.tape.entries = before.trail.tape.entries;
    w->trail.tape.capacity = before.trail.tape.capacity;
    w->trail.tape.grow = grow_trail;
    w->trail.marks = before.trail.marks;
    if (w->trail.marks) MEMZERO(w->trail.marks, mp_trail_mark, w->trail.tape.capacity);
    return mp_trail_walk(&w->trail);
}

static void
take_steps(walk *w, mp_route *route)
{
    uint32_t depth = w->trail.depth, i;

    route->cut = depth > MP_ROUTE_HEAD + MP_ROUTE_TAIL;
    route->count = route->cut ? MP_ROUTE_HEAD + MP_ROUTE_TAIL : depth;
    for (i = 0; i < route->count; i++) {
        uint32_t step = route->cut && i >= MP_ROUTE_HEAD ? depth - route->count + i : i;

        route->steps[i] = mp_trail_step_at(&w->trail, step, w->left);
    }
}

bool
mp_trails_find(mp_trails **trails, VALUE source, size_t start, size_t offset, mp_route *route)
{
    uint64_t id = offset - start >= NEAR ? NUM2ULL(rb_obj_id(source)) : 0;
    const uint8_t *message;
    bool known, found;
    walk *w;

    if (!*trails) *trails = ZALLOC(mp_trails);
    w = id ? &(*trails)->last : &(*trails)->near;
    known = id && w->id == id && w->start == start;
    message = (const uint8_t *)RSTRING_PTR(source) + start;
    w->id = 0; /* in case of NoMemoryError */
    w->trail.tape.bytes = message;
    found = known && mp_trail_go_on(&w->trail, offset - start);
    if (!found) found = start_anew(w, message, offset - start);
    if (found) take_steps(w, route);
    w->start = start;
    if (found) w->id = id;
    RB_GC_GUARD(source); /* otherwise compaction may move it */
    return found;
}
