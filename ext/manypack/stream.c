/* The resumable machine: where it is in its bytes, and how a method goes on from there. */
#include "stream.h"

#include "error.h"
#include "io.h"
#include "ractor.h"
#include "wire.h"

/* Containers that an object being skipped may have open before there is memory for more. */
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

mp_stream *
mp_stream_for_read(VALUE self)
{
    mp_stream *u = mp_stream_get(self);

    if (MP_UNLIKELY(u->running || (!u->body && mp_loan_taken_p(&mp_buffer_get(u->buffer)->loan)))) {
        mp_raise_in_use("Unpacker");
    }
    return u;
}

/* --- where it is ------------------------------------------------------------------------------------ */

/* The chunk with the first bytes, NULL when there are none. */
MP_INLINE const mp_chunk *
first_chunk(const mp_stream *u)
{
    if (!u->body) return mp_bytes_first(&mp_buffer_get(u->buffer)->bytes);
    return u->piece.len ? &u->piece : NULL;
}

/* Drops what was decoded or passed over. */
static void
consume(mp_stream *u, size_t n)
{
    u->origin += n;
    if (u->body) {
        u->piece.at += n;
        u->piece.len -= n;
    } else {
        mp_bytes_consume(&mp_buffer_get(u->buffer)->bytes, n);
    }
}

/* Forgets the unfinished object and its values. */
static void
at_object(mp_stream *u)
{
    u->position = MP_AT_OBJECT;
    u->d.source = 0;
    u->d.stack = (mp_value_stack){.values = NULL};
}

void
mp_stream_restart(mp_stream *u)
{
    at_object(u);
    u->origin = u->message = 0;
    u->lost = false;
    u->broken = 0;
}

void
mp_stream_set_aside(mp_stream *u)
{
    u->open = false;
    if (u->places <= FIRST_PLACES) return;
    mp_spoil(u->left, u->places * sizeof(uint64_t));
    xfree(u->left);
    u->left = NULL;
    u->places = 0;
}

/* How deep a walk may get; for the body of an ext it depends on where that is. */
static size_t
walk_most(const mp_stream *u)
{
    return mp_unpack_max_depth(&u->codec.options) - u->around.depth;
}

/* Lets the walk be that many containers deep. */
static void
walk_reserve(mp_stream *u, size_t places)
{
    if (places > u->places) {
        REALLOC_N(u->left, uint64_t, places);
        mp_spoil(u->left + u->places, (places - u->places) * sizeof(uint64_t));
        u->places = places;
    }
    u->walk.left = u->left;
    u->walk.max_depth = places;
}

/* A walk over what is still to come of an object; of all objects of the message, so many are counted. */
static void
walk_init(mp_stream *u, uint64_t objects)
{
    size_t most = walk_most(u);

    mp_walk_init(&u->walk, u->left, u->places < most ? u->places : most);
    u->walk.objects = objects;
}

static bool
walk_may_deepen(const mp_stream *u)
{
    return u->walk.max_depth < walk_most(u);
}

/* Doubles the places of a walk that is as deep as it has places, up to its limit. */
static void
walk_deepen(mp_stream *u)
{
    size_t most = walk_most(u), places = u->walk.max_depth * 2;

    if (places < FIRST_PLACES) places = FIRST_PLACES;
    walk_reserve(u, places < most ? places : most);
}

/* From now on it is in the middle of an object, where tree is, that is only passed over. */
static void
pass_over_rest(mp_stream *u, const mp_tree *tree, const VALUE *values, mp_position why)
{
    walk_init(u, tree->objects);
    if (tree->depth > u->walk.max_depth) walk_reserve(u, tree->depth);
    mp_tree_lefts(tree, values, u->walk.left);
    u->walk.depth = tree->depth;
    at_object(u);
    u->position = why;
}

/*
 * The bytes of the first chunk. The pointers are valid until the Buffer changes or anything allocates, since compaction
 * may move an embedded String: take the front again afterwards.
 */
static mp_blame
front(const mp_stream *u)
{
    const mp_chunk *chunk = first_chunk(u);
    mp_blame blame = {.start = (const uint8_t *)"", .origin = u->origin};

    if (chunk) blame.start = mp_chunk_bytes(chunk);
    blame.at = blame.start;
    blame.end = blame.start + (chunk ? chunk->len : 0);
    if (!u->body) blame.behind = mp_buffer_get(u->buffer)->bytes.size - (size_t)(blame.end - blame.start);
    return blame;
}

NORETURN(static void raise_truncated(const mp_stream *u));

