/* How methods read objects from a stream. However they end, the Unpacker and its Buffer stay usable. */
#include "stream/unpacker_read.h"

#include "buffer/buffer_io.h"
#include "core/wire.h"
#include "stream/body_unpacker.h"
#include "unpack/decode.h"

static ID id_view, id_load;

/* buffer_take keeps others from the Buffer while the decoder may run user code; buffer_release ends that. */
static void
buffer_take(mp_stream *u)
{
    if (u->buffer) mp_loan_take(&mp_buffer_get(u->buffer)->loan);
}

static void
buffer_release(mp_stream *u)
{
    if (u->buffer) mp_loan_release(&mp_buffer_get(u->buffer)->loan);
}

/* --- one object ------------------------------------------------------------------------------------- */

/* A run of a method that reads. Its flags tell run_ensure what to undo, even if the method raises. */
typedef struct {
    VALUE self;
    mp_stream *u;
    VALUE (*body)(void *run);
    bool at_work;
    bool decoding;
    bool yielding;        /* each is running, perhaps its block */
    bool plain;           /* read_plain is at work */
    bool begun;           /* read_plain has begun the object */
    mp_kind kind;         /* kind of the container whose header is read */
    uint64_t need;        /* the decoder needs this many bytes from the front; 0 if it can continue now */
    bool capped;          /* the decoder got only as many bytes as max_bytes allows, and there are more */
    mp_decoder first;     /* of read_plain */
    mp_value_words words; /* first memory of the decoder's value stack */
} run;

/* Reserves the Unpacker for this run. */
static void
run_enter(run *r)
{
    mp_stream_more *more;

    r->u = mp_stream_for_read(r->self);
    more = mp_stream_grown(r->u);
    if (MP_UNLIKELY(more->sticky_error != 0)) rb_exc_raise(more->sticky_error);
    r->u->running = true;
    r->at_work = true;
}

/* Releases the Unpacker. */
static void
run_leave(run *r)
{
    r->u->running = false;
    r->at_work = false;
}

/* Saves the decoder's state until more bytes arrive, perhaps in another call. */
static void
suspend(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &u->more->d;

    if (!d->tree.depth) return; /* outside of all containers there is no state */
    if (!d->stack.owner) {
        u->position_unknown = true; /* in case of NoMemoryError: the values are lost */
        mp_value_stack_move(&d->stack, d->tree.count, d->tree.count + 62);
        u->position_unknown = false;
        RB_OBJ_WRITTEN(r->self, Qundef, d->stack.owner);
    }
    u->position = MP_IN_OBJECT;
}

/* Initializes a decoder for the object at the front. */
static void
begin_object(run *r, mp_decoder *d)
{
    const mp_stream *u = r->u;

    mp_decoder_init(d, &u->codec, &r->words);
    d->source_own = true;
    if (u->body) {
        d->outer_depth = u->more->outer.depth;
        d->outer_keys = u->more->outer.keys;
        d->max_depth = u->more->outer.max_depth;
    }
    mp_decoder_restart(d, u->origin);
    if (u->body) d->tree.objects += u->more->outer.objects;
}

/* Prepares the decoder to start or continue: sets everything that it cannot keep from call to call. */
static void
resume(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &u->more->d;
    VALUE inner = d->inner;

    if (u->position == MP_IN_OBJECT) {
        d->codec = &u->codec;
        d->holder = r->self; /* again: compaction may have moved it */
        d->ractor = mp_ractor_current();
        d->stack_enough = false;
        return;
    }
    begin_object(r, d);
    d->holder = r->self;
    d->inner = inner;
    u->more->message = u->origin;
}

