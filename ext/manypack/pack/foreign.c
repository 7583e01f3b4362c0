/* Packs objects for which MessagePack has no type of its own. Here user code is called: handlers and to_msgpack. */
#include "pack/foreign.h"

#include "base/error.h"
#include "base/moment.h"
#include "base/pack_error.h"
#include "base/user_code.h"
#include "core/wire.h"
#include "pack/packer.h"

/* Set once, while the extension is loaded. */
static const rb_data_type_t *slice_type;
static mp_slice (*slice_of)(VALUE obj);

/* Set once, while Record is loaded. */
static VALUE attached_module;
static VALUE (*attached_type_of)(VALUE obj);
static VALUE (*attached_dump)(VALUE type, VALUE obj, const mp_codec *codec, uint32_t depth, mp_notes *notes);

/* --- ext -------------------------------------------------------------------------------------------- */

static MP_NOINLINE void
encode_ext_bytes(mp_encoder *e, int type, const void *bytes, uint32_t n)
{
    uint8_t *p = mp_out_reserve(&e->out, MP_HEAD_MAX + (size_t)n);

    p = mp_put_ext_head(p, (int8_t)type, n);
    mp_copy(p, bytes, n);
    mp_out_commit(&e->out, p + n);
}

void
mp_encode_ext(mp_encoder *e, int type, VALUE payload)
{
    uint32_t n;

    StringValue(payload);
    n = mp_encoder_length(e, payload, (size_t)RSTRING_LEN(payload));
    encode_ext_bytes(e, type, RSTRING_PTR(payload), n);
    RB_GC_GUARD(payload);
}

/* Writes seconds and nanoseconds as a timestamp, under any ext type. Raises the errors of mp_moment. */
static void
encode_timestamp(mp_encoder *e, int type, VALUE sec, VALUE nsec)
{
    uint8_t body[MP_TIMESTAMP_MAX];
    mp_timestamp timestamp = mp_moment(sec, nsec, &e->place, e->codec->options.of_gem);

    encode_ext_bytes(e, type, body, (uint32_t)mp_timestamp_put(body, timestamp));
}

typedef struct {
    VALUE time, sec, nsec;
} time_parts;

static VALUE
call_for_parts(VALUE arg)
{
    time_parts *parts = (time_parts *)arg;

    parts->sec = rb_funcallv(parts->time, rb_intern("tv_sec"), 0, NULL);
    parts->nsec = rb_funcallv(parts->time, rb_intern("tv_nsec"), 0, NULL);
    return Qnil;
}

static VALUE
parts_of_time(VALUE arg)
{
    time_parts *parts = (time_parts *)arg;
    struct timespec ts = rb_time_timespec(parts->time);

    parts->sec = LL2NUM(ts.tv_sec);
    parts->nsec = LONG2FIX(ts.tv_nsec);
    return Qnil;
}

/* Called after the ArgumentError for a Time that does not fit a struct timespec. */
static VALUE
parts_beyond_range(VALUE arg, VALUE error)
{
    return call_for_parts(arg);
}

static VALUE
parts_of(VALUE arg)
{
    if (MP_UNLIKELY(rb_obj_class(((const time_parts *)arg)->time) != rb_cTime)) return call_for_parts(arg);
    return rb_rescue2(parts_of_time, arg, parts_beyond_range, arg, rb_eArgError, (VALUE)0);
}

/*
 * Writes a Time or another object with tv_sec and tv_nsec. Those methods may be user code, which may itself pack and
 * fail.
 */
MP_INLINE void
encode_time(mp_encoder *e, int type, VALUE time)
{
    time_parts parts = {.time = time};

    if (MP_LIKELY(rb_obj_class(time) == rb_cTime)) mp_encoder_call_taken(e, parts_of, (VALUE)&parts);
    else mp_encoder_call_placed(e, parts_of, (VALUE)&parts);
    encode_timestamp(e, type, parts.sec, parts.nsec);
}

