/* The stream of an Unpacker: its place in the bytes, how it gets more of them, and how it skips objects. */
#include "stream/stream.h"

#include "core/wire.h"

/* The first memory of a walk has room for this many open containers. */
enum { FIRST_PLACES = 16 };

mp_stream *
mp_stream_get(VALUE self)
{
    mp_stream *u = mp_typed_data(self);

    if (MP_UNLIKELY(!u->open)) {
        rb_raise(rb_eRuntimeError, "Unpacker cannot be used: its block or handler has ended, or it is not initialized");
    }
    return u;
}

/* True unless a program has redefined eql? of a core class, the only user code that can run in a plain read. */
static bool
eql_is_rubys_p(void)
{
    const VALUE classes[] = {rb_cString,   rb_cSymbol,    rb_cInteger,   rb_cFloat,
                             rb_cNilClass, rb_cTrueClass, rb_cFalseClass};
    const ID eql = rb_intern("eql?");
    size_t i;

    for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (!rb_method_basic_definition_p(classes[i], eql)) return false;
    }
    return true;
}

/* Ends a plain read that NoMemoryError has left running. It has consumed nothing, so the next read repeats it. */
static void
end_abandoned_read(mp_stream *u)
{
    if (!u->plainly || !eql_is_rubys_p()) return;
    u->running = u->plainly = false;
    if (!u->body) mp_loan_release(&mp_buffer_get(u->buffer)->loan);
    mp_stream_at_object(u);
}

bool
mp_stream_running_p(mp_stream *u)
{
    if (MP_LIKELY(!u->running)) return false;
    end_abandoned_read(u);
    return u->running;
}

mp_stream *
mp_stream_for_read(VALUE self)
{
    mp_stream *u = mp_stream_get(self);

    if (MP_UNLIKELY((u->running && mp_stream_running_p(u)) ||
                    (!u->body && mp_loan_closed_p(&mp_buffer_get(u->buffer)->loan)))) {
        mp_stream_raise_in_use(u);
    }
    return u;
}

void
mp_stream_raise_in_use(const mp_stream *u)
{
    if (!u->running && !u->body) mp_buffer_check(u->buffer);
    mp_raise_in_use("Unpacker");
}

/* RuntimeError while a method of the Unpacker reads, because that relies on the bytes of the Buffer. */
static void
check_idle(VALUE self)
{
    if (mp_stream_running_p(mp_typed_data(self))) mp_raise_in_use("Unpacker");
}

/*
 * Called before anybody but the Unpacker removes n bytes of its Buffer. Forgets an object that was read in part,
 * because the next bytes will not continue it.
 */
static void
forget_object(VALUE self, size_t n)
{
    mp_stream *u = mp_typed_data(self);

    mp_stream_at_object(u);
    u->slice = 0;
    u->broken_off = 0;
    u->origin += n;
}

void
mp_stream_restart(mp_stream *u)
{
    mp_stream_at_object(u);
    u->origin = u->message = u->broken_off = 0;
    u->slice = 0;
    u->position_unknown = false;
    u->sticky_error = 0;
}

void
mp_stream_set_aside(mp_stream *u)
{
    u->open = false;
    u->lease++;
    if (u->places <= FIRST_PLACES) return;
    mp_poison(u->left, u->places * sizeof(uint64_t));
    xfree(u->left);
    u->left = NULL;
    u->places = 0;
}

/* How deep a walk may get. In the body of an ext, the depth of the ext is subtracted. */
static size_t
walk_depth_limit(const mp_stream *u)
{
    return mp_unpack_max_depth(&u->codec.options) - u->outer.depth;
}

/* Gives the walk memory for `places` open containers. */
static void
walk_reserve(mp_stream *u, size_t places)
{
    if (places > u->places) {
        REALLOC_N(u->left, uint64_t, places);
        mp_poison(u->left + u->places, (places - u->places) * sizeof(uint64_t));
        u->places = places;
    }
    u->walk.left = u->left;
    u->walk.max_depth = places;
}

/* Starts a walk over a whole object. `objects` counts the objects of the message so far, including this one. */
static void
walk_start(mp_stream *u, uint64_t objects)
{
    size_t most = walk_depth_limit(u);

    mp_walk_init(&u->walk, u->left, u->places < most ? u->places : most);
    u->walk.objects = objects;
}

static bool
walk_may_deepen(const mp_stream *u)
{
    return u->walk.max_depth < walk_depth_limit(u);
}

/* Doubles the memory of a walk that has used it up, within its limit. */
static void
walk_deepen(mp_stream *u)
{
    size_t most = walk_depth_limit(u), places = u->walk.max_depth * 2;

    if (places < FIRST_PLACES) places = FIRST_PLACES;
    walk_reserve(u, places < most ? places : most);
}

void
mp_stream_pass_over_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why)
{
    walk_start(u, tree->objects);
    if (tree->depth > u->walk.max_depth) walk_reserve(u, tree->depth);
    mp_tree_lefts(tree, values, u->walk.left);
    u->walk.depth = tree->depth;
    mp_stream_at_object(u);
    u->position = why;
}

void
mp_stream_begin_pass(mp_stream *u, mp_position why)
{
    walk_start(u, u->outer.objects + 1);
    u->message = u->origin;
    u->slice = 0;
    u->position = why;
}

size_t
mp_stream_position(const mp_stream *u)
{
    return u->position == MP_AT_OBJECT && !u->sticky_error ? u->origin : u->message;
}

bool
mp_stream_pending_p(const mp_stream *u)
{
    bool inside = u->position != MP_AT_OBJECT && u->origin != u->message;

    return inside || u->sticky_error || u->broken_off == u->origin + 1;
}