/* Decodes from the first chunk and drops the decoded bytes. Qundef if the object does not end in this chunk. */
static VALUE
decode_front(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &u->more->d;
    mp_chunk chunk = mp_stream_first_chunk(u);
    size_t allowed = u->codec.options.max_bytes - (u->origin - u->more->message);
    VALUE source = chunk.str, obj;

    r->capped = chunk.len > allowed;
    r->need = 1;
    if (!chunk.len) return Qundef;
    r->decoding = true;
    buffer_take(u);
    d->committed = false;
    mp_decoder_source(d, source, mp_chunk_bytes(&chunk), r->capped ? allowed : chunk.len);
    d->before = chunk.at;
    obj = mp_decode_on(d);
    mp_stream_get(r->self); /* raises if the body ended while a Fiber was suspended */
    buffer_release(u);
    r->decoding = false;
    if (obj == Qundef) r->need = mp_object_need(d->at, d->end);
    mp_stream_consume(u, mp_decoder_detach(d));
    RB_GC_GUARD(source); /* otherwise compaction may move it */
    return obj;
}

/* Reads the bytes that the decoder needs. False if the input ends first. */
static bool
need_there(const run *r)
{
    const mp_stream *u = r->u;
    const mp_decoder *d = &u->more->d;
    uint64_t object = r->need;

    if (mp_stream_reads_exactly_p(u)) object += mp_tree_missing(&d->tree, d->stack.values);
    return mp_stream_bytes_there(r->u, r->need, object);
}

/* Called when the object is complete and its bytes are consumed. Returns the object. */
static VALUE
object_read(run *r, VALUE obj)
{
    mp_stream *u = r->u;

    mp_decoder_cleanup(&u->more->d);
    mp_stream_at_object(u);
    u->more->outer.objects = u->body ? u->more->d.tree.objects : 0;
    mp_stream_check_max_bytes(u, 0, true);
    return obj;
}

/* Continues reading a partly read object. Qundef if the bytes end inside it. */
static VALUE
read_on(run *r)
{
    mp_stream *u = r->u;
    VALUE obj;

    do {
        if (MP_UNLIKELY(r->need && r->capped)) {
            /* Past max_bytes: skip the rest. mp_stream_check_max_bytes raises at the end of the object or the input. */
            mp_stream_skip_rest(u, &u->more->d.tree, u->more->d.stack.values, MP_IN_FAILED);
            mp_stream_skip(u);
            return Qundef;
        }
        if (r->need) {
            suspend(r); /* first, because reading from the io can raise or never return */
            if (!need_there(r)) return Qundef;
        }
        obj = decode_front(r);
    } while (obj == Qundef);
    return object_read(r, obj);
}

/* Reads the next object. Qundef if the bytes end before or inside it. */
static VALUE
read_object(run *r)
{
    VALUE obj;

    if (mp_stream_passing_p(r->u) && !mp_stream_skip(r->u)) return Qundef;
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

/* --- one message, as its bytes ----------------------------------------------------------------------- */

/* Reads the bytes of the next object as a frozen String. Qundef if the input ends before or inside it. */
static VALUE
slice_object(run *r)
{
    mp_stream *u = r->u;
    VALUE bytes;

    if (mp_stream_passing_p(u) && !mp_stream_skip(u)) return Qundef;
    if (u->position == MP_AT_OBJECT) mp_stream_begin_skip(u, MP_IN_SLICED);
    u->more->d.holder = r->self;
    if (!mp_stream_skip(u)) return Qundef;
    bytes = u->more->slice;
    u->more->slice = 0;
    return rb_obj_freeze(bytes);
}

static VALUE
slice_body(void *arg)
{
    return slice_object(arg);
}

/* A message to load from its bytes, for the option `as`. */
typedef struct {
    VALUE as, codec, bytes;
    size_t start; /* its offset in the stream */
} loading;

static VALUE
call_load(VALUE arg)
{
    const loading *l = (const loading *)arg;

    if (l->as == Qtrue) return rb_funcallv(l->codec, id_view, 1, &l->bytes);
    return rb_funcallv(l->as, id_load, 1, &l->bytes);
}

static VALUE
raise_load_error(VALUE arg, VALUE error)
{
    const loading *l = (const loading *)arg;

    if (mp_decode_error_p(error)) mp_raise_message_error(error, l->start);
    rb_exc_raise(error);
}

/* Loads a message from the bytes just read. This runs user code, so no read may be in progress. */
static VALUE
message_loaded(const mp_stream *u, VALUE bytes)
{
    loading l = {.as = u->more->as, .codec = u->codec.object, .bytes = bytes, .start = u->more->message};

    if (NIL_P(l.as)) return bytes;
    return rb_rescue2(call_load, (VALUE)&l, raise_load_error, (VALUE)&l, rb_eStandardError, (VALUE)0);
}

/* --- methods ---------------------------------------------------------------------------------------- */

static VALUE
skip_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    if (u->position == MP_IN_FAILED && !mp_stream_skip(u)) return Qundef;
    if (u->position == MP_IN_OBJECT) {
        mp_stream_skip_rest(u, &u->more->d.tree, u->more->d.stack.values, MP_IN_SKIPPED);
    } else if (u->position == MP_AT_OBJECT) {
        mp_stream_begin_skip(u, MP_IN_SKIPPED);
    } else {
        u->more->slice = 0;
        u->position = MP_IN_SKIPPED;
    }
    return mp_stream_skip(u) ? Qnil : Qundef;
}

