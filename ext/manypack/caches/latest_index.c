/* The message that Views of a Ractor looked into last. */
#include "caches/latest_index.h"

VALUE
mp_latest_index(mp_latest *latest, VALUE message, uint32_t max_depth)
{
    bool same = latest->index && latest->bytes == (const uint8_t *)RSTRING_PTR(message) &&
                latest->size == (size_t)RSTRING_LEN(message) && latest->max_depth == max_depth;

    if (same) latest->found = true;
    return same ? latest->index : 0;
}

void
mp_latest_remember(mp_latest *latest, VALUE message, uint32_t max_depth, VALUE index)
{
    *latest = (mp_latest){.bytes = (const uint8_t *)RSTRING_PTR(message), .size = (size_t)RSTRING_LEN(message),
                          .message = message, .index = index, .max_depth = max_depth};
}

/*
 * Runs at every collection, because the Ractor's object has no write barrier; twice at an incremental one, at its start
 * and end. Marked objects do not move.
 */
void
mp_latest_mark(mp_latest *latest)
{
    size_t collection = rb_gc_count();

    if (latest->index && latest->index != Qtrue && (latest->found || latest->kept == collection)) {
        rb_gc_mark(latest->message);
        rb_gc_mark(latest->index);
        latest->found = false;
        latest->kept = collection;
    } else {
        *latest = (mp_latest){.index = 0};
    }
}