/* The input ends in the middle of an object, or before one. */
static void
raise_truncated(const mp_stream *u)
{
    if (u->body) mp_raise_past_body(u->body_type, u->origin);
    mp_raise_status(MP_E_TRUNCATED, front(u));
}

/* LimitError when the object at hand, whole or not, has more bytes than it may; ahead of them are not consumed yet. */
static void
check_max_bytes(mp_stream *u, size_t ahead, bool whole)
{
    size_t bytes = u->origin - u->message + ahead, max = u->codec.options.max_bytes;

    if (MP_LIKELY(bytes <= max)) return;
    u->lost = !whole;
    mp_raise_max_bytes(max, bytes, u->message + max);
}

/*
 * Reads from the io until n bytes are there, and makes them lie in one piece at the front. false when the input ends
 * before. The object has at least `whole` bytes from the front on: an io that waits for all that it is asked for is
 * asked for no more.
 */
static bool
bytes_there(mp_stream *u, uint64_t n, uint64_t whole)
{
    mp_bytes *bytes;

    if (u->body) return u->piece.len >= n;
    bytes = &mp_buffer_get(u->buffer)->bytes;
    while (bytes->size < n) {
        check_max_bytes(u, bytes->size, false);
        if (!mp_buffer_read_io(u->buffer, whole > bytes->size ? whole - bytes->size : 1)) return false;
    }
    mp_bytes_gather(u->buffer, bytes, (size_t)n);
    return true;
}

/* Whether its io waits for all that it is asked for. */
static bool
reads_exactly_p(const mp_stream *u)
{
    return !u->body && mp_buffer_get(u->buffer)->reads_exactly;
}

/* While it decodes with user code inside, nobody else may have its Buffer. */
static void
buffer_take(mp_stream *u, bool taken)
{
    if (u->body) return;
    if (taken) mp_loan_take(&mp_buffer_get(u->buffer)->loan);
    else mp_loan_release(&mp_buffer_get(u->buffer)->loan);
}

/* --- one object ------------------------------------------------------------------------------------- */

/* A method of an Unpacker. What it has to give back while it is at work is given back whatever happens. */
typedef struct {
    VALUE self;
    mp_stream *u;
    VALUE (*body)(void *run);
    bool at_work;
    bool decoding;
    bool yielding; /* the block of each has an object */
    bool begun;    /* the object was, by decode_front */
    uint64_t need; /* bytes from the front on without which the decoder cannot go on; 0 where it can */
    bool cut;     /* the decoder had no more bytes than max_bytes leaves to the object at hand, and there are more */
    mp_value_words words; /* lent to the decoder */
} run;

/* From here on the Unpacker is this method's. */
static void
run_enter(run *r)
{
    r->u = mp_stream_for_read(r->self);
    if (MP_UNLIKELY(r->u->broken != 0)) rb_exc_raise(r->u->broken);
    r->u->running = true;
    r->at_work = true;
}

/* From here on it is anybody's. */
static void
run_leave(run *r)
{
    r->u->running = false;
    r->at_work = false;
}

NORETURN(static void raise_lost(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame));

/* After this error, in a message of so many objects, nobody knows where the next object starts. */
static void
raise_lost(mp_stream *u, mp_status status, uint64_t objects, mp_blame blame)
{
    u->lost = true;
    if (mp_limit_p(status)) mp_raise_limit(status, &u->codec.options.limits, objects, blame);
    mp_raise_status(status, blame);
}

/* Walks on, without allocating. */
static mp_status
walk_on(mp_stream *u, const uint8_t **p, const uint8_t *end)
{
    if (MP_UNLIKELY(u->codec.options.limited)) return mp_skip_limited(&u->walk, p, end, &u->codec.options.limits);
    return mp_skip(&u->walk, p, end);
}

/* Bytes that the object has at least from p on, where the walk stopped: only an io that waits for all asks for them. */
static uint64_t
walk_whole(const mp_stream *u, const uint8_t *p, const uint8_t *end)
{
    if (!reads_exactly_p(u)) return 0;
    return (uint64_t)(end - p) + mp_walk_missing(&u->walk, p, end);
}

