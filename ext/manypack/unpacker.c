/* Manypack::Unpacker: unpacks what is fed or read from an io, and can stop at every byte. */
#include "unpacker.h"

#include "buffer.h"
#include "decode.h"
#include "error.h"
#include "io.h"
#include "skip.h"
#include "ractor.h"
#include "wire.h"

/* What the first bytes of the buffer are. */
typedef enum {
    AT_OBJECT,  /* the start of an object */
    IN_OBJECT,  /* in the middle of one that is being read; tree and values say where */
    IN_SKIPPED, /* in the middle of one that is being skipped; walk says where */
    IN_FAILED,  /* in the middle of one that raised, of which nobody wants the rest; walk says where */
} position;

/* Containers that an object being skipped may have open before there is memory for more. */
enum { FIRST_PLACES = 16 };

typedef struct {
    VALUE buffer;         /* over a body: one that refuses all use, once somebody has asked for it; 0 before */
    VALUE broken;         /* the error after which nobody knows where the next object starts: every read raises it; 0 */
    position position;
    bool open;            /* between initialize, or the start of a body, and the end of the body */
    bool running;         /* a method is at work */
    bool lost;            /* the error on its way will break it */
    uint32_t yields;      /* blocks of each that have an object, some of them left by their Fibers */
    bool body;            /* over the body of an ext, of body_type: its bytes are in piece, not in the buffer */
    int8_t body_type;
    bool keyed;           /* maps may be open in the tree */
    size_t origin;        /* offset of the first byte of the buffer in all that was fed or read */
    size_t message;       /* offset of the object at hand */
    mp_codec codec;
    mp_chunk piece;       /* what is left of the body */
    mp_around around;     /* the body; its objects go on counting */
    mp_tree tree;
    VALUE *values;        /* the value stack of an unfinished object, in a block of values_owner */
    size_t value_capacity;
    VALUE values_owner;
    mp_walk walk;
    uint64_t *left;       /* the walk's memory, */
    size_t places;        /* of so many numbers */
    VALUE inner;          /* of a body: an Unpacker for the bodies inside it, when none is being unpacked; 0 */
    VALUE flags;          /* of the object when it was made */
} mp_unpacker;

MP_STATIC_ASSERT(unpacker_fits_a_slot_of_640, sizeof(mp_unpacker) <= 608);
MP_STATIC_ASSERT(unpacker_is_hot_in_one_cache_line, offsetof(mp_unpacker, codec) <= 48);

static void
unpacker_mark(void *ptr)
{
    const mp_unpacker *u = ptr;

    if (u->buffer) rb_gc_mark_movable(u->buffer);
    if (u->codec.object) rb_gc_mark_movable(u->codec.object);
    if (u->broken) rb_gc_mark_movable(u->broken);
    if (u->piece.str) rb_gc_mark_movable(u->piece.str);
    if (u->inner) rb_gc_mark_movable(u->inner);
    if (u->values_owner) rb_gc_mark(u->values_owner);
}

static void
unpacker_compact(void *ptr)
{
    mp_unpacker *u = ptr;

    if (u->buffer) u->buffer = rb_gc_location(u->buffer);
    if (u->codec.object) u->codec.object = rb_gc_location(u->codec.object);
    if (u->broken) u->broken = rb_gc_location(u->broken);
    if (u->piece.str) u->piece.str = rb_gc_location(u->piece.str);
    if (u->inner) u->inner = rb_gc_location(u->inner);
}

static void
unpacker_free(void *ptr)
{
    mp_unpacker *u = ptr;

    mp_spoil(u->left, u->places * sizeof(uint64_t));
    xfree(u->left);
    mp_typed_free(ptr);
}

static size_t
unpacker_memsize(const void *ptr)
{
    const mp_unpacker *u = ptr;

    return mp_typed_memsize(sizeof(mp_unpacker)) + u->places * sizeof(uint64_t) +
           u->value_capacity * sizeof(VALUE);
}