static VALUE
run_body(VALUE arg)
{
    run *r = (run *)arg;
    VALUE result = r->body(r);

    run_leave(r);
    return result;
}

/* From now on every read raises the current error. */
static void
stick(run *r)
{
    VALUE error = rb_errinfo(); /* nil if the exception's own initialize threw */

    if (NIL_P(error)) {
        error = rb_exc_new_cstr(rb_eRuntimeError, "the Unpacker does not know where the next object starts: reset it");
    }
    RB_OBJ_WRITE(r->self, &r->u->more->sticky_error, error);
}

/*
 * After an error: reading continues after the whole top-level object that failed or, if its end is unknown, the error
 * sticks.
 */
static void
after_error(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &u->more->d;

    if (!r->decoding && !u->position_unknown) return;
    stick(r); /* first: it stays if there is no memory to skip the rest */
    if (r->decoding && d->committed) {
        mp_stream_consume(u, mp_decoder_detach(d));
        mp_stream_skip_rest(u, &d->tree, d->stack.values, MP_IN_FAILED);
        if (mp_walk_object_passed(&u->more->walk)) mp_stream_at_object(u);
        u->more->sticky_error = 0;
    } else {
        mp_stream_at_object(u);
    }
}

/* Moves the decoder of read_plain into the stream, so that read_body can continue the object. */
static void
keep_first(run *r)
{
    mp_stream_more *more = mp_stream_grown(r->u);
    mp_decoder d = r->first;

    d.holder = r->self;
    d.inner = more->d.inner;
    more->d = d;
    more->message = r->u->origin;
    if (d.stack.owner) RB_OBJ_WRITTEN(r->self, Qundef, d.stack.owner);
}

/* The same after an error in a plain read of each. */
static void
plain_read_failed(run *r)
{
    r->u->running = r->u->plainly = false;
    buffer_release(r->u);
    keep_first(r);
    r->decoding = true;
    after_error(r);
}

static VALUE
run_ensure(VALUE arg)
{
    run *r = (run *)arg;
    mp_stream *u = r->u;

    if (r->yielding) u->more->yields--;
    if (MP_UNLIKELY(r->plain)) {
        plain_read_failed(r);
        return Qnil;
    }
    if (MP_LIKELY(!r->at_work)) return Qnil;
    run_leave(r);
    if (!u->open) return Qnil;
    if (u->buffer && mp_loan_taken_p(&mp_buffer_get(u->buffer)->loan)) {
        buffer_release(u);
        r->decoding = true;
    }
    after_error(r);
    return Qnil;
}

static void
run_init(run *r, VALUE self, VALUE (*body)(void *))
{
    r->self = self;
    r->body = body;
    r->at_work = r->decoding = r->yielding = r->plain = r->begun = false;
}

