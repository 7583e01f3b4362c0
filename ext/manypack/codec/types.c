/* Handlers, the registry of ext types, and how the type of a class is found in it. */
#include "codec/types.h"

#include "core/utf8.h"

static VALUE mHandler, eIsolationError;

mp_handler
mp_handler_init(VALUE spec, VALUE owner)
{
    mp_handler handler = {.receiver = spec, .method = rb_intern("call")};

    if (RB_SYMBOL_P(spec) || RB_TYPE_P(spec, T_STRING)) {
        handler.receiver = owner;
        handler.method = rb_to_id(spec);
        if (owner != Qundef && !rb_obj_respond_to(owner, handler.method, true)) {
            rb_funcall(mp_mArguments, rb_intern("no_unpacker"), 2, owner, ID2SYM(handler.method)); /* raises */
        }
    } else if (rb_obj_is_proc(spec)) {
        handler.method = 0;
    } else if (rb_obj_is_method(spec)) {
        VALUE receiver = rb_funcall(spec, rb_intern("receiver"), 0), name = rb_funcall(spec, rb_intern("name"), 0);

        /* A method bound by hand may differ from the receiver's method of that name. */
        if (rb_respond_to(receiver, rb_to_id(name)) && rb_equal(rb_obj_method(receiver, name), spec)) {
            handler.receiver = receiver;
            handler.method = rb_to_id(name);
        }
    } else if (!rb_respond_to(spec, rb_intern("call"))) {
        rb_raise(rb_eTypeError,
                 "expected a Proc, a Method, a method name or an object that responds to call, got %" PRIsVALUE,
                 rb_obj_class(spec));
    }
    handler.shareable = handler.receiver == Qundef || rb_ractor_shareable_p(handler.receiver);
    handler.proc = handler.receiver;
    if (handler.method && handler.receiver != Qundef) {
        handler.proc = rb_funcall(mHandler, rb_intern("proc_for"), 2, handler.receiver, ID2SYM(handler.method));
    }
    return handler;
}

/*
 * True if unpacking turns this name into the same Symbol: it reads the bytes as UTF-8, or as BINARY if they are not
 * valid UTF-8.
 */
