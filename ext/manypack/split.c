/* Manypack::Parallel::Splitter: cuts a stream into batches of whole messages, which Ractors may have. */
#include "codec.h"
#include "decode.h"
#include "io.h"
#include "skip.h"
#include "wire.h"

typedef struct {
    VALUE pending;    /* the bytes that are not handed out are in it: what was fed last, or a String of its own */
    bool own;         /* nobody else has pending, so that it can be appended to */
    bool ended;       /* nobody knows where the next message starts */
    size_t start;     /* the first byte of pending that is not handed out */
    size_t cut, at;   /* where in pending the run is */
    uint64_t objects; /* whole ones from start to cut */
    size_t origin;    /* offset of the first byte of pending in the whole input */
    uint64_t index;   /* of the message at start */
    size_t max_bytes;
    mp_walk walk;
    uint64_t *left;   /* the walk's memory */
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
    xfree(((mp_splitter *)ptr)->left);
    mp_typed_free(ptr);
}

static size_t
splitter_memsize(const void *ptr)
{
    const mp_splitter *splitter = ptr;

    return mp_typed_memsize(sizeof(mp_splitter)) + (splitter->left ? splitter->walk.max_depth * sizeof(uint64_t) : 0);
}

/* Never shareable: it changes with every call. */
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

/* call-seq: Splitter.new(codec) -> splitter, with the limits of a Codec */
static VALUE
rb_splitter_s_new(VALUE klass, VALUE codec)
{
    const mp_options *options = &mp_codec_get(codec)->options;
    size_t max_depth = mp_unpack_max_depth(options);
    mp_splitter *splitter;
    VALUE self = TypedData_Make_Struct(klass, mp_splitter, &splitter_type, splitter);

    RB_OBJ_WRITE(self, &splitter->pending, rb_obj_freeze(rb_str_new(NULL, 0)));
    splitter->max_bytes = options->max_bytes;
    splitter->left = ALLOC_N(uint64_t, max_depth);
    mp_spoil(splitter->left, max_depth * sizeof(uint64_t));
    mp_walk_init(&splitter->walk, splitter->left, max_depth);
    RB_GC_GUARD(codec);
    return self;
}

/* Bytes that are not handed out. */
static size_t
pending_size(const mp_splitter *splitter)
{
    return (size_t)RSTRING_LEN(splitter->pending) - splitter->start;
}

/* Has pending start where what is not handed out does. */
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

/* call-seq: splitter.feed(string) -> splitter, which takes it as it is now, by reference where nothing is pending */
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

/* Goes on from start until so many objects or bytes are whole. Of a message above max_bytes only those are there. */
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

/* How many bytes of pending the last batch needs to make whoever decodes it raise what the status means. */
static size_t
end_of_error(const mp_splitter *splitter, mp_status status)
{
    size_t end = status == MP_E_TRUNCATED ? splitter->cut + splitter->max_bytes + 1 : splitter->at + MP_HEAD_MAX;

    return end < (size_t)RSTRING_LEN(splitter->pending) ? end : (size_t)RSTRING_LEN(splitter->pending);
}

/* The bytes from start to end as a batch: a frozen Array of them, the index of the first message, and its offset. */
static VALUE
batch_new(VALUE self, size_t end)
{
    mp_splitter *splitter = splitter_get(self);
    VALUE pending = splitter->pending;
    VALUE bytes = rb_str_new(RSTRING_PTR(pending) + splitter->start, (long)(end - splitter->start));
    VALUE values[3];

    RB_GC_GUARD(pending);
    RB_OBJ_FREEZE(bytes);
    values[0] = mp_obj_set_shareable(bytes);
    values[1] = ULL2NUM(splitter->index);
    values[2] = SIZET2NUM(splitter->origin + splitter->start);
    splitter->index += splitter->objects;
    splitter->objects = 0;
    splitter->start = splitter->cut = end;
    if (splitter->at < end) splitter->at = end;
    return mp_obj_set_shareable(rb_obj_freeze(rb_ary_new_from_values(3, values)));
}

/*
 * call-seq: splitter.take(objects, bytes, all) -> [bytes, index, offset] or nil
 *
 * The next batch: so many whole messages, or so many bytes of them. Where the bytes end before that it is nil, or with
 * all what is whole. A message with an error that cutting finds, or too long for max_bytes, ends the stream: it is in
 * the last batch as far as the error goes, for whoever decodes it to raise it.
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

/* call-seq: splitter.rest -> [bytes, index, offset] or nil: what is not handed out, whole or not, as the last batch */
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
 * Whether what was fed, and passed over by take, ends where a message does.
 */
static VALUE
rb_splitter_between_p(VALUE self)
{
    const mp_splitter *splitter = splitter_get(self);

    return splitter->cut == (size_t)RSTRING_LEN(splitter->pending) ? Qtrue : Qfalse;
}

/* call-seq: splitter.ended? -> true or false: whether the last batch was handed out */
static VALUE
rb_splitter_ended_p(VALUE self)
{
    return splitter_get(self)->ended ? Qtrue : Qfalse;
}

/* call-seq: splitter.missing -> Integer: bytes that the message at hand lacks, at least; after take */
static VALUE
rb_splitter_missing(VALUE self)
{
    const mp_splitter *splitter = splitter_get(self);
    const uint8_t *base = (const uint8_t *)RSTRING_PTR(splitter->pending);

    return ULL2NUM(mp_walk_missing(&splitter->walk, base + splitter->at, base + RSTRING_LEN(splitter->pending)));
}

/* call-seq: Splitter.read(io, size, missing) -> String or nil: reads from an io as an Unpacker does */
static VALUE
rb_splitter_s_read(VALUE klass, VALUE io, VALUE size, VALUE missing)
{
    return mp_io_read(io, NUM2SIZET(size), NUM2ULL(missing));
}

void
Init_manypack_split(void)
{
    VALUE cSplitter = rb_define_class_under(rb_define_module_under(mp_mManypack, "Parallel"), "Splitter", rb_cObject);

    rb_undef_alloc_func(cSplitter);
    rb_define_singleton_method(cSplitter, "new", rb_splitter_s_new, 1);
    rb_define_singleton_method(cSplitter, "read", rb_splitter_s_read, 3);
    rb_define_method(cSplitter, "feed", rb_splitter_feed, 1);
    rb_define_method(cSplitter, "take", rb_splitter_take, 3);
    rb_define_method(cSplitter, "rest", rb_splitter_rest, 0);
    rb_define_method(cSplitter, "between?", rb_splitter_between_p, 0);
    rb_define_method(cSplitter, "ended?", rb_splitter_ended_p, 0);
    rb_define_method(cSplitter, "missing", rb_splitter_missing, 0);
}
