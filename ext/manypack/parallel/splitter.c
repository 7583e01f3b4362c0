/*
 * Manypack::Parallel::Splitter: splits a stream into shareable batches of complete messages. mp_split of core/skip.h
 * finds the ends of messages; this file holds the bytes and decides where to cut them.
 */
#include "base/io.h"
#include "codec/codec.h"
#include "core/skip.h"
#include "core/wire.h"

#include <ruby/ractor.h>

typedef struct {
    VALUE pending;    /* the String with the bytes that are not in a batch yet */
    bool own;         /* pending was made here, and no batch has it yet: it can be appended to */
    bool ended;       /* no more batches: the rest was taken, or the next message's start is unknown */
    size_t start;     /* first byte of pending that is not in a batch */
    size_t cut;       /* where the last complete message after start ends */
    size_t at;        /* where the walk through the next message is */
    uint64_t objects; /* complete messages from start to cut */
    size_t origin;    /* offset of pending in the whole input */
    uint64_t index;   /* number of the message at start */
    size_t max_bytes;
    mp_walk walk;     /* owns its memory */
} mp_splitter;

static void
splitter_mark(void *ptr)
{
    rb_gc_mark_movable(((mp_splitter *)ptr)->pending);
}

static void
splitter_compact(void *ptr)
{
    mp_splitter *splitter = ptr;

    splitter->pending = rb_gc_location(splitter->pending);
}

static void
splitter_free(void *ptr)
{
    xfree(((mp_splitter *)ptr)->walk.left);
    mp_typed_free(ptr);
}

static size_t
splitter_memsize(const void *ptr)
{
    const mp_splitter *splitter = ptr;

    return mp_typed_memsize(sizeof(mp_splitter)) + splitter->walk.max_depth * sizeof(uint64_t);
}