/* Writes an ExtensionValue as the ext that it describes. */
static void
encode_extension_value(mp_encoder *e, VALUE obj)
{
    VALUE type = RSTRUCT_GET(obj, 0), payload = RSTRUCT_GET(obj, 1);

    if (!RB_INTEGER_TYPE_P(type)) {
        mp_encoder_raise(e, rb_eTypeError, NULL, "the type of an ExtensionValue must be an Integer, got %" PRIsVALUE,
                         rb_obj_class(type));
    }
    if (!mp_ext_type_p(type)) {
        mp_encoder_raise(e, rb_eRangeError, NULL,
                         "the type of an ExtensionValue must be in -128..127, got %" PRIsVALUE, type);
    }
    if (!RB_TYPE_P(payload, T_STRING)) {
        mp_encoder_raise(e, rb_eTypeError, NULL,
                         "the payload of an ExtensionValue must be a String, got %" PRIsVALUE, rb_obj_class(payload));
    }
    mp_encode_ext(e, FIX2INT(type), payload);
}

/* --- user code -------------------------------------------------------------------------------------- */

/* Moves the window from the block or the String to the Buffer of a Packer, for user code to write to. */
static void
leave_for_packer(mp_encoder *e)
{
    uint8_t *bytes = e->out.start;
    size_t size = mp_out_size(&e->out);

    e->packer = mp_packer_new(e->codec, &e->buffer);
    mp_encoder_window_on_buffer(e, 0, size + 1);
    memcpy(e->out.start, bytes, size);
    mp_poison(bytes, size);
    e->out.pos = e->out.start + size;
    e->str = 0;
}

/* Advice on how to pack an object that has no to_msgpack. */
static VALUE
way_to_pack(VALUE obj)
{
    VALUE common;

    if (RTEST(rb_obj_is_kind_of(obj, rb_cTime))) {
        return rb_str_new_cstr("pack with timestamp: true, or register_common(:time) on a Factory");
    }
    if (rb_obj_class(obj) == mp_cTimestamp) {
        return rb_sprintf("pack with timestamp: true, or register_type(-1, %" PRIsVALUE ") on a Factory",
                          mp_cTimestamp);
    }
    common = rb_funcall(mp_mArguments, rb_intern("common_type"), 1, rb_obj_class(obj));
    if (RTEST(common)) return common;
    if (RB_TYPE_P(obj, T_STRUCT)) {
        return rb_str_new_cstr("attach a Manypack::Record of its class, dump it by that Record, or register an ext "
                               "type for it by Factory#register_type with record:");
    }
    return rb_str_new_cstr("register an ext type for it by Factory#register_type");
}

/* Raises the NoMethodError of a missing to_msgpack, with its receiver, which callers may read. */
void
mp_raise_unpackable(mp_encoder *e, VALUE obj)
{
    VALUE path = mp_error_path(e->place), message, keywords = rb_hash_new();
    bool of_gem = e->codec->options.of_gem;
    VALUE argv[4], klass = mp_encode_error_class(rb_eNoMethodError, of_gem);

    rb_hash_aset(keywords, ID2SYM(rb_intern("receiver")), obj);
    message = rb_enc_sprintf(mp_utf8, "undefined method 'to_msgpack' for an instance of %" PRIsVALUE ", at %" PRIsVALUE
                             "; %" PRIsVALUE, rb_obj_class(obj), mp_error_path_shown(path), way_to_pack(obj));
    argv[0] = message;
    argv[1] = ID2SYM(rb_intern("to_msgpack"));
    argv[2] = rb_ary_new();
    if (of_gem && e->packer) rb_ary_push(argv[2], e->packer); /* as in the msgpack gem; Marshal cannot dump it */
    argv[3] = keywords;
    mp_raise_pack_error(rb_class_new_instance_kw(4, argv, klass, RB_PASS_KEYWORDS), message, path, of_gem);
}

/* A call of user code to pack an object. */
typedef struct {
    mp_encoder *e;
    VALUE obj;
    const mp_type *type; /* NULL to call obj.to_msgpack */
} user_call;