static VALUE
run_ensured(run *r)
{
    run_enter(r);
    return rb_ensure(run_body, (VALUE)r, run_ensure, (VALUE)r);
}

/* Runs a body and returns its result, Qundef if the bytes end too early. */
static VALUE
run_with(VALUE self, VALUE (*body)(void *))
{
    run r;

    run_init(&r, self, body);
    return run_ensured(&r);
}

/* The same, but raises if the bytes end too early. */
static VALUE
run_whole(run *r)
{
    VALUE result = run_ensured(r);

    if (MP_UNLIKELY(result == Qundef)) mp_stream_raise_end(mp_stream_get(r->self));
    return result;
}

static VALUE
run_whole_with(VALUE self, VALUE (*body)(void *))
{
    run r;

    run_init(&r, self, body);
    return run_whole(&r);
}

/* True if the next object is not begun, will be built (no `as`), and has no limits to check. */
MP_INLINE bool
read_plainly_p(const mp_stream *u)
{
    return u->position == MP_AT_OBJECT && !u->codec.options.limited &&
           (!u->more || (!u->more->sticky_error && !u->more->as));
}

/*
 * True if the previous object that needed a decoder called user code. The next one probably does, too, as bodies of one
 * ext type are alike, and a plain decoder would have to stop at that.
 */
MP_INLINE bool
user_code_expected_p(const mp_stream *u)
{
    return u->more && u->more->d.stack_enough;
}

/*
 * Reads the object at the start of a chunk without rb_ensure, which would take as long as reading a short object. That
 * is safe with a plain decoder, which stops before it calls user code or raises. Qundef if it stopped, or if the chunk
 * ends inside the object.
 *
 * One kind of user code remains: if two keys of different classes have similar hashes, Ruby calls eql?, which a program
 * may have redefined for a core class. Such an eql? finds the Unpacker in use, and leaves it in use if it raises.
 * NoMemoryError, too, leaves the Unpacker in use, until mp_stream_for_read sees that no redefined eql? can be running.
 */
static VALUE
read_plain(run *r, const mp_chunk *chunk)
{
    mp_stream *u = r->u;
    mp_decoder *d = &r->first;
    VALUE source = chunk->str, obj;

    begin_object(r, d);
    d->plain = true;
    mp_decoder_source(d, source, mp_chunk_bytes(chunk), chunk->len);
    u->running = u->plainly = r->plain = true;
    buffer_take(u);
    obj = mp_decode_on(d);
    buffer_release(u);
    u->running = u->plainly = r->plain = false;
    if (MP_UNLIKELY(obj == Qundef)) {
        r->need = d->stopped ? 0 : mp_object_need(d->at, d->end);
        keep_first(r);
        d = &u->more->d;
    }
    if (u->body) u->more->outer.objects = d->tree.objects;
    mp_stream_consume(u, mp_decoder_detach(d));
    RB_GC_GUARD(source);
    return obj;
}

/* Reads the next object if read_plain can. Otherwise returns Qundef, and read_body must read it or finish it. */
static VALUE
read_plain_first(run *r)
{
    mp_stream *u = r->u;
    mp_chunk chunk = mp_stream_first_chunk(u);
    VALUE obj;

    r->begun = false;
    if (MP_UNLIKELY(!chunk.len) || !read_plainly_p(u) || user_code_expected_p(u) ||
        chunk.len > u->codec.options.max_bytes) {
        return Qundef;
    }
    obj = read_plain(r, &chunk);
    if (MP_LIKELY(obj != Qundef)) {
        mp_decoder_cleanup(&r->first);
        return obj;
    }
    u->more->d.plain = r->capped = false;
    r->begun = true;
    return Qundef;
}

