/* Remembers a Ractor's last walks to offsets in messages. */
#include "caches/trails.h"

/* How many messages may take turns, such as two Views side by side. */
#define TRAILS 4

/* Up to this offset, walking again is as fast as remembering the walk. */
#define NEAR 1024

/* A slot with a tape of more entries frees its memory before it is used for another message. */
#define KEPT_CAPACITY 1024

/* A walk, with memory for its tape and its marks. The trail is its first member: grow gets the tape. */
typedef struct {
    mp_trail trail;
    uint64_t *left; /* for mp_trail_step_at */
    uint64_t id;    /* the object_id of the source, which Ruby gives to no other object; 0 for none */
    size_t start;
} walk;

struct mp_trails {
    walk walks[TRAILS]; /* the most recently used first */
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
    int i;

    if (!trails) return;
    for (i = 0; i < TRAILS; i++) walk_free(&trails->walks[i]);
    xfree(trails);
}

size_t
mp_trails_memsize(const mp_trails *trails)
{
    size_t size = sizeof(mp_trails);
    int i;

    if (!trails) return 0;
    for (i = 0; i < TRAILS; i++) {
        size_t entry = sizeof(mp_tape_entry) + sizeof(mp_trail_mark) + sizeof(uint64_t);

        size += trails->walks[i].trail.tape.capacity * entry;
    }
    return size;
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

/* Starts a walk, with the memory of the one before. */
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

/* Returns the walk for a message or, if there is none, the least recently used one, and moves it to the front. */
static walk *
walk_of(mp_trails *t, uint64_t id, size_t start)
{
    walk found;
    int i = 0;

    while (i < TRAILS - 1 && (t->walks[i].id != id || t->walks[i].start != start || !id)) i++;
    found = t->walks[i];
    MEMMOVE(t->walks + 1, t->walks, walk, i);
    t->walks[0] = found;
    return &t->walks[0];
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
    w = walk_of(*trails, id, start);
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
