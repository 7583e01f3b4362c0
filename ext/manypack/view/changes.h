/*
 * The changes that View#splice is given: a list sorted by their paths, so that those below a key or an index are
 * neighbours, whatever order they came in. They are a range of the list, from `lo` up to `hi`.
 *
 *   mp_changes_init(&changes, view, hash);
 *   mp_changes_read(&changes, removed);
 *   at = mp_changes_find(&changes, lo, hi, 0, &key);   // those of a key of the message itself, up to
 *   end = mp_changes_end_of(&changes, at, hi, 0);
 *   own = mp_changes_own(&changes, at, end, 1);    // the changes of the value itself
 *   own.inside                                       // the first of those inside of it, up to `end`
 */
#ifndef MANYPACK_CHANGES_H
#define MANYPACK_CHANGES_H

#include "base/support.h"
#include "core/key.h"

/* Items in a row: a few on the C stack, more in a hidden String, which is too long for compaction to move its bytes. */
typedef struct {
    void *items;
    VALUE memory; /* 0 as long as the items are on the C stack */
    uint32_t count, room;
} mp_list;

void mp_list_init(mp_list *list, void *few, uint32_t room);

/* Returns a new item, which is zero. The items may move. */
void *mp_list_add(mp_list *list, size_t size);

/* A key or an index. Objects are their indices in `objects`, because nothing here marks them. */
typedef struct {
    uint64_t rank;   /* of a number its bits; of a name its size, from bit 32 on, and its last four bytes */
    uint32_t object; /* the text that has the name; the key if it is no text and no integer */
    uint32_t from;   /* of a name its offset in the text; of an index from the end, if known, the size of the array */
    uint8_t kind;    /* an mp_kind: STR, UINT, INT, ...; NEVER if no message has such a key */
} mp_path_step;

typedef enum {
    MP_SET, MP_REMOVE, MP_CALL, MP_INSERT, MP_APPEND, MP_RENAME,
    MP_KEEP, /* renamed to the key that it has */
    MP_TAKE, /* another pair gets the key: it is looked for, because its map must not have it */
} mp_change_kind;

typedef struct {
    uint32_t start, depth; /* its path: the place of the first step, and how many there are */
    uint32_t order;        /* changes come in this order */
    uint32_t first, place; /* while pairs are added: the least order of those for the same key; its place before */
    uint32_t found;        /* so many of its steps are in the message, as far as it was read */
    uint32_t value;        /* an object; of a TAKE the first step of the pair that gets the key */
    uint8_t kind;          /* an mp_change_kind */
    bool create;           /* containers that its path leads through may be made */
} mp_change;

/* The changes of one value. Each is NULL if there is none, and valid until the list is sorted again. */
typedef struct {
    const mp_change *set; /* or removed, or called */
    const mp_change *insert, *append, *rename, *take;
    uint32_t inside; /* the first change of something inside of the value */
} mp_own_changes;

/* Lives on the C stack. */
typedef struct {
    VALUE view;
    VALUE objects; /* a hidden Array, if they are too many for `few_objects`; else 0 */
    uint32_t object_count;
    mp_list steps, list;
    bool renames;
    VALUE few_objects[16]; /* each path and its change, and what else has to be kept */
    mp_path_step few_steps[12];
    mp_change few[6];
} mp_changes;

/* Takes the pairs of a Hash. Runs no code of the user's. */
void mp_changes_init(mp_changes *changes, VALUE view, VALUE hash);

/*
 * Makes the list. removed is View::REMOVED. TypeError and ArgumentError for what is no path, and for changes that
 * exclude one another.
 */
void mp_changes_read(mp_changes *changes, VALUE removed);

/* Keeps the objects and the lists alive up to here. */
void mp_changes_end(mp_changes *changes);

/* Keeps an object alive, and returns its index. */
uint32_t mp_changes_keep(mp_changes *changes, VALUE object);

/* The first change of a range that has a key as its step at a depth; `hi` if there is none. Allocates nothing. */
uint32_t mp_changes_find(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth, const mp_key *key);

/* Where the changes end that have the same step at a depth as the one at `lo`. */
uint32_t mp_changes_end_of(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth);

/* The changes of the value whose path has a depth, and which are at the start of a range. */
mp_own_changes mp_changes_own(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth);

/* The change of a range that came first. */
const mp_change *mp_changes_first(const mp_changes *changes, uint32_t lo, uint32_t hi);

/* Sets the indices of an array of n that count from its end. ArgumentError if changes then exclude one another. */
void mp_changes_count_back(mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth, uint64_t n);

/* Sorts a range by `first`, and changes with the same one by `place`. */
void mp_changes_sort_by_first(mp_changes *changes, uint32_t lo, uint32_t hi);

/* A step as it was given, and as a key. The key refers to the bytes of an object: it is valid until GC can run. */
VALUE mp_changes_step(const mp_changes *changes, uint32_t step);
mp_key mp_changes_key(const mp_changes *changes, uint32_t step);

/* The Path of some steps. */
VALUE mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth);

/* ArgumentError: the path of a change up to a depth, and the words. */
NORETURN(void mp_changes_refuse(const mp_changes *changes, uint32_t start, uint32_t depth, const char *words));

MP_INLINE mp_change *
mp_changes_at(const mp_changes *changes, uint32_t i)
{
    return &((mp_change *)changes->list.items)[i];
}

MP_INLINE mp_path_step *
mp_changes_step_at(const mp_changes *changes, uint32_t i)
{
    return &((mp_path_step *)changes->steps.items)[i];
}

MP_INLINE VALUE
mp_changes_object(const mp_changes *changes, uint32_t object)
{
    return changes->objects ? RARRAY_AREF(changes->objects, (long)object) : changes->few_objects[object];
}

/* True for a step that means an element of an array. */
MP_INLINE bool
mp_step_index_p(const mp_path_step *step)
{
    return step->kind == MP_UINT || step->kind == MP_INT;
}

/* True for a step that is a name: a str, or a bin of the same bytes. */
MP_INLINE bool
mp_step_name_p(const mp_path_step *step)
{
    return step->kind == MP_STR || step->kind == MP_BIN;
}

/* The size of a name. */
MP_INLINE uint32_t
mp_step_size(const mp_path_step *step)
{
    return (uint32_t)(step->rank >> 32);
}

/* True for a change that adds something if its place is not in the message. */
MP_INLINE bool
mp_change_adds_p(const mp_change *change)
{
    return change->kind == MP_SET || change->kind == MP_INSERT || change->kind == MP_APPEND;
}

#endif