/* Calls obj.to_msgpack(packer) or a recursive handler. Qundef if obj has no to_msgpack. */
static VALUE
call_with_packer(VALUE arg)
{
    const user_call *call = (const user_call *)arg;
    VALUE argv[2] = {call->obj, call->e->packer};

    if (call->type) return mp_handler_call(&call->type->handler, 2, argv);
    return rb_check_funcall(call->obj, rb_intern("to_msgpack"), 1, &argv[1]);
}

/* The bytes of the Buffer from an offset to its end. During a loan, all written bytes are in one block. */
static const uint8_t *
written_since(mp_bytes *bytes, size_t start)
{
    return mp_bytes_end(bytes) - (bytes->size - start);
}

/* The path of the object that user code was about to write, found from the bytes that it has written so far. */
static VALUE
path_after(const mp_encoder *e, const user_call *call, size_t start)
{
    mp_bytes *bytes = &mp_buffer_get(e->buffer)->bytes;
    VALUE path = mp_error_path(e->place), written, inner;

    if (call->type || bytes->size <= start) return path;
    written = rb_str_new((const char *)written_since(bytes, start), (long)(bytes->size - start));
    inner = mp_error_path_of(written, 0, bytes->size - start);
    return NIL_P(inner) ? path : mp_error_path_join(path, inner);
}

NORETURN(static void user_code_left(mp_encoder *e, const user_call *call, size_t start, bool returned, int state));

/* Passes on the exception, throw or kill that ended user code. Prepends our path to an error of packing. */
static void
user_code_left(mp_encoder *e, const user_call *call, size_t start, bool returned, int state)
{
    VALUE error = mp_user_error();

    if (!mp_pack_error_p(error)) {
        if (mp_user_error_of_depth_p(error, e->depth)) mp_encoder_raise_too_deep(e);
        rb_jump_tag(state);
    }
    e->place = e->place->up;
    mp_raise_pack_error_below(error, returned ? path_after(e, call, start) : mp_error_path(e->place),
                              e->codec->options.of_gem);
}

NORETURN(static void raise_written(const mp_encoder *e, const user_call *call, mp_written written, VALUE result));

static void
raise_written(const mp_encoder *e, const user_call *call, mp_written written, VALUE result)
{
    static const char *const found[] = {"", "nothing", "only a part of one", "more", "bytes that are no object"};
    bool returned = written == MP_WROTE_NOTHING && RB_TYPE_P(result, T_STRING);
    const char *hint = returned ? "; it returned a String: call packer.write instead" : NULL;

    if (written == MP_WROTE_TOO_DEEP) {
        mp_raise_nesting(mp_encoder_containers(e->codec), mp_error_path(e->place), e->codec->options.of_gem);
    }
    if (call->type) {
        mp_encoder_raise(e, rb_eArgError, NULL,
                         "the packer of ext type %d for %" PRIsVALUE " must write whole objects to the Packer, but "
                         "wrote %s",
                         call->type->type, rb_obj_class(call->obj), found[written]);
    }
    mp_encoder_raise(e, rb_eArgError, hint,
                     "to_msgpack of %" PRIsVALUE " must write exactly one object to the Packer, but wrote %s",
                     rb_obj_class(call->obj), found[written]);
}

/*
 * Checks the bytes that user code wrote from an offset on. `notes` are the notes taken meanwhile. Returns how many
 * levels of containers they have.
 */
static MP_NOINLINE uint32_t
check_written(mp_encoder *e, const user_call *call, size_t start, mp_notes notes, VALUE result)
{
    mp_bytes *bytes = &mp_buffer_get(e->buffer)->bytes;
    uint64_t few[MP_DEFAULT_MAX_DEPTH];
    mp_levels levels = {.left = few, .room = e->max_depth - e->depth - (call->type != NULL)};
    size_t most = bytes->size - start < levels.room ? bytes->size - start : levels.room;
    VALUE memory = 0;
    mp_written written;

    if (MP_UNLIKELY(most > MP_DEFAULT_MAX_DEPTH)) levels.left = ALLOCV_N(uint64_t, memory, most);
    written = mp_written_check(written_since(bytes, start), start, bytes->size, notes, call->type != NULL, &levels);
    if (MP_UNLIKELY(written != MP_WROTE_WHOLE)) raise_written(e, call, written, result);
    ALLOCV_END(memory);
    return levels.most;
}

