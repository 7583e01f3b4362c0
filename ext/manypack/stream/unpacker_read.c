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
    bool skipping;        /* it has begun to skip the next object */
    bool yielding;        /* the method each is running, perhaps its block */
    bool capped;          /* the decoder got only as many bytes as max_bytes allows, and there are more */
    mp_kind kind;         /* kind of the container whose header is read */
    mp_decoder d;         /* of the object that is being read */
    mp_value_words words; /* first memory of the decoder's value stack */
} run;

/* Reserves the Unpacker for this run. */
static void
run_enter(run *r)
{
    mp_stream *u = r->u = mp_stream_for_read(r->self);
    VALUE error = mp_stream_sticky_error(u);

    if (MP_UNLIKELY(error != 0)) rb_exc_raise(error);
    u->running = true;
    r->at_work = true;
}

/* Releases the Unpacker. */
static void
run_leave(run *r)
{
    r->u->running = false;
    r->at_work = false;
}

/* Sets up the decoder for the object at the front. */
static void
begin_object(run *r)
{
    const mp_stream *u = r->u;
    mp_decoder *d = &r->d;

    mp_decoder_init(d, &u->codec, &r->words);
    d->source_own = true;
    if (u->body) {
        d->in_body = true;
        d->outer_depth = u->more->outer.depth;
        d->outer_keys = u->more->outer.keys;
        d->max_depth = u->more->outer.max_depth;
    }
    mp_decoder_restart(d, u->origin);
    if (u->body) d->tree.objects += u->more->outer.objects;
}

/* Takes the decoder of a partly read object back, and sets everything that it cannot keep from call to call. */
static void
resume(run *r)
{
    r->d = r->u->more->d;
    r->d.codec = &r->u->codec;
    r->d.ractor = mp_ractor_current();
    r->d.stack_enough = false;
}

/* Saves the decoder's state until more bytes arrive, perhaps in another call. */
static void
suspend(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &r->d;

    if (!d->tree.depth) return; /* outside of all containers there is no state */
    if (!d->stack.owner) {
        u->position_unknown = true; /* in case of NoMemoryError: the values are lost */
        mp_value_stack_move(&d->stack, d->tree.count, d->tree.count + 62);
        u->position_unknown = false;
    }
    u->more->d = *d;
    RB_OBJ_WRITTEN(r->self, Qundef, d->stack.owner);
    u->position = MP_IN_OBJECT;
}

/* Decodes from the first chunk and drops the decoded bytes. Qundef if the object does not end in this chunk. */
static VALUE
decode_front(run *r, uint64_t *need)
{
    mp_stream *u = r->u;
    mp_decoder *d = &r->d;
    mp_chunk chunk = mp_stream_first_chunk(u);
    size_t allowed = u->codec.options.max_bytes - (u->origin - d->message);
    VALUE source = chunk.str, obj = Qundef;

    *need = 1;
    r->capped = chunk.len > allowed;
    if (!chunk.len) return Qundef;
    r->decoding = true;
    buffer_take(u);
    d->committed = false;
    mp_decoder_source(d, source, mp_chunk_bytes(&chunk), r->capped ? allowed : chunk.len);
    d->before = chunk.at;
    obj = mp_decode_on(d);
    mp_stream_get(r->self); /* raises if the body ended while a Fiber was suspended */
    if (obj == Qundef) {
        mp_stream_grown(u);
        *need = mp_object_need(d->at, d->end);
    }
    buffer_release(u);
    r->decoding = false;
    mp_stream_consume(u, mp_decoder_detach(d));
    RB_GC_GUARD(source); /* otherwise compaction may move it */
    return obj;
}

