/* The stream of an Unpacker: where it is in the bytes, how it gets more of them, and how it skips objects. */
#include "stream/stream.h"

#include "buffer/buffer_io.h"
#include "core/wire.h"

/* The first memory of a walk has room for this many open containers. */
enum { FIRST_PLACES = 16 };

MP_NOINLINE mp_stream_more *
mp_stream_grow(mp_stream *u)
{
    return u->more = ZALLOC(mp_stream_more);
}

mp_stream *
mp_stream_get(VALUE self)
{
    mp_stream *u = mp_typed_data(self);

    if (MP_UNLIKELY(!u->open)) {
        rb_raise(rb_eRuntimeError, "Unpacker cannot be used: its block or handler has ended, or it is not initialized");
    }
    return u;
}

void
mp_stream_check_for_read(VALUE self)
{
    mp_stream *u = mp_stream_get(self);

    if (u->running || mp_stream_buffer_closed_p(u)) mp_stream_raise_in_use(u);
}

mp_stream *
mp_stream_for_change(VALUE self)
{
    mp_stream *u = mp_stream_for_read(self);

    if (MP_UNLIKELY(u->body)) mp_raise_in_use("Unpacker");
    return u;
}

void
mp_stream_raise_in_use(const mp_stream *u)
{
    if (!u->running && u->buffer) mp_buffer_check(u->buffer);
    mp_raise_in_use("Unpacker");
}

/* RuntimeError while a method of the Unpacker reads, because that method relies on the Buffer's bytes. */
static void
check_idle(VALUE self)
{
    if (((const mp_stream *)mp_typed_data(self))->running) mp_raise_in_use("Unpacker");
}

/*
 * Called before anybody but the Unpacker removes n bytes of its Buffer. Drops a partly read object, because the next
 * bytes will not continue it.
 */
static void
forget_object(VALUE self, size_t n)
{
    mp_stream *u = mp_typed_data(self);

    mp_stream_at_object(u);
    u->origin += n;
    if (!u->more) return;
    u->more->slice = 0;
    u->more->broken_off = 0;
}

void
mp_stream_restart(mp_stream *u)
{
    mp_stream_at_object(u);
    u->origin = 0;
    u->position_unknown = false;
    if (!u->more) return;
    u->more->message = u->more->broken_off = 0;
    u->more->slice = u->more->sticky_error = u->more->eof = 0;
}

void
mp_stream_set_aside(mp_stream *u)
{
    mp_stream_more *more = u->more;

    u->open = false;
    if (!more) return;
    more->eof = 0;
    if (more->places <= FIRST_PLACES) return;
    mp_poison(more->left, more->places * sizeof(uint64_t));
    xfree(more->left);
    more->left = NULL;
    more->places = 0;
}

/* How deep a walk may nest. A body's nesting starts at the depth of its ext. */
static size_t
walk_depth_limit(const mp_stream *u)
{
    return mp_unpack_max_depth(&u->codec.options) - u->more->outer.depth;
}

/* Gives the walk memory for `places` open containers. */
static void
walk_reserve(mp_stream *u, size_t places)
{
    mp_stream_more *more = u->more;

    if (places > more->places) {
        REALLOC_N(more->left, uint64_t, places);
        mp_poison(more->left + more->places, (places - more->places) * sizeof(uint64_t));
        more->places = places;
    }
    more->walk.left = more->left;
    more->walk.max_depth = places;
}

/* Starts a walk over a whole object. `objects` counts the objects of the message so far, including this one. */
static void
walk_start(mp_stream *u, uint64_t objects)
{
    mp_stream_more *more = u->more;
    size_t most = walk_depth_limit(u);

    mp_walk_init(&more->walk, more->left, more->places < most ? more->places : most);
    more->walk.objects = objects;
}

static bool
walk_may_deepen(const mp_stream *u)
{
    return u->more->walk.max_depth < walk_depth_limit(u);
}