/* Reads the next object. The caller has checked that the Unpacker may be read. */
static VALUE
read_next(VALUE self, mp_stream *u)
{
    run r;
    VALUE obj;

    run_init(&r, self, read_body);
    r.u = u;
    obj = read_plain_first(&r);
    return MP_LIKELY(obj != Qundef) ? obj : run_whole(&r);
}

/*
 * Sets *chunk to the chunk that starts with the next object, for the fast paths below, which need no decoder and no
 * rb_ensure. False without bytes, inside an object, or if there are limits to check.
 */
MP_INLINE bool
chunk_at_hand(const mp_stream *u, mp_chunk *chunk)
{
    *chunk = mp_stream_first_chunk(u);
    return chunk->len && read_plainly_p(u) && chunk->len <= u->codec.options.max_bytes;
}

/*
 * Reads from a StringIO, for the fast paths below. The Unpacker need not be marked as running: a StringIO runs no user
 * code, and if it raises, nothing has changed. But a program may have redefined its read.
 */
static MP_NOINLINE void
read_string_io(VALUE self, mp_stream *u)
{
    mp_io_bytes read;

    if (!u->buffer || mp_buffer_get(u->buffer)->way != MP_BY_STRING_IO) return;
    if (u->position != MP_AT_OBJECT || mp_stream_sticky_error(u)) return;
    read = mp_buffer_read_io(u->buffer, 1);
    if (NIL_P(read.bytes)) return;
    mp_stream_for_read(self);
    mp_buffer_for_change(u->buffer);
    mp_buffer_feed_read(u->buffer, read);
}

/* The stream for a method that reads, with bytes in its Buffer if a StringIO has some. */
MP_INLINE mp_stream *
stream_with_bytes(VALUE self)
{
    mp_stream *u = mp_stream_for_read(self);

    if (MP_UNLIKELY(!mp_stream_size(u))) read_string_io(self, u);
    return u;
}

/* Reads a short, complete object, as handlers often do. Qundef: take the slow path. */
MP_INLINE VALUE
read_short(mp_stream *u)
{
    const uint8_t *start, *p;
    mp_chunk chunk;
    VALUE source, obj;

    if (!chunk_at_hand(u, &chunk)) return Qundef;
    source = chunk.str;
    start = p = mp_chunk_bytes(&chunk);
    obj = mp_fixint_p(*p) ? INT2FIX((int8_t)*p++) : mp_decode_short(&u->codec.options, &p, start + chunk.len);
    if (obj == Qundef) return Qundef;
    mp_stream_consume(u, (size_t)(p - start));
    RB_GC_GUARD(source);
    return obj;
}

/* Keeps the Unpackers that a read used for ext bodies, so that the next read of any Unpacker reuses them. */
static void
keep_inner(mp_stream *u)
{
    VALUE inner = u->more ? u->more->d.inner : 0;

    if (MP_LIKELY(!inner) || u->body) return;
    u->more->d.inner = 0;
    mp_unpacker_keep_for_bodies(inner);
}

/* The slow path of mp_unpacker_read. */
static MP_NOINLINE VALUE
read_long(VALUE self, mp_stream *u)
{
    VALUE obj = Qundef;

    if (MP_UNLIKELY(mp_stream_as(u) != 0)) return message_loaded(u, run_whole_with(self, slice_body));
    if (!mp_stream_size(u)) {
        read_string_io(self, u);
        obj = read_short(u);
    }
    if (obj == Qundef) obj = read_next(self, u);
    keep_inner(u);
    return obj;
}

VALUE
mp_unpacker_read(VALUE self, mp_stream *u)
{
    VALUE obj = read_short(u);

    if (MP_UNLIKELY(obj == Qundef)) obj = read_long(self, u);
    RB_GC_GUARD(self);
    return obj;
}

/* True if there are no bytes left, and no io that could have more: a StringIO has just been read. */
MP_INLINE bool
at_end_p(const mp_stream *u)
{
    if (u->position != MP_AT_OBJECT || u->body || mp_stream_sticky_error(u) || mp_stream_size(u)) return false;
    return !u->buffer || NIL_P(mp_buffer_get(u->buffer)->io) || mp_buffer_get(u->buffer)->way == MP_BY_STRING_IO;
}

