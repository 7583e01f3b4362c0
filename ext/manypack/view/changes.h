/*
 * The changes given to View#splice: a list that keeps the changes of a value next to those inside the value. When the
 * walk comes to a container, it sorts the container's range of the list by the next step of the paths.
 *
 *   mp_changes_read(&changes, view, hash, removed);
 *   mp_changes_sort(&changes, r, 0);                   // r: all changes, at depth 0
 *   at = mp_changes_find(&changes, r, &key);
 *   part = mp_changes_part(&changes, r, at);           // the changes of a key of the message itself
 *   part.set                                           // the one that sets, removes or computes its value
 *   part.inside                                        // those of something inside that value
 */
#ifndef MANYPACK_CHANGES_H
#define MANYPACK_CHANGES_H

#include "base/support.h"
#include "core/key.h"

/* A growing array: a few items on the C stack, more in memory that the collector marks, so nothing in it moves. */
typedef struct {
    void *items;
    VALUE memory; /* the memory of the items; 0 while they are on the C stack */
    uint32_t count, room;
} mp_list;

void mp_list_init(mp_list *list, void *few, uint32_t room);
void mp_list_grow(mp_list *list, size_t size);

/* Returns a new, uninitialized item. The items may move. */
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
    MP_TAKE,   /* the new key of a renamed pair: the walk looks for it, because the map must not have it already */
} mp_change_kind;

/* The step after the last element of an array. */
#define MP_END Qundef

typedef struct {
    mp_key key;            /* by which its range was sorted; its bytes may have moved */
    uint32_t start, depth; /* its path: the index of the first step among the objects, and the number of steps */
    uint32_t order;        /* its number in the order given */
    uint32_t value;        /* index of an object; of a TAKE the start of the renamed pair's path */
    uint8_t kind;          /* an mp_change_kind */
    bool create;           /* missing containers on its path may be created */
    bool found;            /* the walk has passed the value at the step of its key */
} mp_change;

/* Changes whose paths are equal up to a depth: all of them change one value, or something inside it. */
typedef struct {
    uint32_t lo, hi, depth;
} mp_range;

/* The same, split into the changes of the value itself, each NULL if there is none, and those inside it. */
typedef struct {
    mp_range all, inside;
    const mp_change *set; /* sets, removes or calls */
    const mp_change *insert, *rename, *take;
    bool create;          /* one of them may create parents */
} mp_part;

/* Lives on the C stack. */
typedef struct {
    bool renames;
    mp_list objects; /* the steps of paths, the values of changes, and others to keep alive */
    mp_list list;
    VALUE few_objects[24];
    mp_change few[6];
} mp_changes;

/* Makes the list of a Hash of paths and changes. TypeError or ArgumentError for an invalid path. */
void mp_changes_read(mp_changes *changes, VALUE view, VALUE hash, VALUE removed);

/* Keeps an object alive, and returns its index. */
uint32_t mp_changes_keep(mp_changes *changes, VALUE object);

/*
 * Sorts a range by the step at its depth. Of equal steps, the changes of the value come before those inside it, both in
 * the order given. n is the size of the array, from whose end negative indices count, or 0. Returns a bit set: bit i
 * if a step may be a name of i bytes, up to MP_FIXSTR_MAX. Allocates nothing.
 */
uint32_t mp_changes_sort(mp_changes *changes, mp_range r, uint64_t n);

/* Puts the parts of a sorted range into the order in which they were given. */
void mp_changes_sort_by_order(mp_changes *changes, mp_range r);

/* Finds where the changes of a key start in a sorted range; `hi` if there is none. Allocates nothing. */
uint32_t mp_changes_find(const mp_changes *changes, mp_range r, const mp_key *key);

/*
 * The changes of a sorted range that have the same step as the one at `from`, which is the first of them. ArgumentError
 * if two of them exclude each other.
 */
mp_part mp_changes_part(const mp_changes *changes, mp_range r, uint32_t from);

/* ArgumentError if two changes inside a value that is not in the message exclude each other. */
void mp_changes_check(mp_changes *changes, mp_range inside);

/* The key of the step with this index. It refers to the bytes of the step. */
mp_key mp_changes_key(const mp_changes *changes, uint32_t i);

/* The Path of a change up to a depth. */
VALUE mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth);

/* Raises ArgumentError. Its message is the path of a change up to a depth, and the words. */
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

#endif