/* Doubles the memory of a walk that has used it up, within its limit. */
static void
walk_deepen(mp_stream *u)
{
    size_t most = walk_depth_limit(u), places = u->more->walk.max_depth * 2;

    if (places < FIRST_PLACES) places = FIRST_PLACES;
    walk_reserve(u, places < most ? places : most);
}

void
mp_stream_skip_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why)
{
    mp_walk *walk = &u->more->walk;

    walk_start(u, tree->objects);
    if (tree->depth > walk->max_depth) walk_reserve(u, tree->depth);
    mp_tree_lefts(tree, values, walk->left);
    walk->depth = tree->depth;
    mp_stream_at_object(u);
    u->position = why;
}

void
mp_stream_begin_skip(mp_stream *u, mp_position why)
{
    walk_start(u, u->more->outer.objects + 1);
    u->more->message = u->origin;
    u->more->slice = 0;
    u->position = why;
}

size_t
mp_stream_position(const mp_stream *u)
{
    return u->position == MP_AT_OBJECT && !mp_stream_sticky_error(u) ? u->origin : u->more->message;
}

bool
mp_stream_pending_p(const mp_stream *u)
{
    const mp_stream_more *more = u->more;

    if (!more) return false;
    if (u->position != MP_AT_OBJECT && u->origin != more->message) return true;
    return more->sticky_error || more->broken_off == u->origin + 1;
}

mp_blame
mp_stream_front(const mp_stream *u)
{
    mp_chunk chunk = mp_stream_first_chunk(u);
    const uint8_t *start = chunk.len || chunk.str ? mp_chunk_bytes(&chunk) : (const uint8_t *)"";
    mp_blame blame = mp_blame_of(start, start, start + chunk.len, u->origin);

    blame.bytes_after = mp_stream_size(u) - chunk.len;
    return blame;
}

mp_message
mp_stream_message(const mp_stream *u)
{
    mp_blame front = mp_stream_front(u);
    mp_chunk chunk = mp_stream_first_chunk(u);

    if (u->body || (!chunk.len && !chunk.str)) return MP_NO_MESSAGE;
    return mp_message_of(chunk.str, front.start, front.end, chunk.at, u->origin, u->more->message);
}

void
mp_stream_raise_truncated(const mp_stream *u)
{
    mp_blame blame = mp_stream_front(u);

    if (u->body) mp_raise_past_body(u->body_type, u->origin, MP_NO_MESSAGE);
    blame.message = mp_stream_message(u);
    blame.complete = mp_stream_position(u);
    blame.of_gem = u->codec.options.of_gem;
    blame.eof = u->more ? u->more->eof : 0;
    mp_raise_status(MP_E_TRUNCATED, blame);
}

void
mp_stream_raise_end(const mp_stream *u)
{
    if (u->body || mp_stream_size(u) || mp_stream_pending_p(u)) mp_stream_raise_truncated(u);
    mp_raise_no_more_objects((mp_blame){.of_gem = u->codec.options.of_gem, .eof = u->more ? u->more->eof : 0},
                             u->origin);
}

void
mp_stream_check_max_bytes(mp_stream *u, size_t ahead, bool end_known)
{
    size_t message = u->more->message, bytes = u->origin - message + ahead, max = u->codec.options.max_bytes;

    if (MP_LIKELY(bytes <= max)) return;
    u->position_unknown = !end_known;
    mp_raise_max_bytes(max, bytes, message + max, mp_stream_message(u));
}

bool
mp_stream_read_more(mp_stream *u, uint64_t needed)
{
    mp_io_bytes read;

    if (!u->buffer) return false;
    read = mp_buffer_read_io(u->buffer, needed);
    RB_OBJ_WRITE(mp_buffer_get(u->buffer)->unpacker, &mp_stream_grown(u)->eof, read.eof);
    if (NIL_P(read.bytes)) return false;
    mp_buffer_checked(u->buffer); /* others may have used the Buffer while the io was waiting */
    mp_buffer_feed_read(u->buffer, read);
    return true;
}