/* Reads the bytes that the decoder needs to continue. False if it shall not continue, or if the input ends first. */
static bool
need_there(run *r, uint64_t need)
{
    mp_stream *u = r->u;
    uint64_t object = need;

    mp_stream_grown(u)->message = r->d.message;
    if (MP_UNLIKELY(r->capped)) {
        /* Past max_bytes: skip the rest. mp_stream_check_max_bytes raises at the end of the object or the input. */
        mp_stream_skip_rest(u, &r->d.tree, r->d.stack.values, MP_IN_FAILED);
        mp_stream_skip(r->self, u);
        return false;
    }
    suspend(r); /* first, because reading from the io can raise or never return */
    if (mp_stream_reads_exactly_p(u)) object += mp_tree_missing(&r->d.tree, r->d.stack.values);
    return mp_stream_bytes_there(u, need, object);
}

/* Reads the next object. Qundef if the bytes end before or inside it. */
static VALUE
read_object(run *r)
{
    mp_stream *u = r->u;
    uint64_t need;
    VALUE obj;

    if (mp_stream_passing_p(u) && !mp_stream_skip(r->self, u)) return Qundef;
    if (u->position == MP_IN_OBJECT) resume(r);
    else begin_object(r);
    while ((obj = decode_front(r, &need)) == Qundef) {
        if (!need_there(r, need)) return Qundef;
    }
    mp_decoder_cleanup(&r->d);
    mp_stream_at_object(u);
    if (u->body) u->more->outer.objects = r->d.tree.objects;
    return obj;
}

static VALUE
read_body(void *arg)
{
    return read_object(arg);
}

/* --- one message, as its bytes ----------------------------------------------------------------------- */

