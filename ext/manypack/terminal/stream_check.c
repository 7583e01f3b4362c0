/*
 * Manypack::StreamCheck: walks over a stream in pieces and keeps none of them, so that even a single message may be
 * huge. Uses mp_split like parallel/splitter.c, which has to keep the bytes, because it hands them out in batches.
 */
#include "codec/codec.h"
#include "core/skip.h"
#include "core/wire.h"

typedef struct {
    mp_walk walk;      /* owns its memory */
    uint64_t passed;   /* offset of the first byte that is still to be walked over */
    uint64_t end;      /* offset of the end of the last complete message */
    uint64_t messages; /* number of complete messages */
    uint8_t head[MP_HEAD_MAX]; /* the start of a head that continues in the next piece */
    size_t head_size;
    bool failed;       /* no valid object is at the offset `passed` */
} checker;

static void
checker_free(void *ptr)
{
    xfree(((checker *)ptr)->walk.left);
    mp_typed_free(ptr);
}

static size_t
checker_memsize(const void *ptr)
{
    const checker *c = ptr;

    return mp_typed_memsize(sizeof(checker)) + c->walk.max_depth * sizeof(uint64_t);
}

/* Not shareable: every call changes it. It refers to no object. */
static const rb_data_type_t checker_type = {
    .wrap_struct_name = "Manypack::StreamCheck",
    .function = {.dfree = checker_free, .dsize = checker_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | MP_TYPED_EMBEDDABLE,
};

static checker *
checker_get(VALUE self)
{
    checker *c;

    TypedData_Get_Struct(self, checker, &checker_type, c);
    return c;
}

/* call-seq: StreamCheck.new(codec) -> check: with the max_depth of the Codec */
static VALUE
rb_checker_s_new(VALUE klass, VALUE codec)
{
    size_t max_depth = mp_unpack_max_depth(&mp_codec_get(codec)->options);
    checker *c;
    VALUE self = TypedData_Make_Struct(klass, checker, &checker_type, c);
    uint64_t *left = ALLOC_N(uint64_t, max_depth);

    mp_poison(left, max_depth * sizeof(uint64_t));
    mp_walk_init(&c->walk, left, max_depth);
    RB_GC_GUARD(codec);
    return self;
}

/* Walks over the bytes up to end, and sets *p to where it stopped. */
static mp_status
pass_on(checker *c, const uint8_t **p, const uint8_t *end)
{
    const uint8_t *start = *p;
    mp_run run = {.at = start, .cut = start};
    mp_status status = mp_split(&c->walk, &run, end, UINT64_MAX, UINT64_MAX);

    c->messages += run.objects;
    if (run.objects) c->end = c->passed + (uint64_t)(run.cut - start);
    c->passed += (uint64_t)(run.at - start);
    *p = run.at;
    return status;
}

/*
 * Walks over a head that began in the previous piece, on a copy of both parts. Sets *p to the next byte of this piece.
 */
static mp_status
skip_split_head(checker *c, const uint8_t **p, const uint8_t *end)
{
    uint8_t both[2 * MP_HEAD_MAX];
    size_t before = c->head_size, more = (size_t)(end - *p) < MP_HEAD_MAX ? (size_t)(end - *p) : MP_HEAD_MAX;
    const uint8_t *at = both;
    mp_status status;

    memcpy(both, c->head, before); /* not mp_copy: GCC would warn of an overflow */
    memcpy(both + before, *p, more);
    status = pass_on(c, &at, both + before + more);
    if (status != MP_OK && status != MP_E_TRUNCATED) return status; /* too deep, for example */
    if (at < both + before) { /* still incomplete, so the piece has ended: MP_HEAD_MAX bytes would be enough */
        memcpy(c->head + before, *p, more);
        c->head_size += more;
        *p = end;
        return status;
    }
    c->head_size = 0;
    *p += (size_t)(at - both) - before;
    return status;
}

/*
 * call-seq: check.pass(bytes) -> true or false
 *
 * Walks over the next piece of the stream. Returns false if it is no MessagePack at the offset `passed`, and from then
 * on.
 */
static VALUE
rb_checker_pass(VALUE self, VALUE bytes)
{
    checker *c = checker_get(self);
    const uint8_t *p, *end;
    mp_status status = MP_OK;

    StringValue(bytes);
    if (c->failed) return Qfalse;
    p = (const uint8_t *)RSTRING_PTR(bytes);
    end = p + RSTRING_LEN(bytes);
    if (c->head_size && p < end) status = skip_split_head(c, &p, end);
    if ((status == MP_OK || status == MP_E_TRUNCATED) && p < end) status = pass_on(c, &p, end);
    if (status == MP_E_TRUNCATED && p < end) {
        c->head_size = (size_t)(end - p);
        memcpy(c->head, p, c->head_size);
    }
    RB_GC_GUARD(bytes);
    c->failed = status != MP_OK && status != MP_E_TRUNCATED;
    return c->failed ? Qfalse : Qtrue;
}

/* call-seq: check.messages -> Integer: how many complete messages there were */
static VALUE
rb_checker_messages(VALUE self)
{
    return ULL2NUM(checker_get(self)->messages);
}

/* call-seq: check.whole -> Integer: the offset of the end of the last complete message */
static VALUE
rb_checker_whole(VALUE self)
{
    return ULL2NUM(checker_get(self)->end);
}

/* call-seq: check.passed -> Integer: the offset of the head to blame, or of the next byte to come */
static VALUE
rb_checker_passed(VALUE self)
{
    return ULL2NUM(checker_get(self)->passed);
}

/* call-seq: check.between? -> true or false: true if the pieces so far end where a message ends */
static VALUE
rb_checker_between_p(VALUE self)
{
    const checker *c = checker_get(self);

    return c->end == c->passed + c->head_size ? Qtrue : Qfalse;
}

void
Init_manypack_stream_check(void)
{
    VALUE cStreamCheck = rb_define_class_under(mp_mManypack, "StreamCheck", rb_cObject);

    rb_undef_alloc_func(cStreamCheck);
    rb_define_singleton_method(cStreamCheck, "new", rb_checker_s_new, 1);
    rb_define_method(cStreamCheck, "pass", rb_checker_pass, 1);
    rb_define_method(cStreamCheck, "messages", rb_checker_messages, 0);
    rb_define_method(cStreamCheck, "whole", rb_checker_whole, 0);
    rb_define_method(cStreamCheck, "passed", rb_checker_passed, 0);
    rb_define_method(cStreamCheck, "between?", rb_checker_between_p, 0);
    rb_funcall(mp_mManypack, rb_intern("private_constant"), 1, ID2SYM(rb_intern("StreamCheck")));
}