/* Goes on with the walk. false when the bytes end first. */
static bool
pass_over(mp_stream *u)
{
    for (;;) {
        mp_blame here = front(u);
        const uint8_t *p = here.at;
        mp_status status = walk_on(u, &p, here.end);
        bool deepen = status == MP_E_DEPTH && walk_may_deepen(u);
        uint64_t need = 0, whole = 0;

        if (status == MP_E_TRUNCATED) {
            need = u->walk.payload ? 1 : mp_head_need(p, here.end);
            whole = walk_whole(u, p, here.end);
        } else if (status != MP_OK && !deepen) {
            here.at = p;
            raise_lost(u, status, u->walk.objects, here);
        }
        consume(u, (size_t)(p - here.start));
        if (status == MP_OK) {
            at_object(u);
            u->around.objects = u->body ? u->walk.objects : 0;
            check_max_bytes(u, 0, true);
            return true;
        }
        if (deepen) walk_deepen(u);
        else if (!bytes_there(u, need, whole)) return false;
    }
}

/* Keeps where the decoder is until there are more bytes, beyond the end of this call. */
static void
suspend(run *r)
{
    mp_stream *u = r->u;

    if (!u->d.tree.depth) return; /* outside of all containers there is nothing to keep */
    u->position = MP_IN_OBJECT;
    if (u->d.stack.owner) return;
    mp_value_stack_move(&u->d.stack, u->d.tree.count, u->d.tree.count + 62);
    RB_OBJ_WRITTEN(r->self, Qundef, u->d.stack.owner);
}

/* Has the decoder go on where it is: gives it what it cannot keep from one call to the next. */
static void
resume(run *r)
{
    mp_stream *u = r->u;
    VALUE inner = u->d.inner;

    if (u->position == MP_IN_OBJECT) {
        u->d.codec = &u->codec;
        u->d.ractor = mp_ractor_current();
        u->d.stack_enough = false;
        return;
    }
    mp_decoder_init(&u->d, &u->codec, &r->words);
    u->d.holder = r->self;
    u->d.inner = inner;
    u->d.source_own = true;
    u->d.outer_depth = u->around.depth;
    u->d.outer_keys = u->around.keys;
    if (u->body) u->d.max_depth = u->around.max_depth;
    mp_decoder_restart(&u->d, u->origin);
    u->d.tree.objects += u->around.objects;
    u->message = u->origin;
}

/* Decodes the first chunk, and drops what it decoded of it. Qundef when the object does not end there. */
static VALUE
decode_front(run *r)
{
    mp_stream *u = r->u;
    const mp_chunk *chunk = first_chunk(u);
    size_t allowed = u->codec.options.max_bytes - (u->origin - u->message);
    VALUE source, obj;

    r->cut = chunk && chunk->len > allowed;
    r->need = 1;
    if (!chunk) return Qundef;
    r->decoding = true;
    buffer_take(u, true);
    u->d.committed = false;
    source = chunk->str;
    mp_decoder_source(&u->d, source, mp_chunk_bytes(chunk), r->cut ? allowed : chunk->len);
    obj = mp_decode_on(&u->d);
    mp_stream_get(r->self); /* raises where this was a body, whose end came while a Fiber had stopped in here */
    buffer_take(u, false);
    r->decoding = false;
    if (obj == Qundef) r->need = mp_object_need(u->d.at, u->d.end);
    consume(u, mp_decoder_detach(&u->d));
    RB_GC_GUARD(source); /* what only the decoder knows may move */
    return obj;
}

/* Reads until the bytes that the decoder needs are there. false when the input ends before. */
static bool
need_there(const run *r)
{
    const mp_stream *u = r->u;
    uint64_t whole = r->need;

    if (reads_exactly_p(u)) whole += mp_tree_missing(&u->d.tree, u->d.stack.values);
    return bytes_there(r->u, r->need, whole);
}

/* The object is whole, and was consumed. */
static VALUE
object_read(run *r, VALUE obj)
{
    mp_stream *u = r->u;

    mp_decoder_cleanup(&u->d);
    at_object(u);
    u->around.objects = u->body ? u->d.tree.objects : 0;
    check_max_bytes(u, 0, true);
    return obj;
}

/* The object that decode_front has begun and not ended. Qundef when the bytes end before it does. */
static VALUE
read_on(run *r)
{
    mp_stream *u = r->u;
    VALUE obj;

    do {
        if (MP_UNLIKELY(r->need && r->cut)) {
            /* The rest is not built: wherever it ends, or the bytes do, is too far for check_max_bytes. */
            pass_over_rest(u, &u->d.tree, u->d.stack.values, MP_IN_FAILED);
            pass_over(u);
            return Qundef;
        }
        if (r->need) {
            suspend(r); /* before anything that can raise or never return */
            if (!need_there(r)) return Qundef;
        }
        obj = decode_front(r);
    } while (obj == Qundef);
    return object_read(r, obj);
}