/* Notes a checked object, so that a check of the user code around this write, if any, skips it. */
static void
note_object(mp_encoder *e, size_t start, size_t end, uint32_t levels, bool always)
{
    if (!e->keeps_notes && !mp_buffer_get(e->buffer)->loan.depth) return;
    e->notes = mp_notes_add(e->notes, start, end, levels, always);
}

/*
 * Lets user code write the object to e->packer, checks the bytes, and sets *levels to how deep they are nested. Commits
 * this encoder's bytes to the Buffer first; afterwards the encoder continues after the bytes of the user code. False if
 * the object has no to_msgpack.
 */
static bool
call_with_window_lent(mp_encoder *e, VALUE obj, const mp_type *type, uint32_t *levels)
{
    user_call call = {.e = e, .obj = obj, .type = type};
    mp_place place = {.key = Qundef};
    mp_notes outer, notes = 0;
    mp_buffer *buffer;
    mp_loan_saved saved;
    uint32_t calls;
    bool returned;
    int state;
    size_t start;
    VALUE result;

    if (MP_UNLIKELY(mp_stack_used_up_p())) mp_encoder_raise_too_deep(e);
    if (!e->packer) leave_for_packer(e);
    e->max_depth += !type; /* a call of to_msgpack is a level, but no container */
    mp_encoder_open(e, &place);
    mp_encoder_commit_early(e);
    buffer = mp_buffer_get(e->buffer);
    start = buffer->bytes.size;
    outer = mp_packer_set_notes(e->packer, 0);
    calls = mp_packer_calls(mp_packer_get(e->packer));
    mp_packer_set_calls(e->packer, calls + !type);
    saved = mp_loan_lend(&buffer->loan, e->depth);
    result = rb_protect(call_with_packer, (VALUE)&call, &state);
    returned = mp_loan_return(&buffer->loan, &buffer->bytes, saved);
    if (MP_LIKELY(returned) || !buffer->loan.depth) { /* otherwise calls and notes are those of another write */
        mp_packer_set_calls(e->packer, calls);
        notes = mp_packer_set_notes(e->packer, outer);
    }
    if (MP_UNLIKELY(state)) user_code_left(e, &call, start, returned, state);
    if (MP_UNLIKELY(!returned)) mp_raise_in_use("Packer");
    mp_encoder_window_on_buffer(e, 0, 1);
    e->max_depth -= !type;
    mp_encoder_close(e, &place);
    if (MP_UNLIKELY(result == Qundef)) return false;
    *levels = check_written(e, &call, start, notes, result);
    if (!type) note_object(e, start, buffer->bytes.size, *levels, notes != 0);
    return true;
}

/*
 * Writes an ext whose body the handler writes to the Packer. The head is inserted afterwards, when the length is known.
 */
static void
encode_recursive(mp_encoder *e, VALUE obj, const mp_type *type)
{
    uint8_t head[MP_HEAD_MAX];
    size_t start, size, head_size;
    uint32_t levels;
    uint8_t *body;

    if (!e->packer) leave_for_packer(e);
    start = mp_buffer_get(e->buffer)->bytes.size + mp_out_size(&e->out);
    call_with_window_lent(e, obj, type, &levels);
    size = mp_buffer_get(e->buffer)->bytes.size - start;
    head_size = (size_t)(mp_put_ext_head(head, type->type, mp_encoder_length(e, obj, size)) - head);
    mp_out_reserve(&e->out, head_size);
    body = e->out.start - size; /* bytes committed during a loan are in one block */
    memmove(body + head_size, body, size);
    memcpy(body, head, head_size);
    mp_out_commit(&e->out, e->out.start + head_size);
    note_object(e, start, start + head_size + size, levels + 1, true);
}