/* Reads the next object or message of each. Qundef if the bytes end before or inside it. */
static VALUE
next_for_each(run *r)
{
    VALUE obj;

    if (MP_LIKELY(!r->u->more->as)) {
        if (MP_UNLIKELY(!mp_stream_size(r->u))) read_string_io(r->self, r->u);
        obj = read_short(r->u);
        if (obj == Qundef) obj = read_plain_first(r);
        if (MP_LIKELY(obj != Qundef)) return obj;
        if (!r->begun && at_end_p(r->u)) return Qundef;
    }
    run_enter(r);
    obj = MP_UNLIKELY(r->u->more->as != 0) ? slice_object(r) : read_body(r);
    run_leave(r);
    return obj != Qundef && MP_UNLIKELY(r->u->more->as != 0) ? message_loaded(r->u, obj) : obj;
}

/* While the block runs, the Unpacker is not in use: the block may call its methods, and break. */
static VALUE
each_body(VALUE arg)
{
    run *r = (run *)arg;
    VALUE obj;

    r->yielding = true;
    r->u->more->yields++;
    while ((obj = next_for_each(r)) != Qundef) {
        rb_yield(obj);
        mp_stream_for_read(r->self);
    }
    return Qnil;
}

void
mp_unpacker_each(VALUE self, bool strict)
{
    mp_stream *u;
    run r;

    run_init(&r, self, NULL);
    r.u = mp_stream_for_read(self);
    mp_stream_grown(r.u); /* now, because run_ensure must not allocate */
    rb_ensure(each_body, (VALUE)&r, run_ensure, (VALUE)&r);
    u = mp_stream_get(self);
    keep_inner(u);
    if (strict && mp_stream_pending_p(u)) mp_stream_raise_truncated(u);
    RB_GC_GUARD(self);
}

/* Skips the object at *p if it is not a container and does not extend beyond end. */
static bool
leaf_skipped(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *next;
    mp_head head;

    if (mp_fixint_p(**p)) {
        ++*p;
        return true;
    }
    if (mp_head_over(*p, end, &head, &next) != MP_OK || mp_declared_objects(head.kind, head.n)) return false;
    *p = next;
    return true;
}

/*
 * Skips an object that ends in the first chunk. Nothing in here allocates or raises. If it returns false, skip_body has
 * to skip the object, or the rest of it.
 */
static bool
skip_in_chunk(mp_stream *u)
{
    const uint8_t *start, *p, *end;
    mp_chunk chunk;
    mp_status status;

    if (!chunk_at_hand(u, &chunk)) return false;
    start = p = mp_chunk_bytes(&chunk);
    end = start + chunk.len;
    if (leaf_skipped(&p, end)) {
        mp_stream_consume(u, (size_t)(p - start));
        return true;
    }
    if (!u->more) return false;
    mp_stream_begin_skip(u, MP_IN_SKIPPED);
    status = mp_skip(&u->more->walk, &p, end);
    if (status == MP_OK || status == MP_E_TRUNCATED) mp_stream_consume(u, (size_t)(p - start));
    if (status != MP_E_TRUNCATED) mp_stream_at_object(u); /* after an error, let skip_body start again and raise it */
    return status == MP_OK;
}

void
mp_unpacker_skip(VALUE self)
{
    if (!skip_in_chunk(stream_with_bytes(self))) run_whole_with(self, skip_body);
    RB_GC_GUARD(self);
}

static VALUE
skip_failed_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    if (u->position == MP_IN_FAILED) mp_stream_skip(u);
    return Qnil;
}

void
mp_unpacker_skip_failed(VALUE self)
{
    run_with(self, skip_failed_body);
}

/* --- headers ---------------------------------------------------------------------------------------- */