/* Not shareable: every call changes it. */
static const rb_data_type_t splitter_type = {
    .wrap_struct_name = "Manypack::Parallel::Splitter",
    .function =
        {.dmark = splitter_mark, .dfree = splitter_free, .dsize = splitter_memsize, .dcompact = splitter_compact},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static mp_splitter *
splitter_get(VALUE self)
{
    mp_splitter *splitter;

    TypedData_Get_Struct(self, mp_splitter, &splitter_type, splitter);
    return splitter;
}

/* call-seq: Splitter.new(codec) -> splitter: with the limits of the Codec */
static VALUE
rb_splitter_s_new(VALUE klass, VALUE codec)
{
    const mp_options *options = &mp_codec_get(codec)->options;
    size_t max_depth = mp_unpack_max_depth(options);
    mp_splitter *splitter;
    VALUE self = TypedData_Make_Struct(klass, mp_splitter, &splitter_type, splitter);
    uint64_t *left;

    RB_OBJ_WRITE(self, &splitter->pending, rb_obj_freeze(rb_str_new(NULL, 0)));
    splitter->max_bytes = options->max_bytes;
    left = ALLOC_N(uint64_t, max_depth);
    mp_poison(left, max_depth * sizeof(uint64_t));
    mp_walk_init(&splitter->walk, left, max_depth);
    RB_GC_GUARD(codec);
    return self;
}

/* The number of bytes that are not in a batch yet. */
static size_t
pending_size(const mp_splitter *splitter)
{
    return (size_t)RSTRING_LEN(splitter->pending) - splitter->start;
}

/* Replaces pending with a String of the bytes that are not in a batch yet. */
static void
pending_replace(VALUE self, VALUE string, bool own)
{
    mp_splitter *splitter = splitter_get(self);

    RB_OBJ_WRITE(self, &splitter->pending, string);
    splitter->own = own;
    splitter->origin += splitter->start;
    splitter->cut -= splitter->start;
    splitter->at -= splitter->start;
    splitter->start = 0;
}

/*
 * call-seq: splitter.feed(string) -> splitter
 *
 * Appends the bytes of a String. It is copied only if other bytes are pending. Changing it afterwards has no effect.
 */
static VALUE
rb_splitter_feed(VALUE self, VALUE string)
{
    mp_splitter *splitter;
    size_t size;

    StringValue(string); /* first: it may run user code */
    splitter = splitter_get(self);
    size = pending_size(splitter);
    if (!size) {
        pending_replace(self, rb_str_new_frozen(string), false);
        return self;
    }
    if (!splitter->own || splitter->start) {
        VALUE rest = splitter->pending, own = rb_str_buf_new((long)size + RSTRING_LEN(string));
        rb_str_cat(own, RSTRING_PTR(rest) + splitter->start, (long)size);
        RB_GC_GUARD(rest);
        pending_replace(self, own, true);
    }
    rb_str_cat(splitter->pending, RSTRING_PTR(string), RSTRING_LEN(string));
    RB_GC_GUARD(string);
    return self;
}

/*
 * Walks on until `objects` messages or `bytes` bytes of them are complete. The walk sees at most max_bytes of a
 * message.
 */
static mp_status
split_on(mp_splitter *splitter, uint64_t objects, uint64_t bytes)
{
    const uint8_t *base = (const uint8_t *)RSTRING_PTR(splitter->pending), *end = base + RSTRING_LEN(splitter->pending);
    bool limited = splitter->max_bytes < (size_t)(end - base) - splitter->cut;
    mp_run run = {.at = base + splitter->at, .cut = base + splitter->cut, .objects = splitter->objects,
                  .bytes = splitter->cut - splitter->start};
    mp_status status;

    do {
        bool nearer = limited && splitter->max_bytes < (size_t)(end - run.cut);
        const uint8_t *limit = nearer ? run.cut + splitter->max_bytes : end;
        uint64_t most = limited && run.objects < objects ? run.objects + 1 : objects;

        status = mp_split(&splitter->walk, &run, limit, most, bytes);
    } while (status == MP_OK && run.objects < objects && run.bytes < bytes);
    splitter->at = (size_t)(run.at - base);
    splitter->cut = (size_t)(run.cut - base);
    splitter->objects = run.objects;
    return status;
}

/* The offset at which the last batch must end so that decoding it raises the error of the status. */
static size_t
end_of_error(const mp_splitter *splitter, mp_status status)
{
    size_t end = status == MP_E_TRUNCATED ? splitter->cut + splitter->max_bytes + 1 : splitter->at + MP_HEAD_MAX;

    return end < (size_t)RSTRING_LEN(splitter->pending) ? end : (size_t)RSTRING_LEN(splitter->pending);
}

/*
 * Makes the batch of the bytes from start to end, a shareable Array; see take. Copies the bytes only if pending cannot
 * be shared: a fed String may share its bytes with a mutable one.
 */
static VALUE
batch_new(VALUE self, size_t end)
{
    mp_splitter *splitter = splitter_get(self);
    VALUE pending = splitter->pending, values[5], batch;
    size_t start = splitter->start;

    values[0] = pending;
    if (splitter->own) {
        mp_obj_set_shareable(rb_obj_freeze(pending));
        splitter->own = false;
    } else if (!rb_ractor_shareable_p(pending)) {
        VALUE copy = rb_str_new(RSTRING_PTR(pending) + start, (long)(end - start));
        values[0] = mp_obj_set_shareable(rb_obj_freeze(copy));
        start = 0;
    }
    RB_GC_GUARD(pending);
    values[1] = SIZET2NUM(start);
    values[2] = SIZET2NUM(end - splitter->start);
    values[3] = ULL2NUM(splitter->index);
    values[4] = SIZET2NUM(splitter->origin + splitter->start);
    batch = rb_ary_new_from_values(5, values); /* first: after NoMemoryError the bytes are still pending */
    splitter->index += splitter->objects;
    splitter->objects = 0;
    splitter->start = splitter->cut = end;
    if (splitter->at < end) splitter->at = end;
    return mp_obj_set_shareable(rb_obj_freeze(batch));
}

/*
 * call-seq: splitter.take(objects, bytes, all) -> [bytes, start, size, index, offset] or nil
 *
 * Returns the next batch: a frozen String, the start and size of the batch in it, and the index and offset of its first
 * message in the whole input. A batch is full when it has `objects` complete messages or `bytes` bytes of them. If
 * there are fewer messages, returns nil or, if `all` is true, a batch of them. A message that is malformed or longer
 * than max_bytes ends the stream: the last batch has as many bytes of it as decoding needs to raise the error.
 */
static VALUE
rb_splitter_take(VALUE self, VALUE objects, VALUE bytes, VALUE all)
{
    mp_splitter *splitter = splitter_get(self);
    mp_status status;

    if (splitter->ended) return Qnil;
    status = split_on(splitter, NUM2ULL(objects), NUM2ULL(bytes));
    if (status == MP_OK) return batch_new(self, splitter->cut);
    if (status != MP_E_TRUNCATED || (size_t)RSTRING_LEN(splitter->pending) - splitter->cut > splitter->max_bytes) {
        splitter->ended = true;
        return batch_new(self, end_of_error(splitter, status));
    }
    return RTEST(all) && splitter->objects ? batch_new(self, splitter->cut) : Qnil;
}

/* call-seq: splitter.rest -> the last batch or nil: has all bytes that are left, even of an incomplete message */
static VALUE
rb_splitter_rest(VALUE self)
{
    mp_splitter *splitter = splitter_get(self);

    if (splitter->ended || !pending_size(splitter)) return Qnil;
    splitter->ended = true;
    return batch_new(self, (size_t)RSTRING_LEN(splitter->pending));
}

/*
 * call-seq: splitter.between? -> true or false
 *
 * Returns true if the bytes that were fed end where a message ends. Call it after take.
 */
static VALUE
rb_splitter_between_p(VALUE self)
{
    const mp_splitter *splitter = splitter_get(self);

    return splitter->cut == (size_t)RSTRING_LEN(splitter->pending) ? Qtrue : Qfalse;
}

/* call-seq: splitter.ended? -> true or false: true after the last batch */
static VALUE
rb_splitter_ended_p(VALUE self)
{
    return splitter_get(self)->ended ? Qtrue : Qfalse;
}

/* call-seq: splitter.index -> Integer: how many complete messages came so far; call it after take */
static VALUE
rb_splitter_index(VALUE self)
{
    const mp_splitter *splitter = splitter_get(self);

    return ULL2NUM(splitter->index + splitter->objects);
}

/* call-seq: splitter.missing -> Integer: how many bytes the current message lacks, at least; call it after take */
static VALUE
rb_splitter_missing(VALUE self)
{
    const mp_splitter *splitter = splitter_get(self);
    const uint8_t *base = (const uint8_t *)RSTRING_PTR(splitter->pending);

    return ULL2NUM(mp_walk_missing(&splitter->walk, base + splitter->at, base + RSTRING_LEN(splitter->pending)));
}

/* call-seq: Splitter.read(io, size, missing) -> String or nil: reads from an io as an Unpacker does; nil at the end */
static VALUE
rb_splitter_s_read(VALUE klass, VALUE io, VALUE size, VALUE missing)
{
    mp_io_end end = {.of_any_class = false};

    return mp_io_read(io, mp_io_way_of(io), NUM2SIZET(size), NUM2ULL(missing), 0, &end);
}

/*
 * call-seq: Splitter.frozen(string) -> String
 *
 * Returns a frozen String with the same bytes, which later changes of the original do not affect; or the String itself
 * if it is frozen. Not a dup, which shares the bytes of another String, so that Ruby would copy them to make it
 * shareable.
 */
static VALUE
rb_splitter_s_frozen(VALUE klass, VALUE string)
{
    return rb_str_new_frozen(StringValue(string));
}

void
Init_manypack_splitter(void)
{
    VALUE cSplitter = rb_define_class_under(rb_define_module_under(mp_mManypack, "Parallel"), "Splitter", rb_cObject);

    rb_undef_alloc_func(cSplitter);
    rb_define_singleton_method(cSplitter, "new", rb_splitter_s_new, 1);
    rb_define_singleton_method(cSplitter, "frozen", rb_splitter_s_frozen, 1);
    rb_define_singleton_method(cSplitter, "read", rb_splitter_s_read, 3);
    rb_define_method(cSplitter, "feed", rb_splitter_feed, 1);
    rb_define_method(cSplitter, "take", rb_splitter_take, 3);
    rb_define_method(cSplitter, "rest", rb_splitter_rest, 0);
    rb_define_method(cSplitter, "between?", rb_splitter_between_p, 0);
    rb_define_method(cSplitter, "ended?", rb_splitter_ended_p, 0);
    rb_define_method(cSplitter, "index", rb_splitter_index, 0);
    rb_define_method(cSplitter, "missing", rb_splitter_missing, 0);
}