/* Calls a handler and converts its result to a String if possible. */
static VALUE
call_packer(VALUE arg)
{
    const user_call *call = (const user_call *)arg;
    VALUE body = mp_handler_call(&call->type->handler, 1, &call->obj), string = rb_check_string_type(body);

    return NIL_P(string) ? body : string;
}

static void
encode_returned(mp_encoder *e, VALUE obj, const mp_type *type)
{
    user_call call = {.e = e, .obj = obj, .type = type};
    VALUE body = mp_encoder_call_placed(e, call_packer, (VALUE)&call);

    if (MP_UNLIKELY(!RB_TYPE_P(body, T_STRING))) {
        mp_encoder_raise(e, rb_eTypeError, NULL,
                         "the packer of ext type %d for %" PRIsVALUE " must return a String, got %" PRIsVALUE,
                         type->type, type->klass, rb_obj_class(body));
    }
    mp_encode_ext(e, type->type, body);
}

uint8_t *
mp_encode_typed(mp_encoder *e, uint8_t *p, VALUE obj, const mp_type *type)
{
    mp_out_commit(&e->out, p);
    mp_type_check(type);
    if (type->recursive) encode_recursive(e, obj, type);
    else if (type->timestamp) encode_time(e, type->type, obj);
    else encode_returned(e, obj, type);
    return e->out.pos;
}

/* Remembers the last class, because the objects of a list are often of one class. */
const mp_type *
mp_foreign_type(mp_encoder *e, VALUE obj)
{
    if (!e->codec->types) return NULL;
    if (e->last_class != CLASS_OF(obj)) {
        e->last_type = mp_types_for_object(e->codec->types, obj);
        e->last_class = CLASS_OF(obj);
    }
    return e->last_type;
}

/* Copies the bytes of an object that is packed already. The levels inside of it are not counted. */
static void
encode_slice(mp_encoder *e, VALUE obj)
{
    mp_slice slice = slice_of(obj);
    const uint8_t *bytes;

    mp_out_reserve(&e->out, slice.size); /* before RSTRING_PTR: it allocates, which may move an embedded source */
    bytes = (const uint8_t *)RSTRING_PTR(slice.source) + slice.offset;
    if (MP_UNLIKELY(e->depth == e->max_depth) && mp_holds_objects_p(bytes, bytes + slice.size)) {
        mp_encoder_raise_too_deep(e);
    }
    mp_out_write(&e->out, bytes, slice.size);
    RB_GC_GUARD(slice.source);
}

/* A call that packs an object by the Record that is attached to its class. */
typedef struct {
    mp_encoder *e;
    VALUE obj;
    mp_notes notes;
    bool keeps_notes;
} attached_call;

/* The packed object, or Qfalse if its to_msgpack is not the Record's. Caches the Type of the last class. */
static VALUE
call_attached(VALUE arg)
{
    attached_call *call = (attached_call *)arg;
    mp_encoder *e = call->e;

    if (e->attached_class != CLASS_OF(call->obj)) {
        e->attached_type = attached_type_of(call->obj);
        e->attached_class = CLASS_OF(call->obj);
    }
    if (!RTEST(e->attached_type)) return Qfalse;
    return attached_dump(e->attached_type, call->obj, e->codec, mp_encoder_open_containers(e),
                         call->keeps_notes ? &call->notes : NULL);
}

/* True if the object may have an attached Record. */
static bool
attached_p(const mp_encoder *e, VALUE obj)
{
    if (e->attached_class == CLASS_OF(obj)) return e->attached_type != Qfalse;
    return attached_module && RTEST(rb_obj_is_kind_of(obj, attached_module));
}

/*
 * Fast path (middle/pack attached Records): writes what to_msgpack of an attached Record would write, without a Packer,
 * a loan and a check. False if the object has no such to_msgpack.
 */
