/* Floor::Plan, and the growing list of items of one size that it is made of. */
#ifndef FLOOR_H
#define FLOOR_H

#include <ruby.h>

#include <string.h>

void floor_init_plan(VALUE module);

struct list {
    void *items;
    size_t used, capacity; /* in bytes */
};

static inline void list_add(struct list *list, const void *bytes, size_t size) {
    if (list->used + size > list->capacity) {
        list->capacity = (list->used + size) * 2;
        list->items = ruby_xrealloc(list->items, list->capacity);
    }
    memcpy((char *)list->items + list->used, bytes, size);
    list->used += size;
}

static inline void *list_end(const struct list *list) {
    return (char *)list->items + list->used;
}

/* The last item, or NULL. */
static inline void *list_last(const struct list *list, size_t size) {
    return list->used ? (char *)list_end(list) - size : NULL;
}

#endif
