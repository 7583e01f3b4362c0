/* The messages that Views of a Ractor looked into last. */
#include "caches/recent_messages.h"

#define MESSAGES 8

struct mp_recents {
    mp_recent entries[MESSAGES];
    uint32_t next; /* the entry that is used next, which is the oldest */
};

mp_recent *
mp_recents_known(mp_recents *recents, VALUE message, uint32_t max_depth)
{
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(message);
    size_t size = (size_t)RSTRING_LEN(message);
    uint32_t i;

    for (i = 0; recents && i < MESSAGES; i++) {
        mp_recent *entry = &recents->entries[i];

        if (entry->bytes == bytes && entry->size == size && entry->max_depth == max_depth) return entry;
    }
    return NULL;
}

mp_recent *
mp_recents_find(mp_recents **recents, VALUE message, uint32_t max_depth)
{
    mp_recent *entry = mp_recents_known(*recents, message, max_depth);

    if (entry) return entry;
    if (!*recents) *recents = ZALLOC(mp_recents);
    entry = &(*recents)->entries[(*recents)->next++ % MESSAGES];
    *entry = (mp_recent){.bytes = (const uint8_t *)RSTRING_PTR(message), .size = (size_t)RSTRING_LEN(message),
                         .message = message, .max_depth = max_depth};
    return entry;
}

/*
 * Runs at every collection, because what belongs to a Ractor has no write barrier; at an incremental one twice, at its
 * start and its end. Marked objects do not move.
 */
void
mp_recents_mark(mp_recents *recents)
{
    size_t collection = rb_gc_count();
    uint32_t i;

    if (!recents) return;
    for (i = 0; i < MESSAGES; i++) {
        mp_recent *entry = &recents->entries[i];

        if (entry->index && (entry->views > 1 || entry->kept == collection)) {
            rb_gc_mark(entry->message);
            rb_gc_mark(entry->index);
            entry->views = 1;
            entry->kept = collection;
        } else {
            *entry = (mp_recent){.bytes = NULL};
        }
    }
}

size_t
mp_recents_memsize(const mp_recents *recents)
{
    return recents ? sizeof(mp_recents) : 0;
}