/* Never shareable: it changes with every call. */
static const rb_data_type_t unpacker_type = {
    .wrap_struct_name = "Manypack::Unpacker",
    .function =
        {.dmark = unpacker_mark, .dfree = unpacker_free, .dsize = unpacker_memsize, .dcompact = unpacker_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static VALUE cUnpacker;

/* Valid while the caller has self on its stack. RuntimeError before initialize and after mp_unpacker_end_body. */
static mp_unpacker *
unpacker_get(VALUE self)
{
    mp_unpacker *u = mp_typed_data(self);

    if (MP_UNLIKELY(!u->open)) {
        rb_raise(rb_eRuntimeError, "Unpacker cannot be used: its block or handler has ended, or it is not initialized");
    }
    return u;
}

/* For methods that read: not while another one is at work, nor while the Buffer is being written somewhere. */
static mp_unpacker *
unpacker_for_read(VALUE self)
{
    mp_unpacker *u = unpacker_get(self);

    if (MP_UNLIKELY(u->running || (!u->body && mp_buffer_get(u->buffer)->taken))) {
        mp_raise_in_use("Unpacker");
    }
    return u;
}

/* For methods that do more than read: not over the body of an ext either. */
static mp_unpacker *
unpacker_for_change(VALUE self)
{
    mp_unpacker *u = unpacker_for_read(self);

    if (MP_UNLIKELY(u->body)) mp_raise_in_use("Unpacker");
    return u;
}

static VALUE
unpacker_allocate(VALUE klass)
{
    mp_unpacker *u;
    VALUE self = TypedData_Make_Struct(klass, mp_unpacker, &unpacker_type, u);

    u->flags = mp_flags(self);
    return self;
}

static void
codec_set(VALUE self, const mp_codec *codec)
{
    mp_unpacker *u = mp_typed_data(self);
    bool written = u->codec.object == codec->object; /* of one that is used again */

    u->codec = *codec;
    if (!written) RB_OBJ_WRITTEN(self, Qundef, codec->object);
}

static void
buffer_set(VALUE self, VALUE buffer)
{
    mp_unpacker *u = mp_typed_data(self);

    if (u->buffer != buffer) RB_OBJ_WRITE(self, &u->buffer, buffer);
    mp_buffer_get(buffer)->owner = MP_OF_UNPACKER;
}

static void
unpacker_init(VALUE self, const mp_codec *codec, VALUE buffer)
{
    mp_unpacker *u = mp_typed_data(self);

    codec_set(self, codec);
    buffer_set(self, buffer);
    u->open = true;
}

VALUE
mp_unpacker_with_codec(VALUE codec_object, int argc, const VALUE *argv, int api)
{
    VALUE self = unpacker_allocate(cUnpacker), io, options;
    mp_codec codec;

    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_source(io, api);
    mp_codec_override(&codec, codec_object, options, api | MP_WITH_BUFFER);
    unpacker_init(self, &codec, mp_buffer_new(io, options));
    return self;
}

/* --- where it is ------------------------------------------------------------------------------------ */

/* The chunk with the first bytes, NULL when there are none. */
MP_INLINE const mp_chunk *
first_chunk(const mp_unpacker *u)
{
    if (!u->body) return mp_buffer_first(mp_buffer_get(u->buffer));
    return u->piece.len ? &u->piece : NULL;
}

/* Drops what was decoded or passed over. */
static void
consume(mp_unpacker *u, size_t n)
{
    u->origin += n;
    if (u->body) {
        u->piece.at += n;
        u->piece.len -= n;
    } else {
        mp_buffer_consume(u->buffer, n);
    }
}

/* Forgets the unfinished object and its values. */
static void
at_object(mp_unpacker *u)
{
    u->position = AT_OBJECT;
    u->values = NULL;
    u->value_capacity = 0;
    u->values_owner = 0;
}

/* Forgets all that it was told: the next object is the first one. */
static void
start_anew(mp_unpacker *u)
{
    at_object(u);
    u->origin = u->message = 0;
    u->lost = false;
    u->broken = 0;
}

/* How deep a walk may get; for the body of an ext it depends on where that is. */
static size_t
walk_most(const mp_unpacker *u)
{
    return mp_unpack_max_depth(&u->codec.options) - u->around.depth;
}

/* Lets the walk be that many containers deep. */
static void
walk_reserve(mp_unpacker *u, size_t places)
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
walk_init(mp_unpacker *u, uint64_t objects)
{
    size_t most = walk_most(u);

    mp_walk_init(&u->walk, u->left, u->places < most ? u->places : most);
    u->walk.objects = objects;
}

static bool
walk_may_deepen(const mp_unpacker *u)
{
    return u->walk.max_depth < walk_most(u);
}

/* Doubles the places of a walk that is as deep as it has places, up to its limit. */
static void
walk_deepen(mp_unpacker *u)
{
    size_t most = walk_most(u), places = u->walk.max_depth * 2;

    if (places < FIRST_PLACES) places = FIRST_PLACES;
    walk_reserve(u, places < most ? places : most);
}

/* From now on it is in the middle of an object, where tree is, that is only passed over. */
static void
pass_over_rest(mp_unpacker *u, const mp_tree *tree, const VALUE *values, position why)
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
front(const mp_unpacker *u)
{
    const mp_chunk *chunk = first_chunk(u);
    mp_blame blame = {.start = (const uint8_t *)"", .origin = u->origin};

    if (chunk) blame.start = mp_chunk_bytes(chunk);
    blame.at = blame.start;
    blame.end = blame.start + (chunk ? chunk->len : 0);
    if (!u->body) blame.behind = mp_buffer_get(u->buffer)->size - (size_t)(blame.end - blame.start);
    return blame;
}

NORETURN(static void raise_truncated(const mp_unpacker *u));

/* The input ends in the middle of an object, or before one. */
static void
raise_truncated(const mp_unpacker *u)
{
    if (u->body) mp_raise_past_body(u->body_type, u->origin);
    mp_raise_status(MP_E_TRUNCATED, front(u));
}

/* LimitError when the object at hand, whole or not, has more bytes than it may; ahead of them are not consumed yet. */
static void
check_max_bytes(mp_unpacker *u, size_t ahead, bool whole)
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
bytes_there(mp_unpacker *u, uint64_t n, uint64_t whole)
{
    const mp_buffer *buffer;

    if (u->body) return u->piece.len >= n;
    buffer = mp_buffer_get(u->buffer);
    while (buffer->size < n) {
        check_max_bytes(u, buffer->size, false);
        if (!mp_buffer_read_io(u->buffer, whole > buffer->size ? whole - buffer->size : 1)) return false;
    }
    mp_buffer_gather(u->buffer, (size_t)n);
    return true;
}

/* Whether its io waits for all that it is asked for. */
static bool
reads_exactly_p(const mp_unpacker *u)
{
    return !u->body && mp_buffer_get(u->buffer)->reads_exactly;
}

/* While it decodes with user code inside, nobody else may have its Buffer. */
static void
buffer_take(mp_unpacker *u, bool taken)
{
    if (!u->body) mp_buffer_get(u->buffer)->taken = taken;
}

/* --- one object ------------------------------------------------------------------------------------- */

/* A method of an Unpacker. What it has to give back while it is at work is given back whatever happens. */
typedef struct {
    VALUE self;
    mp_unpacker *u;
    VALUE (*body)(void *run);
    bool at_work;
    bool decoding;
    bool yielding; /* the block of each has an object */
    bool begun;    /* the object was, by decode_front */
    uint64_t need; /* bytes from the front on without which the decoder cannot go on; 0 where it can */
    bool cut;     /* the decoder had no more bytes than max_bytes leaves to the object at hand, and there are more */
    mp_decoder d;
} run;

/* From here on the Unpacker is this method's. */
static void
run_enter(run *r)
{
    r->u = unpacker_for_read(r->self);
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

NORETURN(static void raise_lost(mp_unpacker *u, mp_status status, uint64_t objects, mp_blame blame));

/* After this error, in a message of so many objects, nobody knows where the next object starts. */
static void
raise_lost(mp_unpacker *u, mp_status status, uint64_t objects, mp_blame blame)
{
    u->lost = true;
    if (mp_limit_p(status)) mp_raise_limit(status, &u->codec.options.limits, objects, blame);
    mp_raise_status(status, blame);
}

/* Walks on, without allocating. */
static mp_status
walk_on(mp_unpacker *u, const uint8_t **p, const uint8_t *end)
{
    if (MP_UNLIKELY(u->codec.options.limited)) return mp_skip_limited(&u->walk, p, end, &u->codec.options.limits);
    return mp_skip(&u->walk, p, end);
}

/* Bytes that the object has at least from p on, where the walk stopped: only an io that waits for all asks for them. */
static uint64_t
walk_whole(const mp_unpacker *u, const uint8_t *p, const uint8_t *end)
{
    if (!reads_exactly_p(u)) return 0;
    return (uint64_t)(end - p) + mp_walk_missing(&u->walk, p, end);
}

/* Goes on with the walk. false when the bytes end first. */
static bool
pass_over(mp_unpacker *u)
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

/* Keeps where the decoder is until there are more bytes. */
static void
suspend(run *r)
{
    mp_unpacker *u = r->u;

    if (!r->d.tree.depth) return; /* outside of all containers there is nothing to keep */
    if (r->d.tree.count && !r->d.stack.owner) mp_value_stack_move(&r->d.stack, r->d.tree.count, r->d.tree.count + 62);
    u->position = IN_OBJECT;
    u->tree = r->d.tree;
    u->keyed = r->d.ractor != NULL;
    u->values = r->d.stack.values;
    u->value_capacity = r->d.stack.capacity;
    RB_OBJ_WRITE(r->self, &u->values_owner, r->d.stack.owner);
}

/* Before the first object that a method reads. */
static void
decoder_for(run *r)
{
    mp_decoder_init(&r->d, &r->u->codec);
    r->d.source_own = true;
    r->d.outer_depth = r->u->around.depth;
    r->d.outer_keys = r->u->around.keys;
    if (r->u->body) r->d.max_depth = r->u->around.max_depth;
}

/* Has the decoder go on where the Unpacker is. */
static void
resume(run *r)
{
    mp_unpacker *u = r->u;

    mp_decoder_restart(&r->d, u->origin);
    if (u->position != IN_OBJECT) {
        r->d.tree.objects += u->around.objects;
        u->message = u->origin;
        return;
    }
    r->d.tree = u->tree;
    if (u->keyed) r->d.ractor = mp_ractor_current();
    if (u->values_owner) {
        r->d.stack.values = u->values;
        r->d.stack.capacity = u->value_capacity;
        r->d.stack.owner = u->values_owner;
    }
}

/* Decodes the first chunk, and drops what it decoded of it. Qundef when the object does not end there. */
static VALUE
decode_front(run *r)
{
    mp_unpacker *u = r->u;
    const mp_chunk *chunk = first_chunk(u);
    size_t allowed = u->codec.options.max_bytes - (u->origin - u->message);
    VALUE obj;

    r->cut = chunk && chunk->len > allowed;
    r->need = 1;
    if (!chunk) return Qundef;
    r->decoding = true;
    buffer_take(u, true);
    r->d.committed = false;
    mp_decoder_source(&r->d, chunk->str, mp_chunk_bytes(chunk), r->cut ? allowed : chunk->len);
    obj = mp_decode_on(&r->d);
    unpacker_get(r->self); /* raises where this was a body, whose end came while a Fiber had stopped in here */
    buffer_take(u, false);
    r->decoding = false;
    if (obj == Qundef) r->need = mp_object_need(r->d.at, r->d.end);
    consume(u, mp_decoder_detach(&r->d));
    return obj;
}

/* Reads until the bytes that the decoder needs are there. false when the input ends before. */
static bool
need_there(const run *r)
{
    uint64_t whole = r->need;

    if (reads_exactly_p(r->u)) whole += mp_tree_missing(&r->d.tree, r->d.stack.values);
    return bytes_there(r->u, r->need, whole);
}

/* The object is whole, and was consumed. */
static VALUE
object_read(run *r, VALUE obj)
{
    mp_unpacker *u = r->u;

    mp_decoder_cleanup(&r->d);
    at_object(u);
    u->around.objects = u->body ? r->d.tree.objects : 0;
    check_max_bytes(u, 0, true);
    return obj;
}

/* The object that decode_front has begun and not ended. Qundef when the bytes end before it does. */
static VALUE
read_on(run *r)
{
    mp_unpacker *u = r->u;
    VALUE obj;

    do {
        if (MP_UNLIKELY(r->need && r->cut)) {
            /* The rest is not built: wherever it ends, or the bytes do, is too far for check_max_bytes. */
            pass_over_rest(u, &r->d.tree, r->d.stack.values, IN_FAILED);
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

/* The next object, with a decoder that decoder_for made. Qundef when the bytes end before it does. */
static VALUE
read_object(run *r)
{
    VALUE obj;

    if (r->u->position > IN_OBJECT && !pass_over(r->u)) return Qundef;
    resume(r);
    obj = decode_front(r);
    return obj == Qundef ? read_on(r) : object_read(r, obj);
}

/* After the last object that a method reads. */
static void
keep_inner(const run *r)
{
    if (MP_LIKELY(!r->d.inner)) return;
    if (r->u->body) RB_OBJ_WRITE(r->self, &r->u->inner, r->d.inner);
    else mp_unpacker_keep_for_bodies(r->d.inner);
}

static VALUE
read_body(void *arg)
{
    run *r = arg;
    VALUE obj;

    r->d.inner = r->u->inner;
    r->u->inner = 0;
    obj = r->begun ? read_on(r) : read_object(r);
    keep_inner(r);
    return obj;
}

/* While the block has an object, the Unpacker is not at work: the block may use it, and break out. */
static VALUE
each_body(void *arg)
{
    run *r = arg;
    VALUE obj;

    decoder_for(r);
    while ((obj = read_object(r)) != Qundef) {
        run_leave(r);
        r->yielding = true;
        r->u->yields++;
        rb_yield(obj);
        r->u->yields--;
        r->yielding = false;
        run_enter(r);
    }
    keep_inner(r);
    return Qnil;
}

static VALUE
skip_body(void *arg)
{
    mp_unpacker *u = ((run *)arg)->u;

    if (u->position == IN_FAILED && !pass_over(u)) return Qundef;
    if (u->position == IN_OBJECT) {
        mp_tree tree = u->tree;
        pass_over_rest(u, &tree, u->values, IN_SKIPPED);
    } else if (u->position == AT_OBJECT) {
        walk_init(u, u->around.objects + 1);
        u->message = u->origin;
        u->position = IN_SKIPPED;
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
    mp_unpacker *u = r->u;

    if (r->decoding && r->d.committed) {
        consume(u, mp_decoder_detach(&r->d));
        pass_over_rest(u, &r->d.tree, r->d.stack.values, IN_FAILED);
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
    mp_unpacker *u = r->u;

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

    if (MP_UNLIKELY(result == Qundef)) raise_truncated(unpacker_get(self));
    return result;
}

/* Whether the next object may be read without a limit to check, and nothing of it was read before. */
MP_INLINE bool
read_plainly_p(const mp_unpacker *u)
{
    return u->position == AT_OBJECT && !u->broken && !u->codec.options.limited;
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
    mp_unpacker *u = r->u;
    VALUE obj;

    resume(r);
    r->d.plain = true;
    mp_decoder_source(&r->d, chunk->str, mp_chunk_bytes(chunk), chunk->len);
    u->running = true;
    buffer_take(u, true);
    obj = mp_decode_on(&r->d);
    buffer_take(u, false);
    u->running = false;
    if (obj == Qundef) r->need = r->d.stopped ? 0 : mp_object_need(r->d.at, r->d.end);
    consume(u, mp_decoder_detach(&r->d));
    if (u->body) u->around.objects = r->d.tree.objects;
    return obj;
}

/* The next object of an Unpacker that may be read. */
static VALUE
read_next(VALUE self, mp_unpacker *u)
{
    const mp_chunk *chunk = first_chunk(u);
    run r;
    VALUE obj;

    run_init(&r, self, read_body);
    r.u = u;
    decoder_for(&r);
    if (MP_LIKELY(chunk) && read_plainly_p(u) && chunk->len <= u->codec.options.max_bytes) {
        obj = read_plain(&r, chunk);
        if (MP_LIKELY(obj != Qundef)) {
            mp_decoder_cleanup(&r.d);
            return obj;
        }
        r.d.plain = r.cut = false;
        r.begun = true;
    }
    obj = run_ensured(&r);
    if (MP_UNLIKELY(obj == Qundef)) raise_truncated(unpacker_get(self));
    return obj;
}

/*
 * The next object where it is a short one that is all there, or Qundef: a handler reads many of these, and they need no
 * decoder.
 */
static VALUE
read_short(mp_unpacker *u)
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

/* --- headers ---------------------------------------------------------------------------------------- */

/* Has the head of the next object at the front of the buffer. false when its bytes are not to be had. */
static bool
head_there(mp_unpacker *u)
{
    uint64_t need;
    mp_blame here;

    if (u->position > IN_OBJECT && !pass_over(u)) return false;
    if (u->position == IN_OBJECT) {
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
read_header(mp_unpacker *u, mp_kind kind)
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

static VALUE
skip_nil_body(void *arg)
{
    mp_unpacker *u = ((run *)arg)->u;

    if (!head_there(u)) return Qundef;
    if (MP_WIRE[*front(u).at].kind != MP_NIL) return Qfalse;
    consume(u, 1);
    return Qtrue;
}

/* --- used by others --------------------------------------------------------------------------------- */

/* Closes an idle one, and frees what only a deep object needs. */
static void
set_aside(mp_unpacker *u)
{
    u->open = false;
    if (u->places <= FIRST_PLACES) return;
    mp_spoil(u->left, u->places * sizeof(uint64_t));
    xfree(u->left);
    u->left = NULL;
    u->places = 0;
}

VALUE
mp_unpacker_borrow(VALUE codec)
{
    VALUE self = mp_spare_take(&mp_ractor_current()->spares.unpacker);
    const mp_unpacker *u;

    if (MP_UNLIKELY(!self)) {
        self = unpacker_allocate(cUnpacker);
        unpacker_init(self, mp_codec_get(codec), mp_buffer_new(Qnil, Qnil));
        return rb_obj_freeze(self); /* for a block alone: it takes no types and no instance variables */
    }
    u = mp_typed_data(self);
    mp_buffer_reopen(u->buffer);
    unpacker_init(self, mp_codec_get(codec), u->buffer);
    return self;
}

void
mp_unpacker_give_back(VALUE self)
{
    mp_unpacker *u = rb_check_typeddata(self, &unpacker_type);

    if (u->running || u->yields || !mp_buffer_reusable_p(u->buffer)) return;
    mp_buffer_set_aside(u->buffer);
    start_anew(u);
    set_aside(u);
    mp_ractor_current()->spares.unpacker = self;
}

/* Bodies inside each other whose Unpackers are kept. */
enum { SPARE_BODIES = 8 };

void
mp_unpacker_keep_for_bodies(VALUE self)
{
    VALUE one = self;
    int count;

    for (count = 1; one; count++) {
        mp_unpacker *u = mp_typed_data(one);
        u->piece.str = 0;
        set_aside(u);
        if (count == SPARE_BODIES) u->inner = 0;
        one = u->inner;
    }
    mp_ractor_current()->spares.body = self;
}

VALUE
mp_unpack_io(VALUE io, const mp_codec *codec)
{
    VALUE self = unpacker_allocate(cUnpacker), buffer = mp_buffer_new(io, Qnil), obj;
    const mp_unpacker *u;

    unpacker_init(self, codec, buffer);
    obj = read_next(self, unpacker_get(self));
    u = unpacker_get(self);
    if (mp_buffer_get(buffer)->size) mp_raise_extra_bytes(mp_buffer_get(buffer)->size, u->origin);
    RB_GC_GUARD(self);
    return obj;
}

/* Whether nobody is at work on one whose body has ended, and no user code made it its own. */
static bool
body_reusable_p(VALUE self)
{
    const mp_unpacker *u = mp_typed_data(self);

    return !u->running && RBASIC_CLASS(self) == cUnpacker && u->flags == mp_flags(self);
}

VALUE
mp_unpacker_for_body(VALUE used, const mp_codec *codec, const mp_type *type, VALUE source, size_t at, size_t n,
                     size_t offset, mp_around around)
{
    VALUE self = used && body_reusable_p(used) ? used : unpacker_allocate(cUnpacker);
    mp_unpacker *u = mp_typed_data(self);

    codec_set(self, codec);
    start_anew(u);
    u->body = true;
    u->body_type = type->type;
    u->around = around;
    u->origin = offset;
    u->piece.at = at;
    u->piece.len = n;
    if (u->piece.str != source) RB_OBJ_WRITE(self, &u->piece.str, source);
    u->open = true;
    return self;
}

/* Over a body it is made when somebody asks for it. */
static VALUE
unpacker_buffer(VALUE self)
{
    const mp_unpacker *u = unpacker_get(self);
    VALUE buffer = u->buffer;

    if (buffer) return buffer;
    buffer = mp_buffer_new(Qnil, Qnil);
    mp_buffer_get(buffer)->taken = true;
    buffer_set(self, buffer);
    return buffer;
}

uint64_t
mp_unpacker_end_body(VALUE self)
{
    mp_unpacker *u = unpacker_get(self);
    size_t left = u->piece.len;
    bool whole = u->position == AT_OBJECT && left == 0;

    u->open = false;
    if (u->buffer) {
        mp_buffer_close(u->buffer);
        u->buffer = 0;
    }
    if (!whole && left == 0) mp_raise_past_body(u->body_type, u->origin);
    if (!whole) mp_raise_unread_body(u->body_type, left, u->origin);
    return u->around.objects;
}

/* --- Manypack::Unpacker ----------------------------------------------------------------------------- */

/*
 * call-seq: Manypack::Unpacker.new(io = nil, options = nil) -> unpacker
 *
 * Creates an Unpacker for the bytes that you feed it, or for an io. The options, a Hash, are those of Manypack.unpack
 * and Manypack::Buffer.new; limits apply to each object of the stream. Raises TypeError for an io that cannot be read
 * from, and TypeError, RangeError or ArgumentError for invalid or unknown options.
 *
 *   unpacker = Manypack::Unpacker.new(symbolize_keys: true)
 *   unpacker.feed_each("\x81\xA1a\x01\x81") { |object| p object } # {a: 1}
 *   unpacker.feed_each("\xA1b\x02") { |object| p object }         # {b: 2}
 */
static VALUE
rb_unpacker_initialize(int argc, VALUE *argv, VALUE self)
{
    mp_unpacker *u;
    VALUE io, options, buffer;
    mp_codec codec;

    rb_check_frozen(self);
    TypedData_Get_Struct(self, mp_unpacker, &unpacker_type, u);
    mp_scan_io_options(argc, argv, &io, &options);
    mp_check_source(io, MP_SHARED);
    mp_codec_override(&codec, mp_plain_codec(), options, MP_SHARED | MP_WITH_BUFFER);
    buffer = mp_buffer_new(io, options);
    /* Not sooner: the io, which was asked what it responds to, may have initialized it. */
    if (u->buffer || u->body) rb_raise(rb_eRuntimeError, "Unpacker is initialized already");
    unpacker_init(self, &codec, buffer);
    return self;
}

/*
 * call-seq: unpacker.buffer -> Buffer
 *
 * The Buffer with the bytes that were fed and are not unpacked yet.
 *
 *   Manypack::Unpacker.new.feed("\x01\x02").buffer.size #=> 2
 */
static VALUE
rb_unpacker_buffer(VALUE self)
{
    return unpacker_buffer(self);
}

/*
 * call-seq:
 *   unpacker.feed(string) -> unpacker
 *   unpacker.feed_reference(string) -> unpacker
 *
 * Appends bytes: a short String as a copy, a long one by reference to its current content. Raises TypeError for
 * anything that is not a String, and RuntimeError while the Unpacker is in use.
 *
 *   Manypack::Unpacker.new.feed("\x92\x01").feed("\x02").read #=> [1, 2]
 */
static VALUE
rb_unpacker_feed(VALUE self, VALUE string)
{
    StringValue(string);
    mp_buffer_for_change(unpacker_for_change(self)->buffer);
    mp_buffer_feed(unpacker_get(self)->buffer, string);
    return self;
}

/*
 * call-seq:
 *   unpacker.read -> object
 *   unpacker.unpack -> object
 *
 * Returns the next object. Raises TruncatedError (an EOFError) if it is incomplete: feed the rest and read again, or
 * reset.
 *
 * After any other error, the next read continues with the next object if it is known where that starts: it skips the
 * whole top-level object that failed. If that is not known, every read raises the same error until reset. This is so
 * after 0xc1, after too much nesting, and after an exceeded limit, except max_bytes when all of the object is there.
 *
 * If a Fiber leaves a read half done, in a handler or while it waits for the io, the Unpacker stays in use and raises
 * RuntimeError.
 *
 *   Manypack::Unpacker.new.feed("\x92\x01\x02").read #=> [1, 2]
 */
static VALUE
rb_unpacker_read(VALUE self)
{
    mp_unpacker *u = unpacker_for_read(self);
    VALUE obj = read_short(u);

    return obj != Qundef ? obj : read_next(self, u);
}

/*
 * call-seq: unpacker.full_unpack -> object
 *
 * Returns the only object there is. Raises the errors of read, and MalformedFormatError if more bytes follow.
 *
 *   Manypack::Unpacker.new.feed("\x91\x01").full_unpack #=> [1]
 */
static VALUE
rb_unpacker_full_unpack(VALUE self)
{
    VALUE obj;
    const mp_unpacker *u;

    obj = read_next(self, unpacker_for_change(self));
    u = unpacker_get(self);
    if (mp_buffer_get(u->buffer)->size) mp_raise_extra_bytes(mp_buffer_get(u->buffer)->size, u->origin);
    return obj;
}

/*
 * call-seq:
 *   unpacker.each { |object| ... } -> nil
 *   unpacker.each -> Enumerator
 *
 * Yields each object until the bytes end. If the last object is incomplete, feed the rest later and call each again.
 * Raises the other errors of read.
 *
 *   Manypack::Unpacker.new.feed("\x01\x02").each.to_a #=> [1, 2]
 */
static VALUE
rb_unpacker_each(VALUE self)
{
    RETURN_ENUMERATOR(self, 0, 0);
    unpacker_for_change(self);
    return run_with(self, each_body);
}

/*
 * call-seq:
 *   unpacker.feed_each(string) { |object| ... } -> nil
 *   unpacker.feed_each(string) -> Enumerator
 *
 * Calls feed and then each, with the errors of both.
 *
 *   Manypack::Unpacker.new.feed_each("\x01\x02").to_a #=> [1, 2]
 */
static VALUE
rb_unpacker_feed_each(VALUE self, VALUE string)
{
    RETURN_ENUMERATOR(self, 1, &string);
    rb_unpacker_feed(self, string);
    return rb_unpacker_each(self);
}

/*
 * call-seq: unpacker.skip -> nil
 *
 * Skips the next object, or the rest of one that was read in part, without building or calling anything. Raises
 * TruncatedError if it is incomplete: feed the rest and skip again. Raises MalformedFormatError, StackError and
 * LimitError as read does, but looks at head bytes only: it does not check what is inside a str, a timestamp or an ext,
 * or which keys a map has.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x91\x01\x02")
 *   unpacker.skip #=> nil
 *   unpacker.read #=> 2
 */
static VALUE
rb_unpacker_skip(VALUE self)
{
    return run_whole(self, skip_body);
}

/*
 * call-seq: unpacker.skip_nil -> true or false
 *
 * Skips the next object if it is nil, and returns whether it was. Raises TruncatedError if there are no bytes.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\xC0\x01")
 *   unpacker.skip_nil #=> true
 *   unpacker.skip_nil #=> false
 */
static VALUE
rb_unpacker_skip_nil(VALUE self)
{
    return run_whole(self, skip_nil_body);
}

/*
 * call-seq: unpacker.read_array_header -> Integer
 *
 * Reads the header of an array and returns the number of its elements, which come next. Raises UnexpectedTypeError for
 * any other object, and then has read nothing; TruncatedError if the header is incomplete; and LimitError above
 * max_array_size or max_map_size, from then on until reset.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x92\x01\x02")
 *   unpacker.read_array_header #=> 2
 *   unpacker.read #=> 1
 */
static VALUE
rb_unpacker_read_array_header(VALUE self)
{
    return run_whole(self, array_header_body);
}

/*
 * call-seq: unpacker.read_map_header -> Integer
 *
 * Reads the header of a map and returns the number of its pairs; keys and values come next, in turn. Raises the errors
 * of read_array_header.
 *
 *   Manypack::Unpacker.new.feed("\x81\xA1a\x01").read_map_header #=> 1
 */
static VALUE
rb_unpacker_read_map_header(VALUE self)
{
    return run_whole(self, map_header_body);
}

/*
 * call-seq: unpacker.reset -> nil
 *
 * Discards all bytes and errors. Raises RuntimeError while the Unpacker is in use.
 *
 *   unpacker = Manypack::Unpacker.new.feed("\x92\x01")
 *   unpacker.reset #=> nil
 *   unpacker.feed("\x02").read #=> 2
 */
static VALUE
rb_unpacker_reset(VALUE self)
{
    mp_unpacker *u = unpacker_for_change(self);

    mp_buffer_for_change(u->buffer);
    mp_buffer_clear(u->buffer);
    start_anew(u);
    return Qnil;
}

/*
 * call-seq: unpacker.symbolize_keys? -> true or false
 *
 * True if the option symbolize_keys is set.
 *
 *   Manypack::Unpacker.new(symbolize_keys: true).symbolize_keys? #=> true
 */
static VALUE
rb_unpacker_symbolize_keys_p(VALUE self)
{
    return unpacker_get(self)->codec.options.symbolize_keys ? Qtrue : Qfalse;
}

/*
 * call-seq: unpacker.freeze? -> true or false
 *
 * True if the option freeze is set.
 *
 *   Manypack::Unpacker.new(freeze: true).freeze? #=> true
 */
static VALUE
rb_unpacker_freeze_p(VALUE self)
{
    return unpacker_get(self)->codec.options.freeze ? Qtrue : Qfalse;
}

/*
 * call-seq: unpacker.allow_unknown_ext? -> true or false
 *
 * True if the option allow_unknown_ext is set.
 *
 *   Manypack::Unpacker.new(allow_unknown_ext: true).allow_unknown_ext? #=> true
 */
static VALUE
rb_unpacker_allow_unknown_ext_p(VALUE self)
{
    return unpacker_get(self)->codec.options.allow_unknown_ext ? Qtrue : Qfalse;
}

/* What lib/manypack/unpacker.rb builds register_type on. */
static VALUE
rb_unpacker_register_type_internal(VALUE self, VALUE type, VALUE klass, VALUE handler)
{
    mp_unpacker *u = unpacker_for_change(self);
    VALUE codec;

    rb_check_frozen(self);
    codec = mp_codec_with_type(u->codec.object, type, klass, Qnil, handler, Qnil);

    u = unpacker_for_change(self);
    u->codec.types = mp_codec_get(codec)->types;
    RB_OBJ_WRITE(self, &u->codec.object, codec);
    return Qnil;
}

static VALUE
rb_unpacker_registered_types_internal(VALUE self)
{
    return mp_codec_unpackers(unpacker_get(self)->codec.object);
}

/*
 * Document-class: Manypack::Unpacker
 *
 * Unpacks a stream of objects. The stream may stop at any byte; feed the rest, or let the Unpacker read it from the io,
 * later. One reader at a time: a call in the middle of another raises RuntimeError.
 */
void
Init_manypack_unpacker(void)
{
    VALUE mManypack = rb_define_module("Manypack"); /* in every file: RDoc reads each by itself */

    cUnpacker = rb_define_class_under(mManypack, "Unpacker", rb_cObject);
    rb_gc_register_mark_object(cUnpacker);
    rb_define_alloc_func(cUnpacker, unpacker_allocate);
    rb_undef_method(cUnpacker, "initialize_copy");
    rb_undef_method(cUnpacker, "dup");
    rb_undef_method(cUnpacker, "clone");

    rb_define_method(cUnpacker, "initialize", rb_unpacker_initialize, -1);
    rb_define_method(cUnpacker, "buffer", rb_unpacker_buffer, 0);
    rb_define_method(cUnpacker, "feed", rb_unpacker_feed, 1);
    rb_define_method(cUnpacker, "feed_reference", rb_unpacker_feed, 1);
    rb_define_method(cUnpacker, "read", rb_unpacker_read, 0);
    rb_define_method(cUnpacker, "unpack", rb_unpacker_read, 0);
    rb_define_method(cUnpacker, "full_unpack", rb_unpacker_full_unpack, 0);
    rb_define_method(cUnpacker, "each", rb_unpacker_each, 0);
    rb_define_method(cUnpacker, "feed_each", rb_unpacker_feed_each, 1);
    rb_define_method(cUnpacker, "skip", rb_unpacker_skip, 0);
    rb_define_method(cUnpacker, "skip_nil", rb_unpacker_skip_nil, 0);
    rb_define_method(cUnpacker, "read_array_header", rb_unpacker_read_array_header, 0);
    rb_define_method(cUnpacker, "read_map_header", rb_unpacker_read_map_header, 0);
    rb_define_method(cUnpacker, "reset", rb_unpacker_reset, 0);
    rb_define_method(cUnpacker, "symbolize_keys?", rb_unpacker_symbolize_keys_p, 0);
    rb_define_method(cUnpacker, "freeze?", rb_unpacker_freeze_p, 0);
    rb_define_method(cUnpacker, "allow_unknown_ext?", rb_unpacker_allow_unknown_ext_p, 0);
    rb_define_private_method(cUnpacker, "register_type_internal", rb_unpacker_register_type_internal, 3);
    rb_define_private_method(cUnpacker, "registered_types_internal", rb_unpacker_registered_types_internal, 0);
}