static bool
encode_attached(mp_encoder *e, VALUE obj)
{
    attached_call call = {.e = e, .obj = obj};
    mp_buffer *buffer = e->buffer ? mp_buffer_get(e->buffer) : NULL;
    size_t start = (buffer ? buffer->bytes.size : 0) + mp_out_size(&e->out);
    VALUE bytes;

    if (!attached_p(e, obj)) return false;
    if (MP_UNLIKELY(mp_stack_used_up_p())) mp_encoder_raise_too_deep(e);
    call.keeps_notes = e->keeps_notes || (buffer && buffer->loan.depth);
    bytes = mp_encoder_call_placed(e, call_attached, (VALUE)&call);
    if (bytes == Qfalse) return false;
    mp_out_write(&e->out, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
    if (MP_LIKELY(!call.notes)) return true;
    mp_notes_move(call.notes, start);
    e->notes = mp_notes_join(e->notes, call.notes);
    return true;
}

/* How many times in a row `default` may return another object that cannot be packed. */
enum { DEFAULTS_MAX = 100 };

typedef struct {
    VALUE called, obj;
} default_call;

static VALUE
call_default(VALUE arg)
{
    const default_call *call = (const default_call *)arg;

    return rb_funcallv(call->called, rb_intern("call"), 1, &call->obj);
}

VALUE
mp_foreign_default(mp_encoder *e, VALUE obj)
{
    default_call call = {.called = mp_codec_called(e->codec->object), .obj = obj};
    VALUE object;

    if (!call.called) return Qundef;
    object = mp_encoder_call_placed(e, call_default, (VALUE)&call);
    if (object == obj) return Qundef;
    if (mp_stack_used_up_p()) mp_encoder_raise_too_deep(e);
    if (e->max_depth - mp_encoder_containers(e->codec) > mp_encoder_open_containers(e) + DEFAULTS_MAX) {
        mp_encoder_raise(e, rb_eArgError, NULL,
                         "default: returned one object that cannot be packed after another, such as an instance of "
                         "%" PRIsVALUE, rb_obj_class(object));
    }
    return object;
}

uint8_t *
mp_encode_foreign(mp_encoder *e, uint8_t *p, VALUE obj)
{
    const mp_type *type = mp_foreign_type(e, obj);
    uint32_t levels;

    if (type) return mp_encode_typed(e, p, obj, type);
    mp_out_commit(&e->out, p);
    if (rb_typeddata_is_kind_of(obj, slice_type)) {
        encode_slice(e, obj);
    } else if (rb_obj_class(obj) == mp_cExtensionValue) {
        encode_extension_value(e, obj);
    } else if (e->codec->options.timestamp && RTEST(rb_obj_is_kind_of(obj, rb_cTime))) {
        encode_time(e, MP_TIMESTAMP_TYPE, obj);
    } else if (e->codec->options.timestamp && rb_obj_class(obj) == mp_cTimestamp) {
        encode_timestamp(e, MP_TIMESTAMP_TYPE, rb_ivar_get(obj, rb_intern("@sec")),
                         rb_ivar_get(obj, rb_intern("@nsec")));
    } else if (!encode_attached(e, obj) && !call_with_window_lent(e, obj, NULL, &levels)) {
        return NULL;
    }
    return e->out.pos;
}

void
mp_foreign_set_slices(const rb_data_type_t *type, mp_slice (*of)(VALUE obj))
{
    slice_type = type;
    slice_of = of;
}

void
mp_foreign_set_attached(VALUE module, VALUE (*type_of)(VALUE obj),
                        VALUE (*dump)(VALUE type, VALUE obj, const mp_codec *codec, uint32_t depth, mp_notes *notes))
{
    rb_gc_register_mark_object(module);
    attached_type_of = type_of;
    attached_dump = dump;
    attached_module = module;
}

void
mp_foreign_end(mp_encoder *e)
{
    mp_packer_close(e->packer);
}