mp_blame
mp_stream_front(const mp_stream *u)
{
    const mp_chunk *chunk = mp_stream_first_chunk(u);
    const uint8_t *start = chunk ? mp_chunk_bytes(chunk) : (const uint8_t *)"";
    mp_blame blame = mp_blame_of(start, start, start + (chunk ? chunk->len : 0), u->origin);

    if (!u->body) blame.bytes_after = mp_buffer_get(u->buffer)->bytes.size - (size_t)(blame.end - blame.start);
    return blame;
}

mp_message
mp_stream_message(const mp_stream *u)
{
    mp_blame front = mp_stream_front(u);
    const mp_chunk *chunk = mp_stream_first_chunk(u);

    if (u->body || !chunk) return MP_NO_MESSAGE;
    return mp_message_of(chunk->str, front.start, front.end, chunk->at, u->origin, u->message);
}

void
mp_stream_raise_truncated(const mp_stream *u)
{
    mp_blame blame = mp_stream_front(u);

    if (u->body) mp_raise_past_body(u->body_type, u->origin, MP_NO_MESSAGE);
    blame.message = mp_stream_message(u);
    blame.begin = mp_stream_position(u);
    mp_raise_status(MP_E_TRUNCATED, blame);
}

void
mp_stream_check_max_bytes(mp_stream *u, size_t ahead, bool end_known)
{
    size_t bytes = u->origin - u->message + ahead, max = u->codec.options.max_bytes;

    if (MP_LIKELY(bytes <= max)) return;
    u->position_unknown = !end_known;
    mp_raise_max_bytes(max, bytes, u->message + max, mp_stream_message(u));
}

bool
mp_stream_read_more(mp_stream *u, uint64_t needed)
{
    mp_decoder_call call = mp_decoder_leave_holder(&u->d);
    VALUE bytes = mp_buffer_read_io(u->buffer, needed);

    if (!mp_decoder_held_p(&u->d, call)) mp_raise_in_use("Unpacker");
    if (NIL_P(bytes)) return false;
    mp_buffer_checked(u->buffer); /* others may have used the Buffer while the io was waiting */
    mp_buffer_feed_read(u->buffer, bytes);
    return true;
}

bool
mp_stream_bytes_there(mp_stream *u, uint64_t n, uint64_t object)
{
    mp_bytes *bytes;

    if (u->body) return u->piece.len >= n;
    bytes = &mp_buffer_get(u->buffer)->bytes;
    while (bytes->size < n) {
        mp_stream_check_max_bytes(u, bytes->size, false);
        if (!mp_stream_read_more(u, object > bytes->size ? object - bytes->size : 1)) {
            u->broken_off = bytes->size ? u->origin + 1 : 0;
            return false;
        }
    }
    mp_bytes_gather(u->buffer, bytes, (size_t)n);
    return true;
}

bool
mp_stream_reads_exactly_p(const mp_stream *u)
{
    return !u->body && mp_buffer_get(u->buffer)->reads_exactly;
}

void
mp_stream_raise_unknown_position(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame)
{
    u->position_unknown = true;
    blame.message = mp_stream_message(u);
    if (mp_limit_p(status)) mp_raise_limit(status, &u->codec.options.limits, objects, blame);
    mp_raise_status(status, blame);
}

/* Continues the walk. Does not allocate. */
static mp_status
walk_on(mp_stream *u, const uint8_t **p, const uint8_t *end)
{
    if (MP_UNLIKELY(u->codec.options.limited)) return mp_skip_limited(&u->walk, p, end, &u->codec.options.limits);
    return mp_skip(&u->walk, p, end);
}

/* How many bytes the object has at least from p on, where the walk stopped. 0 if the io does not need this number. */
static uint64_t
walk_object_bytes(const mp_stream *u, const uint8_t *p, const uint8_t *end)
{
    if (!mp_stream_reads_exactly_p(u)) return 0;
    return (uint64_t)(end - p) + mp_walk_missing(&u->walk, p, end);
}

/* Appends the first n bytes of the Buffer to the slice. */
static void
slice_append(mp_stream *u, size_t n)
{
    const mp_chunk *chunk = mp_stream_first_chunk(u);
    VALUE source = chunk->str;

    if (u->slice) {
        rb_str_cat(u->slice, (const char *)mp_chunk_bytes(chunk), (long)n);
    } else {
        RB_OBJ_WRITE(u->d.holder, &u->slice, mp_bytes_to_s(u->buffer, &mp_buffer_get(u->buffer)->bytes, n));
    }
    RB_GC_GUARD(source); /* otherwise compaction may move it */
}

bool
mp_stream_pass_over(mp_stream *u)
{
    for (;;) {
        mp_blame here = mp_stream_front(u);
        const uint8_t *p = here.at;
        mp_status status = walk_on(u, &p, here.end);
        bool deepen = status == MP_E_DEPTH && walk_may_deepen(u);
        uint64_t need = 0, object = 0;
        size_t passed;

        if (status == MP_E_TRUNCATED) {
            need = u->walk.payload ? 1 : mp_head_need(p, here.end);
            object = walk_object_bytes(u, p, here.end);
        } else if (status != MP_OK && !deepen) {
            here.at = p;
            mp_stream_raise_unknown_position(u, status, u->walk.objects, here);
        }
        passed = (size_t)(p - here.start);
        if (u->position == MP_IN_SLICED && passed) {
            u->position_unknown = true; /* in case of NoMemoryError: the walk is ahead of the bytes */
            slice_append(u, passed);
            u->position_unknown = false;
        }
        mp_stream_consume(u, passed);
        if (status == MP_OK) {
            mp_stream_at_object(u);
            u->outer.objects = u->body ? u->walk.objects : 0;
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