/* Reads the bytes of the next object as a frozen String. Qundef if the input ends before or inside it. */
static VALUE
slice_object(run *r)
{
    mp_stream *u = r->u; /* grown, because it has `as` */
    VALUE bytes;

    if (mp_stream_passing_p(u) && !mp_stream_skip(r->self, u)) return Qundef;
    if (u->position == MP_AT_OBJECT) mp_stream_begin_skip(u, MP_IN_SLICED);
    if (!mp_stream_skip(r->self, u)) return Qundef;
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
    run *r = arg;
    mp_stream *u = r->u;

    mp_stream_grown(u);
    if (u->position == MP_IN_FAILED && !mp_stream_skip(r->self, u)) return Qundef;
    if (u->position == MP_IN_OBJECT) {
        mp_stream_skip_rest(u, &u->more->d.tree, u->more->d.stack.values, MP_IN_SKIPPED);
    } else if (u->position == MP_AT_OBJECT) {
        mp_stream_begin_skip(u, MP_IN_SKIPPED);
        r->skipping = true;
    } else {
        u->more->slice = 0;
        u->position = MP_IN_SKIPPED;
    }
    return mp_stream_skip(r->self, u) ? Qnil : Qundef;
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

/* True if there was no memory to decode the object, and nothing has changed: the next read decodes it again. */
static bool
repeats_p(const run *r)
{
    return r->decoding && r->u->position == MP_AT_OBJECT && !r->d.may_call &&
           rb_obj_is_kind_of(rb_errinfo(), rb_eNoMemError);
}

/*
 * After an error: reading continues after the whole top-level object that failed or, if its end is unknown, the error
 * sticks. Without memory to note that, nothing has been consumed, and the next read starts with the same object.
 */
static void
after_error(run *r)
{
    mp_stream *u = r->u;
    mp_decoder *d = &r->d;

    /* No byte of the object to skip has come. */
    if (r->skipping && u->position == MP_IN_SKIPPED && u->origin == u->more->message) mp_stream_at_object(u);
    if ((!r->decoding && !u->position_unknown) || repeats_p(r)) return;
    mp_stream_grown(u);
    if (r->decoding) u->more->message = d->message;
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

static VALUE
run_ensure(VALUE arg)
{
    run *r = (run *)arg;
    mp_stream *u = r->u;

    if (r->yielding) u->more->yields--;
    if (MP_LIKELY(!r->at_work)) return Qnil;
    run_leave(r);
    if (!u->open) return Qnil;
    if (r->decoding && u->buffer && mp_loan_taken_p(&mp_buffer_get(u->buffer)->loan)) buffer_release(u);
    after_error(r);
    return Qnil;
}

static void
run_init(run *r, VALUE self, VALUE (*body)(void *))
{
    r->self = self;
    r->body = body;
    r->at_work = r->decoding = r->skipping = r->yielding = false;
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

/*
 * Sets *chunk to the chunk that starts with the next object, for the fast paths below, which need no decoder and no
 * rb_ensure. False without bytes, inside an object, or if there are limits to check.
 */
MP_INLINE bool
chunk_at_hand(const mp_stream *u, mp_chunk *chunk)
{
    *chunk = mp_stream_first_chunk(u);
    return chunk->len && u->position == MP_AT_OBJECT && !u->codec.options.limited &&
           (!u->more || (!u->more->sticky_error && !u->more->as)) && chunk->len <= u->codec.options.max_bytes;
}

/* Fast path (calls/feed_each) for a short, complete object. Qundef: take the slow path, as for containers. */
MP_INLINE VALUE
read_short(mp_stream *u)
{
    const uint8_t *start, *p;
    mp_chunk chunk;
    VALUE source, obj;

    if (!chunk_at_hand(u, &chunk)) return Qundef;
    source = chunk.str;
    start = p = mp_chunk_bytes(&chunk);
    if (MP_WIRE[*p].kind == MP_MAP || MP_WIRE[*p].kind == MP_ARRAY) return Qundef;
    obj = mp_fixint_p(*p) ? INT2FIX((int8_t)*p++) : mp_decode_short(&u->codec.options, &p, start + chunk.len);
    if (obj == Qundef) return Qundef;
    mp_stream_consume(u, (size_t)(p - start));
    RB_GC_GUARD(source);
    return obj;
}

VALUE
mp_unpacker_read(VALUE self, mp_stream *u)
{
    VALUE obj = read_short(u);

    RB_GC_GUARD(self); /* u is in it */
    if (MP_LIKELY(obj != Qundef)) return obj;
    if (MP_UNLIKELY(mp_stream_as(u) != 0)) return message_loaded(u, run_whole_with(self, slice_body));
    return run_whole_with(self, read_body);
}

/* Reads the next object or message of each. Qundef if the bytes end before or inside it. */
static VALUE
next_for_each(run *r)
{
    const bool loads = r->u->more->as != 0;
    VALUE obj = read_short(r->u);

    if (obj != Qundef) return obj;
    run_enter(r);
    obj = MP_UNLIKELY(loads) ? slice_object(r) : read_object(r);
    run_leave(r);
    return MP_UNLIKELY(loads) && obj != Qundef ? message_loaded(r->u, obj) : obj;
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
    if (!skip_in_chunk(mp_stream_for_read(self))) run_whole_with(self, skip_body);
    RB_GC_GUARD(self);
}

static VALUE
skip_failed_body(void *arg)
{
    const run *r = arg;

    if (r->u->position == MP_IN_FAILED) mp_stream_skip(r->self, r->u);
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
head_there(const run *r)
{
    mp_stream *u = r->u;
    uint64_t need;
    mp_blame here;

    mp_stream_grown(u);
    if (mp_stream_passing_p(u) && !mp_stream_skip(r->self, u)) return false;
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

    if (!head_there(r)) return Qundef;
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
    mp_stream *u = mp_stream_for_read(self);
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
    const run *r = arg;

    if (!head_there(r)) return Qundef;
    if (MP_WIRE[*mp_stream_front(r->u).at].kind != MP_NIL) return Qfalse;
    mp_stream_consume(r->u, 1);
    return Qtrue;
}

VALUE
mp_unpacker_skip_nil(VALUE self)
{
    mp_stream *u = mp_stream_for_read(self);
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

    mp_stream_grown(u)->message = u->origin;
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