static bool
same_symbol_again_p(VALUE name)
{
    int index = rb_enc_get_index(name), coderange = rb_enc_str_coderange(name);

    if (coderange == ENC_CODERANGE_7BIT) return rb_enc_asciicompat(rb_enc_get(name));
    if (mp_utf8_index_p(index)) return coderange == ENC_CODERANGE_VALID;
    return index == mp_binary_index && !mp_utf8_valid_p((const uint8_t *)RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
}

/* Calls a method of the packed object, which returns the body. */
static VALUE
call_method_of_object(ID method, int argc, const VALUE *argv)
{
    VALUE body = rb_funcallv(argv[0], method, argc - 1, argv + 1);

    if (!RB_SYMBOL_P(argv[0]) || method != rb_intern("to_msgpack_ext") || !RB_TYPE_P(body, T_STRING)) return body;
    if (MP_LIKELY(same_symbol_again_p(body))) return body;
    rb_raise(rb_eEncodingError, "a Symbol in %s cannot be packed as an ext type: it would come back different",
             rb_enc_name(rb_enc_get(body)));
}

VALUE
mp_handler_call(const mp_handler *handler, int argc, const VALUE *argv)
{
    if (!handler->method) return rb_proc_call_with_block(handler->receiver, argc, argv, Qnil);
    if (handler->receiver == Qundef) return call_method_of_object(handler->method, argc, argv);
    return rb_funcallv(handler->receiver, handler->method, argc, argv);
}

VALUE
mp_handler_proc(const mp_handler *handler)
{
    if (handler->proc != Qundef) return handler->proc;
    return rb_funcall(ID2SYM(handler->method), rb_intern("to_proc"), 0);
}

int
mp_ext_type(VALUE type)
{
    if (!RB_INTEGER_TYPE_P(type)) {
        rb_raise(rb_eTypeError, "ext type must be an Integer, got %" PRIsVALUE, rb_obj_class(type));
    }
    if (!mp_ext_type_p(type)) {
        rb_raise(rb_eRangeError, "ext type must be in -128..127, got %" PRIsVALUE, type);
    }
    return FIX2INT(type);
}

/* --- the registry ----------------------------------------------------------------------------------- */

/* Sets the fields for look-ups without a class: packers of Symbol and Integer, and each ext type's unpacker. */
static void
find_places(mp_types *types)
{
    size_t i;

    types->symbol = types->integer = NULL;
    for (i = 0; i < types->packers; i++) {
        const mp_type *type = &types->all[i];
        if (type->klass == rb_cSymbol) types->symbol = type;
        else if (type->klass == rb_cInteger && type->oversized_integer) types->integer = type;
    }
    memset(types->place, 0, sizeof(types->place));
    for (; i < types->count; i++) types->place[types->all[i].type + 128] = (uint16_t)(i + 1 - types->packers);
}

mp_types mp_no_types;

mp_types *
mp_types_new(void)
{
    mp_types *types = ZALLOC(mp_types);

    types->holders = 1;
    return types;
}

void
mp_types_copy(mp_types *to, const mp_types *from)
{
    if (from->count) {
        to->all = ALLOC_N(mp_type, from->count);
        memcpy(to->all, from->all, from->count * sizeof(mp_type));
    }
    to->packers = from->packers;
    to->count = from->count;
    find_places(to);
}

mp_types *
mp_types_hold(mp_types *types)
{
    if (types != &mp_no_types) RUBY_ATOMIC_FETCH_ADD(types->holders, 1);
    return types;
}

void
mp_types_release(mp_types *types)
{
    if (!types || types == &mp_no_types || RUBY_ATOMIC_FETCH_SUB(types->holders, 1) > 1) return;
    xfree(types->all);
    xfree(types);
}

/*
 * True if the classes have the same permanent name, because one was reloaded under the constant of the other. Anonymous
 * classes have no name. Temporary names begin with # or a lower-case letter.
 */
static bool
same_constant_p(VALUE one, VALUE other)
{
    VALUE name = rb_mod_name(one), other_name = rb_mod_name(other);

    if (NIL_P(name) || NIL_P(other_name) || !RTEST(rb_str_equal(name, other_name))) return false;
    return *RSTRING_PTR(name) != '#' && !ISLOWER(*RSTRING_PTR(name));
}

/*
 * True if a registration replaces an earlier one. If a reloaded class did not, the old class would live as long as the
 * types.
 */
static bool
replaces_p(const mp_type *type, const mp_type *before)
{
    return before->klass == type->klass || (before->type == type->type && same_constant_p(before->klass, type->klass));
}

void
mp_types_add_packer(mp_types *types, mp_type type)
{
    size_t i, kept = 0, place = SIZE_MAX;

    REALLOC_N(types->all, mp_type, types->count + 1);
    for (i = 0; i < types->packers; i++) {
        if (!replaces_p(&type, &types->all[i])) types->all[kept++] = types->all[i];
        else if (place == SIZE_MAX) place = kept++;
    }
    if (place == SIZE_MAX) place = kept++;
    memmove(&types->all[kept], &types->all[types->packers], (types->count - types->packers) * sizeof(mp_type));
    types->all[place] = type;
    types->count += kept - types->packers;
    types->packers = kept;
    find_places(types);
}

void
mp_types_add_unpacker(mp_types *types, mp_type type)
{
    size_t place = types->place[type.type + 128];

    if (place) {
        types->all[types->packers + place - 1] = type;
        return;
    }
    REALLOC_N(types->all, mp_type, types->count + 1);
    types->all[types->count++] = type;
    find_places(types);
}

void
mp_types_mark(const mp_types *types)
{
    size_t i;

    for (i = 0; i < types->count; i++) {
        const mp_handler *handler = &types->all[i].handler;

        rb_gc_mark_movable(types->all[i].klass);
        if (handler->receiver == Qundef) continue;
        rb_gc_mark_movable(handler->receiver);
        rb_gc_mark_movable(handler->proc);
    }
}

void
mp_types_compact(mp_types *types)
{
    size_t i;

    for (i = 0; i < types->count; i++) {
        mp_handler *handler = &types->all[i].handler;

        types->all[i].klass = rb_gc_location(types->all[i].klass);
        if (handler->receiver == Qundef) continue;
        handler->receiver = rb_gc_location(handler->receiver);
        handler->proc = rb_gc_location(handler->proc);
    }
}

size_t
mp_types_memsize(const mp_types *types)
{
    if (!types || types == &mp_no_types) return 0;
    return (sizeof(mp_types) + types->count * sizeof(mp_type)) / types->holders;
}

/* The first type whose handler cannot be shared; NULL if there is none. */
static const mp_type *
not_shareable(const mp_types *types)
{
    size_t i;

    for (i = 0; i < types->count; i++) {
        if (!types->all[i].handler.shareable) return &types->all[i];
    }
    return NULL;
}

bool
mp_types_shareable_p(const mp_types *types)
{
    return !not_shareable(types);
}

/* True if two registrations are equal. */
static bool
type_same_p(const mp_type *one, const mp_type *other)
{
    return one->klass == other->klass && one->type == other->type && one->recursive == other->recursive &&
           one->oversized_integer == other->oversized_integer && one->optimized_symbol == other->optimized_symbol &&
           one->handler.receiver == other->handler.receiver && one->handler.method == other->handler.method;
}

static bool
list_has_p(const mp_type *list, size_t count, const mp_type *type)
{
    size_t i;

    for (i = 0; i < count && !type_same_p(&list[i], type); i++) continue;
    return i < count;
}

/* No list has a type twice, so two lists of equal length are equal if one contains all types of the other. */
bool
mp_types_same_p(const mp_types *one, const mp_types *other)
{
    size_t i;

    if (one->packers != other->packers || one->count != other->count) return false;
    for (i = 0; i < one->count; i++) {
        size_t from = i < one->packers ? 0 : one->packers, to = i < one->packers ? one->packers : one->count;

        if (type_same_p(&one->all[i], &other->all[i])) continue;
        if (!list_has_p(&other->all[from], to - from, &one->all[i])) return false;
    }
    return true;
}

void
mp_types_withhold(mp_types *types)
{
    const mp_handler withheld = {.receiver = Qundef, .proc = Qundef, .shareable = true, .withheld = true};
    size_t i;

    for (i = 0; i < types->count; i++) {
        if (!types->all[i].handler.shareable) types->all[i].handler = withheld;
    }
    types->withheld = true;
}

NORETURN(static void raise_not_shareable(const mp_type *type));

static void
raise_not_shareable(const mp_type *type)
{
    rb_raise(eIsolationError,
             "the handler of ext type %d for %" PRIsVALUE " cannot be shared between Ractors: "
             "register the name of a method, or a Proc from Ractor.shareable_proc or Ractor.make_shareable",
             type->type, type->klass);
}

void
mp_type_check(const mp_type *type)
{
    if (MP_UNLIKELY(type->handler.withheld)) raise_not_shareable(type);
}

void
mp_types_check_shareable(const mp_types *types)
{
    const mp_type *type = not_shareable(types);

    if (type) raise_not_shareable(type);
}

static const mp_type *
packer_of_class(const mp_types *types, VALUE klass)
{
    size_t i;

    for (i = 0; i < types->packers; i++) {
        if (types->all[i].klass == klass) return &types->all[i];
    }
    return NULL;
}

/*
 * The type of the nearest ancestor with a type. Ancestors include prepended modules and the singleton class's
 * ancestors.
 */
static const mp_type *
packer_of_nearest(const mp_types *types, VALUE klass)
{
    VALUE ancestors = rb_mod_ancestors(klass);
    const mp_type *type = NULL;
    long i;

    for (i = 0; !type && i < RARRAY_LEN(ancestors); i++) type = packer_of_class(types, RARRAY_AREF(ancestors, i));
    RB_GC_GUARD(ancestors);
    return type;
}

/* Lists the ancestors, which allocates, only if several of them have a type. */
static const mp_type *
packer_of_ancestor(const mp_types *types, VALUE klass)
{
    const mp_type *type = NULL;
    size_t i;

    for (i = 0; i < types->packers; i++) {
        if (!RTEST(rb_class_inherited_p(klass, types->all[i].klass))) continue;
        if (type) return packer_of_nearest(types, klass);
        type = &types->all[i];
    }
    return type;
}

const mp_type *
mp_types_for_object(const mp_types *types, VALUE obj)
{
    VALUE klass = CLASS_OF(obj); /* the singleton class, if there is one */
    const mp_type *type = packer_of_class(types, klass);

    if (!type) type = packer_of_class(types, rb_obj_class(obj));
    return type ? type : packer_of_ancestor(types, klass);
}

/* --- the default handler of Symbol --------------------------------------------------------------------- */

/*
 * call-seq: symbol.to_msgpack_ext -> String
 *
 * Returns the name, frozen. Factory#register_type(type, Symbol) packs Symbols with this method by default. Packing
 * raises EncodingError for a name whose bytes Symbol.from_msgpack_ext would turn into another Symbol: a name that is in
 * neither UTF-8 nor BINARY, or that is in BINARY although its bytes are valid UTF-8.
 *
 *   :ready.to_msgpack_ext #=> "ready"
 */
static VALUE
rb_symbol_to_msgpack_ext(VALUE self)
{
    return rb_sym2str(self);
}

void
Init_manypack_types(void)
{
    mHandler = mp_const("Manypack::Handler");
    eIsolationError = mp_const("Ractor::IsolationError");
    rb_define_method(rb_cSymbol, "to_msgpack_ext", rb_symbol_to_msgpack_ext, 0);
}