/* The next object. Qundef when the bytes end before it does. */
static VALUE
read_object(run *r)
{
    VALUE obj;

    if (r->u->position > MP_IN_OBJECT && !pass_over(r->u)) return Qundef;
    resume(r);
    obj = decode_front(r);
    return obj == Qundef ? read_on(r) : object_read(r, obj);
}

static VALUE
read_body(void *arg)
{
    run *r = arg;

    return r->begun ? read_on(r) : read_object(r);
}

/* While the block has an object, the Unpacker is not at work: the block may use it, and break out. */
static VALUE
each_body(void *arg)
{
    run *r = arg;
    VALUE obj;

    while ((obj = read_object(r)) != Qundef) {
        run_leave(r);
        r->yielding = true;
        r->u->yields++;
        rb_yield(obj);
        r->u->yields--;
        r->yielding = false;
        run_enter(r);
    }
    return Qnil;
}

static VALUE
skip_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    if (u->position == MP_IN_FAILED && !pass_over(u)) return Qundef;
    if (u->position == MP_IN_OBJECT) {
        pass_over_rest(u, &u->d.tree, u->d.stack.values, MP_IN_SKIPPED);
    } else if (u->position == MP_AT_OBJECT) {
        walk_init(u, u->around.objects + 1);
        u->message = u->origin;
        u->position = MP_IN_SKIPPED;
    }
    return pass_over(u) ? Qnil : Qundef;
}

static VALUE
run_body(VALUE arg)
{
    run *r = (run *)arg;
    VALUE result = r->body(r);

    run_leave(r);
    return result;
}

/* Where to go on after an error: behind the object to blame and all that is around it, or nowhere. */
static void
after_error(run *r)
{
    mp_stream *u = r->u;

    if (r->decoding && u->d.committed) {
        consume(u, mp_decoder_detach(&u->d));
        pass_over_rest(u, &u->d.tree, u->d.stack.values, MP_IN_FAILED);
        if (mp_walk_object_passed(&u->walk)) at_object(u);
    } else if (r->decoding || u->lost) {
        VALUE error = rb_errinfo(); /* nil when the making of the exception itself was left by a throw */
        if (NIL_P(error)) error = rb_exc_new_cstr(rb_eRuntimeError, "unpacker does not know where it is");
        RB_OBJ_WRITE(r->self, &u->broken, error);
        at_object(u);
    }
}

static VALUE
run_ensure(VALUE arg)
{
    run *r = (run *)arg;
    mp_stream *u = r->u;

    if (r->yielding) u->yields--;
    if (MP_LIKELY(!r->at_work)) return Qnil;
    run_leave(r);
    if (!u->open) return Qnil;
    if (r->decoding) buffer_take(u, false); /* else it is taken by somebody else, or not at all */
    after_error(r);
    return Qnil;
}

static void
run_init(run *r, VALUE self, VALUE (*body)(void *))
{
    r->self = self;
    r->body = body;
    r->decoding = r->yielding = r->begun = false;
}

static VALUE
run_ensured(run *r)
{
    run_enter(r);
    return rb_ensure(run_body, (VALUE)r, run_ensure, (VALUE)r);
}

/* Runs a body. Its result, or Qundef when the bytes end before it is done. */
static VALUE
run_with(VALUE self, VALUE (*body)(void *))
{
    run r;

    run_init(&r, self, body);
    return run_ensured(&r);
}

/* The same, but the end of the bytes is an error. */
static VALUE
run_whole(VALUE self, VALUE (*body)(void *))
{
    VALUE result = run_with(self, body);

    if (MP_UNLIKELY(result == Qundef)) raise_truncated(mp_stream_get(self));
    return result;
}

/* Whether the next object may be read without a limit to check, and nothing of it was read before. */
MP_INLINE bool
read_plainly_p(const mp_stream *u)
{
    return u->position == MP_AT_OBJECT && !u->broken && !u->codec.options.limited;
}

/*
 * Begins the object that starts in a chunk, without rb_ensure, which takes as long as to read a short one: a plain
 * decoder stops before it would call user code or raise. Qundef when it stopped, or the chunk ends before the object.
 *
 * One kind of user code remains: where two keys of different classes have similar hashes, Ruby calls an eql? that a
 * program has redefined for a core class. Such an eql? finds the Unpacker in use, and leaves it so if it raises.
 */