bool
mp_stream_bytes_there(mp_stream *u, uint64_t n, uint64_t object)
{
    size_t size;

    if (u->body) return u->piece.len >= n;
    while ((size = mp_stream_size(u)) < n) {
        mp_stream_check_max_bytes(u, size, false);
        if (!mp_stream_read_more(u, object > size ? object - size : 1)) {
            u->more->broken_off = mp_stream_size(u) ? u->origin + 1 : 0;
            return false;
        }
    }
    if (u->buffer) mp_bytes_gather(u->buffer, &mp_buffer_get(u->buffer)->bytes, (size_t)n);
    return true;
}

bool
mp_stream_reads_exactly_p(const mp_stream *u)
{
    return u->buffer && mp_buffer_get(u->buffer)->reads_exactly;
}

void
mp_stream_raise_unknown_position(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame)
{
    u->position_unknown = true;
    blame.message = mp_stream_message(u);
    blame.limits = &u->codec.options.limits;
    blame.objects = objects;
    mp_raise_status(status, blame);
}

/* Continues the walk. Does not allocate. */
static mp_status
walk_on(mp_stream *u, const uint8_t **p, const uint8_t *end)
{
    mp_walk *walk = &u->more->walk;

    if (MP_UNLIKELY(u->codec.options.limited)) return mp_skip_limited(walk, p, end, &u->codec.options.limits);
    return mp_skip(walk, p, end);
}

/* The least number of bytes that the object still has from p, where the walk stopped; 0 if the io ignores it. */
static uint64_t
walk_object_bytes(const mp_stream *u, const uint8_t *p, const uint8_t *end)
{
    if (!mp_stream_reads_exactly_p(u)) return 0;
    return (uint64_t)(end - p) + mp_walk_missing(&u->more->walk, p, end);
}

/* Appends the first n bytes of the Buffer to the slice. */
static void
slice_append(VALUE self, mp_stream *u, size_t n)
{
    mp_chunk chunk = mp_stream_first_chunk(u);
    VALUE source = chunk.str, *slice = &u->more->slice;

    if (!*slice) RB_OBJ_WRITE(self, slice, mp_binary_of_size(n));
    rb_str_cat(*slice, (const char *)mp_chunk_bytes(&chunk), (long)n);
    RB_GC_GUARD(source); /* otherwise compaction may move it */
}

bool
mp_stream_skip(VALUE self, mp_stream *u)
{
    for (;;) {
        mp_blame here = mp_stream_front(u);
        const uint8_t *p = here.at;
        mp_status status = walk_on(u, &p, here.end);
        bool deepen = status == MP_E_DEPTH && walk_may_deepen(u);
        uint64_t need = 0, object = 0;
        size_t passed;

        if (status == MP_E_TRUNCATED) {
            need = u->more->walk.payload ? 1 : mp_head_need(p, here.end);
            object = walk_object_bytes(u, p, here.end);
        } else if (status != MP_OK && !deepen) {
            here.at = p;
            mp_stream_raise_unknown_position(u, status, u->more->walk.objects, here);
        }
        passed = (size_t)(p - here.start);
        if (u->position == MP_IN_SLICED && passed) {
            u->position_unknown = true; /* in case of NoMemoryError: the walk is ahead of the bytes */
            slice_append(self, u, passed);
            u->position_unknown = false;
        }
        mp_stream_consume(u, passed);
        if (status == MP_OK) {
            mp_stream_at_object(u);
            u->more->outer.objects = u->body ? u->more->walk.objects : 0;
            mp_stream_check_max_bytes(u, 0, true);
            return true;
        }
        if (deepen) walk_deepen(u);
        else if (!mp_stream_bytes_there(u, need, object)) return false;
    }
}

void
Init_manypack_stream(void)
{
    mp_buffer_on_removal(check_idle, forget_object);
}
