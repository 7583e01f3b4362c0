/*
 * The changes that View#splice is given: a list in which those of one value, or inside of it, are neighbours. Each
 * container that the walk comes to sorts its own range of the list by the next step of the paths.
 *
 *   mp_changes_init(&changes, view, hash);
 *   mp_changes_read(&changes, removed);
 *   mp_changes_sort(&changes, r, 0);         // r: all changes, at depth 0
 *   at = mp_changes_find(&changes, r, &key);
 *   part = mp_changes_part(&changes, r, at); // those of a key of the message itself
 *   own = mp_changes_own(&changes, part);    // those of its value
 *   own.inside                               // those of something inside of it
 */
#ifndef MANYPACK_CHANGES_H
#define MANYPACK_CHANGES_H

#include "base/support.h"
#include "core/key.h"

/* Items in a row: a few on the C stack, more in memory that the collector looks through. */
typedef struct {
    void *items;
    VALUE memory; /* 0 as long as the items are on the C stack */
    uint32_t count, room;
} mp_list;

void mp_list_init(mp_list *list, void *few, uint32_t room);
void mp_list_grow(mp_list *list, size_t size);

/* Returns a new item, whose bytes are anything. The items may move. */
MP_INLINE void *
mp_list_add(mp_list *list, size_t size)
{
    if (MP_UNLIKELY(list->count == list->room)) mp_list_grow(list, size);
    return (char *)list->items + list->count++ * size;
}

/* Frees now what the collector would free later. */
MP_INLINE void
mp_list_end(mp_list *list)
{
    if (list->memory) rb_free_tmp_buffer(&list->memory);
}

typedef enum {
    MP_SET, MP_REMOVE, MP_CALL, MP_INSERT, MP_RENAME,
    MP_APPEND, /* an INSERT whose last step is MP_END */
    MP_KEEP,   /* renamed to the key that it has */
    MP_TAKE,   /* another pair gets the key: it is looked for, because its map must not have it */
} mp_change_kind;

/* A key or an index: an object, or n bytes of a text. */
typedef struct {
    VALUE object;
    uint32_t from, n; /* of a text; n is 0 if the object is the step */
} mp_path_step;

/* The step after the last element of an array. */
#define MP_END Qundef

typedef struct {
    uint64_t rank;         /* the step by which its range was sorted: a number's bits; a name's size and last bytes */
    uint32_t start, depth; /* its path: the place of the first step, and how many there are */
    uint32_t order;        /* changes came in this order */
    uint32_t value;        /* an object; of a TAKE the start of the path of the pair that gets the key */
    uint8_t step;          /* the mp_kind of that step: STR, UINT, INT, ...; NEVER if no message has such a key */
    uint8_t kind;          /* an mp_change_kind */
    bool create;           /* containers that its path leads through may be made */
    bool found;            /* the walk has passed over the value at that step */
} mp_change;

/* Changes whose paths are the same up to a depth: they are of one value, or inside of it. */
typedef struct {
    uint32_t lo, hi, depth;
} mp_range;

/* The changes of one value. Each is NULL if there is none, and valid until the range is sorted again. */
typedef struct {
    const mp_change *set; /* or removed, or called */
    const mp_change *insert, *rename, *take;
    mp_range inside;
    bool create;          /* one of them may make parents */
} mp_own_changes;

/* Lives on the C stack. */
typedef struct {
    VALUE view;
    bool renames;
    mp_list objects, steps, list;
    VALUE few_objects[16]; /* each path and its change, and what else has to be kept */
    mp_path_step few_steps[12];
    mp_change few[6];
} mp_changes;

/* Takes the pairs of a Hash. Runs no code of the user's. */
void mp_changes_init(mp_changes *changes, VALUE view, VALUE hash);

/* Makes the list. removed is View::REMOVED. TypeError and ArgumentError for what is no path. */
void mp_changes_read(mp_changes *changes, VALUE removed);

/* Keeps an object alive, and returns its index. */
uint32_t mp_changes_keep(mp_changes *changes, VALUE object);

/*
 * Sorts a range by the step at its depth, and what has the same step by depth. n is the size of an array, from whose
 * end negative indices count; or 0. Returns the sizes of the names up to that of a fixstr, each a bit.
 */
uint32_t mp_changes_sort(mp_changes *changes, mp_range r, uint64_t n);

/* Puts the parts of a sorted range into the order in which they were given. */
void mp_changes_sort_by_order(mp_changes *changes, mp_range r);

/* Where the changes of a key start in a sorted range; `hi` if there is none. Allocates nothing. */
uint32_t mp_changes_find(const mp_changes *changes, mp_range r, const mp_key *key);

/* The changes of a sorted range, from one on, that have the same step. */
mp_range mp_changes_part(const mp_changes *changes, mp_range r, uint32_t from);

/* The changes of the value itself. ArgumentError if some exclude one another. */
mp_own_changes mp_changes_own(const mp_changes *changes, mp_range r);

/* ArgumentError if changes of a value that is not in the message, or inside of it, exclude one another. */
void mp_changes_check(mp_changes *changes, mp_range r);

/* The Path of a change up to a depth. */
VALUE mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth);

/* ArgumentError: the path of a change up to a depth, and the words. */
NORETURN(void mp_changes_refuse(const mp_changes *changes, uint32_t start, uint32_t depth, const char *words));

MP_INLINE mp_change *
mp_changes_at(const mp_changes *changes, uint32_t i)
{
    return &((mp_change *)changes->list.items)[i];
}

MP_INLINE VALUE
mp_changes_object(const mp_changes *changes, uint32_t object)
{
    return ((VALUE *)changes->objects.items)[object];
}

MP_INLINE mp_path_step *
mp_changes_step_at(const mp_changes *changes, uint32_t i)
{
    return &((mp_path_step *)changes->steps.items)[i];
}

/* A step as an object, and as a key. The key refers to the bytes of the step: it is valid until GC can run. */
VALUE mp_changes_step(const mp_changes *changes, uint32_t i);
mp_key mp_changes_key(const mp_changes *changes, uint32_t i);

/* True for a change that adds something if its place is not in the message. */
MP_INLINE bool
mp_change_adds_p(const mp_change *change)
{
    return change->kind == MP_SET || change->kind == MP_INSERT || change->kind == MP_APPEND;
}

#endif