static VALUE
read_plain(run *r, const mp_chunk *chunk)
{
    mp_stream *u = r->u;
    VALUE source = chunk->str, obj;

    resume(r);
    u->d.plain = true;
    mp_decoder_source(&u->d, source, mp_chunk_bytes(chunk), chunk->len);
    u->running = true;
    buffer_take(u, true);
    obj = mp_decode_on(&u->d);
    buffer_take(u, false);
    u->running = false;
    if (obj == Qundef) r->need = u->d.stopped ? 0 : mp_object_need(u->d.at, u->d.end);
    consume(u, mp_decoder_detach(&u->d));
    if (u->body) u->around.objects = u->d.tree.objects;
    RB_GC_GUARD(source);
    return obj;
}

/* The next object of an Unpacker that may be read. */
static VALUE
read_next(VALUE self, mp_stream *u)
{
    const mp_chunk *chunk = first_chunk(u);
    run r;
    VALUE obj;

    run_init(&r, self, read_body);
    r.u = u;
    if (MP_LIKELY(chunk) && read_plainly_p(u) && chunk->len <= u->codec.options.max_bytes) {
        obj = read_plain(&r, chunk);
        if (MP_LIKELY(obj != Qundef)) {
            mp_decoder_cleanup(&u->d);
            return obj;
        }
        u->d.plain = r.cut = false;
        r.begun = true;
    }
    obj = run_ensured(&r);
    if (MP_UNLIKELY(obj == Qundef)) raise_truncated(mp_stream_get(self));
    return obj;
}

/*
 * The next object where it is a short one that is all there, or Qundef: a handler reads many of these, and they need no
 * decoder.
 */
static VALUE
read_short(mp_stream *u)
{
    const mp_chunk *chunk = first_chunk(u);
    const uint8_t *start, *p;
    VALUE source, obj;

    if (!chunk || !read_plainly_p(u)) return Qundef;
    source = chunk->str;
    start = p = mp_chunk_bytes(chunk);
    if (chunk->len > u->codec.options.max_bytes) return Qundef;
    obj = mp_decode_short(&u->codec.options, &p, start + chunk->len);
    if (obj == Qundef) return Qundef;
    u->message = u->origin;
    consume(u, (size_t)(p - start));
    RB_GC_GUARD(source);
    return obj;
}

VALUE
mp_stream_read(VALUE self, mp_stream *u)
{
    VALUE obj = read_short(u);

    return obj != Qundef ? obj : read_next(self, u);
}

void
mp_stream_each(VALUE self)
{
    run_with(self, each_body);
}

void
mp_stream_skip(VALUE self)
{
    run_whole(self, skip_body);
}

/* --- headers ---------------------------------------------------------------------------------------- */

/* Has the head of the next object at the front of the buffer. false when its bytes are not to be had. */
static bool
head_there(mp_stream *u)
{
    uint64_t need;
    mp_blame here;

    if (u->position > MP_IN_OBJECT && !pass_over(u)) return false;
    if (u->position == MP_IN_OBJECT) {
        rb_raise(rb_eRuntimeError, "an object was read in part: read goes on with it, skip and reset drop it");
    }
    u->message = u->origin;
    if (!bytes_there(u, 1, 1)) return false;
    here = front(u);
    need = mp_head_need(here.at, here.end);
    return bytes_there(u, need, need);
}

/* The count of a container's head, which is dropped; a head of another kind stays. */
static VALUE
read_header(mp_stream *u, mp_kind kind)
{
    mp_blame blame;
    mp_head head;
    mp_status status;

    if (!head_there(u)) return Qundef;
    blame = front(u);
    status = mp_head_read(blame.at, blame.end, &head);
    if (status == MP_OK && head.kind != kind) mp_raise_unexpected(kind, head.kind, u->origin);
    if (status == MP_OK) status = mp_limits_check(&u->codec.options.limits, head.kind, head.n);
    if (status != MP_OK) raise_lost(u, status, 0, blame);
    if (u->body) u->around.objects++;
    consume(u, (size_t)(head.payload - blame.at));
    return UINT2NUM(head.n);
}

static VALUE
array_header_body(void *arg)
{
    return read_header(((run *)arg)->u, MP_ARRAY);
}

static VALUE
map_header_body(void *arg)
{
    return read_header(((run *)arg)->u, MP_MAP);
}

VALUE
mp_stream_read_header(VALUE self, mp_kind kind)
{
    return run_whole(self, kind == MP_MAP ? map_header_body : array_header_body);
}

static VALUE
skip_nil_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    if (!head_there(u)) return Qundef;
    if (MP_WIRE[*front(u).at].kind != MP_NIL) return Qfalse;
    consume(u, 1);
    return Qtrue;
}

VALUE
mp_stream_skip_nil(VALUE self)
{
    return run_whole(self, skip_nil_body);
}