/* Brings the complete head of the next object to the front of the Buffer. False if the input ends first. */
static bool
head_there(mp_stream *u)
{
    uint64_t need;
    mp_blame here;

    if (mp_stream_passing_p(u) && !mp_stream_skip(u)) return false;
    if (u->position == MP_IN_OBJECT || u->position == MP_IN_SLICED) {
        rb_raise(rb_eRuntimeError, "an object was partly read: read continues it, skip and reset discard it");
    }
    u->more->message = u->origin;
    if (!mp_stream_bytes_there(u, 1, 1)) return false;
    here = mp_stream_front(u);
    need = mp_head_need(here.at, here.end);
    return mp_stream_bytes_there(u, need, need);
}

/* Consumes the head of a container and returns its count. Raises for any other head, which it keeps. */
static VALUE
header_body(void *arg)
{
    const run *r = arg;
    mp_stream *u = r->u;
    mp_blame blame;
    mp_head head;
    mp_status status;

    if (!head_there(u)) return Qundef;
    blame = mp_stream_front(u);
    status = mp_head_read(blame.at, blame.end, &head);
    if (status == MP_OK && head.kind != r->kind) {
        mp_raise_unexpected(r->kind, head.kind, u->origin, mp_stream_message(u));
    }
    if (status == MP_OK) status = mp_limits_check(&u->codec.options.limits, head.kind, head.n);
    if (status != MP_OK) mp_stream_raise_unknown_position(u, status, 0, blame);
    if (u->body) u->more->outer.objects++;
    mp_stream_consume(u, (size_t)(head.payload - blame.at));
    return UINT2NUM(head.n);
}

/* Returns the start of the next object, if its head is complete, and sets *row to the head's row; otherwise NULL. */
MP_INLINE const uint8_t *
head_at_hand(const mp_stream *u, mp_wire_row *row)
{
    const uint8_t *head;
    mp_chunk chunk;

    if (!chunk_at_hand(u, &chunk)) return NULL;
    head = mp_chunk_bytes(&chunk);
    return mp_row_read(head, head + chunk.len, row) == MP_OK ? head : NULL;
}

VALUE
mp_unpacker_read_header(VALUE self, mp_kind kind)
{
    mp_stream *u = stream_with_bytes(self);
    mp_wire_row row;
    const uint8_t *head = head_at_hand(u, &row);
    uint32_t n;
    run r;

    if (!head || row.kind != kind) {
        run_init(&r, self, header_body);
        r.kind = kind;
        return run_whole(&r);
    }
    n = mp_row_count(head, row);
    mp_stream_consume(u, row.head);
    RB_GC_GUARD(self);
    return UINT2NUM(n);
}

static VALUE
skip_nil_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    if (!head_there(u)) return Qundef;
    if (MP_WIRE[*mp_stream_front(u).at].kind != MP_NIL) return Qfalse;
    mp_stream_consume(u, 1);
    return Qtrue;
}

VALUE
mp_unpacker_skip_nil(VALUE self)
{
    mp_stream *u = stream_with_bytes(self);
    mp_wire_row row;

    if (!head_at_hand(u, &row)) return run_whole_with(self, skip_nil_body);
    if (row.kind != MP_NIL) return Qfalse;
    mp_stream_consume(u, 1);
    RB_GC_GUARD(self);
    return Qtrue;
}

static VALUE
end_body(void *arg)
{
    mp_stream *u = ((run *)arg)->u;

    u->more->message = u->origin;
    return mp_stream_bytes_there(u, 1, 1) ? Qfalse : Qtrue;
}

bool
mp_unpacker_end_p(VALUE self)
{
    const mp_stream *u = mp_stream_get(self);

    if (mp_stream_size(u)) return false;
    if (!u->buffer || NIL_P(mp_buffer_get(u->buffer)->io)) return true;
    return RTEST(run_with(self, end_body));
}

void
Init_manypack_unpacker_read(void)
{
    id_view = rb_intern("view");
    id_load = rb_intern("load");
}
