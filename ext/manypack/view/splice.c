/*
 * View#splice: makes a message from another one by copying everything that does not change.
 *
 * One walk over the message finds the place of every change, refuses those that are not possible, and lists the edits
 * in the order of the bytes. Then the blocks are called. Last, the new message is written, and everything between two
 * edits is copied. User code runs in the last two steps, and when the walk unpacks a key that is an ext.
 */
#include "base/pack_error.h"
#include "base/stack.h"
#include "base/user_code.h"
#include "pack/canonical_form.h"
#include "pack/encode.h"
#include "pack/foreign.h"
#include "view/changes.h"
#include "view/view.h"

typedef enum {
    REMOVE,
    HEAD,    /* of a container */
    ONE,     /* value or key */
    SEVERAL, /* several values, in an Array */
    CALL,    /* a Proc, which returns a value or View::REMOVED */
} edit_kind;

/* Replaces the bytes from `at` to `end`; the two are equal if it only adds something. */
typedef struct {
    size_t at, end;
    size_t pair;           /* CALL: where its pair or element starts */
    int64_t n, before;     /* HEAD: pairs or elements afterwards and before; before is -1 if the container is new */
    uint32_t start, depth; /* its path; depth is also the number of containers around it */
    uint32_t head;         /* the edit of its container's head */
    uint32_t object;       /* ONE, SEVERAL, CALL */
    uint8_t kind;          /* an edit_kind */
    bool array;            /* HEAD */
} edit;

/* Lives on the C stack and keeps what it refers to alive. */
typedef struct {
    mp_changes changes;
    mp_list edits;
    edit few_edits[8];
    mp_peek peek;
    mp_encoder encoder;
    VALUE view, removed;
    size_t start, end;   /* of the old message */
    bool ext_keys;
    bool maybe_too_deep; /* a written object may be nested, so the new message may exceed max_depth */
    uint32_t max_depth;  /* of the new message */
    uint32_t current;    /* the edit being written, for errors */
} splice;

static edit *
edit_at(const splice *s, uint32_t i)
{
    return &((edit *)s->edits.items)[i];
}

static mp_change *
change_at(const splice *s, uint32_t i)
{
    return mp_changes_at(&s->changes, i);
}

/*
 * Adds an edit for a range. head is the index of the edit of the container's head, object the index of the object that
 * it writes. The pointer is valid until the next call.
 */
static edit *
add_edit(splice *s, edit_kind kind, mp_range r, uint32_t head, uint32_t object, size_t at, size_t end)
{
    bool allocates = s->edits.count == s->edits.room;
    edit *added = mp_list_add(&s->edits, sizeof(edit));

    *added = (edit){.kind = (uint8_t)kind, .at = at, .end = end, .depth = r.depth, .head = head, .object = object};
    if (r.depth) added->start = change_at(s, r.lo)->start;
    if (allocates) mp_peek_refresh(&s->peek);
    return added;
}

/* Puts the values of an Array in front of an offset. */
static void
add_values(splice *s, mp_range r, uint32_t head, uint32_t array, size_t at)
{
    edit_at(s, head)->n += RARRAY_LEN(mp_changes_object(&s->changes, array));
    add_edit(s, SEVERAL, r, head, array, at, at);
}

static void
check_level(mp_range r)
{
    if (mp_stack_too_deep_p(r.depth + 1)) mp_raise_nesting(r.depth + 1, rb_str_new_cstr("$"), false);
}

NORETURN(static void refuse_change(const splice *s, mp_range r, const char *words));

static void
refuse_change(const splice *s, mp_range r, const char *words)
{
    mp_changes_refuse(&s->changes, change_at(s, r.lo)->start, r.depth, words);
}

/* ArgumentError unless the changes of a value are possible in its container. */
static void
check_container(const splice *s, const mp_part *part, bool array)
{
    if (array && part->rename) refuse_change(s, part->all, "is no key of a map");
    if (array || !part->insert) return;
    refuse_change(s, part->all, part->insert->kind == MP_APPEND ? "is no array" : "is no element of an array");
}

/* Raises KeyError: a change's path has no map or array at this depth, and the change does not create one. */
NORETURN(static void refuse_parent(const splice *s, uint32_t start, uint32_t depth));

static void
refuse_parent(const splice *s, uint32_t start, uint32_t depth)
{
    VALUE path = mp_changes_path(&s->changes, start, depth + 1), arguments[2];

    arguments[0] = rb_sprintf("no map or array to change at %" PRIsVALUE, mp_changes_path(&s->changes, start, depth));
    arguments[1] = rb_hash_new();
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("receiver")), s->view);
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("key")), path);
    rb_exc_raise(rb_class_new_instance_kw(2, arguments, rb_eKeyError, RB_PASS_KEYWORDS));
}

/* --- new pairs and elements ------------------------------------------------------------------------- */

static void create(splice *s, mp_range r, uint32_t head, size_t at, size_t end);

/* The first change of a range, in the order given, that adds something; NULL if none does. */
static const mp_change *
first_to_add(const splice *s, mp_range r)
{
    const mp_change *first = NULL;

    for (; r.lo < r.hi; r.lo++) {
        const mp_change *change = change_at(s, r.lo);
        bool adds = change->kind == MP_SET || change->kind == MP_INSERT || change->kind == MP_APPEND;

        if (adds && (!first || change->order < first->order)) first = change;
    }
    return first;
}

/* True if the message has the pair or element that the range changes. */
static bool
found_p(const splice *s, mp_range r)
{
    return change_at(s, r.lo)->found;
}

static bool
adds_p(const splice *s, mp_range r)
{
    return !found_p(s, r) && first_to_add(s, r);
}

/* ArgumentError if the map already has this part's key, and another pair is renamed to it. */
static void
check_taken(const splice *s, mp_range r, const mp_part *part)
{
    mp_range renamed = r;
    mp_key key;

    if (!part->take) return;
    key = mp_changes_key(&s->changes, part->take->value + r.depth);
    renamed.lo = mp_changes_find(&s->changes, r, &key);
    if (!found_p(s, renamed)) return;
    if (adds_p(s, part->all)) refuse_change(s, part->all, "is both added and the new key of another pair");
    if (!found_p(s, part->all) || part->rename || (part->set && part->set->kind == MP_REMOVE)) return;
    mp_changes_refuse(&s->changes, part->take->value, part->all.depth, "gets a key that its map has");
}

/* Sorts the parts of a map's range into the order in which new pairs are added. */
static void
order_pairs(splice *s, mp_range r)
{
    bool adds = false;
    uint32_t i = r.lo;

    while (i < r.hi) {
        mp_part part = mp_changes_part(&s->changes, r, i);

        check_taken(s, r, &part);
        adds |= adds_p(s, part.all);
        i = part.all.hi;
    }
    if (adds) mp_changes_sort_by_order(&s->changes, r);
}

/*
 * Raises IndexError, because the range's index is not the one after the last element; or KeyError if `inside` is a
 * change inside that element and may not create it.
 */
NORETURN(static void refuse_index(const splice *s, mp_range r, int64_t count, const mp_change *inside));

static void
refuse_index(const splice *s, mp_range r, int64_t count, const mp_change *inside)
{
    uint32_t start = change_at(s, r.lo)->start;

    if (inside && !inside->create) refuse_parent(s, inside->start, inside->depth - 1);
    rb_raise(rb_eIndexError, "index %" PRIsVALUE " outside of the array's %" PRId64 " elements, at %" PRIsVALUE,
             rb_inspect(mp_changes_object(&s->changes, start + r.depth - 1)), count,
             mp_changes_path(&s->changes, start, r.depth));
}

/* Adds a pair or element at the end of its container, which has n of them. Returns the new number. */
static int64_t
add_part(splice *s, const mp_part *part, uint32_t head, size_t at, int64_t n)
{
    bool array = edit_at(s, head)->array, made = edit_at(s, head)->before < 0;
    bool set = part->set && part->set->kind == MP_SET, end = part->insert && part->insert->kind == MP_APPEND;
    const mp_change *first = change_at(s, part->all.lo), *inside = first_to_add(s, part->inside);

    if (made && (set || part->insert) && !part->create) refuse_parent(s, first->start, part->all.depth - 1);
    check_container(s, part, array);
    if (array && !end && (first->key.kind != MP_UINT || first->key.bits != (uint64_t)n)) {
        refuse_index(s, part->all, n, inside);
    }
    if (part->insert) add_values(s, part->all, head, part->insert->value, at);
    if (!set && !inside) return n;
    edit_at(s, head)->n++;
    if (!array) add_edit(s, ONE, part->all, head, first->start + part->all.depth - 1, at, at); /* the key */
    if (set) add_edit(s, ONE, part->all, head, part->set->value, at, at);
    else create(s, part->inside, head, at, at);
    return n + 1;
}

/* Adds the pairs or elements that a container, with n of them, does not have yet. */
static void
add_parts(splice *s, mp_range r, uint32_t head, size_t at, int64_t n)
{
    uint32_t i = r.lo;

    if (!edit_at(s, head)->array) order_pairs(s, r);
    while (i < r.hi) {
        mp_part part = mp_changes_part(&s->changes, r, i);

        if (adds_p(s, part.all)) n = add_part(s, &part, head, at, n);
        else if (!found_p(s, part.all)) mp_changes_check(&s->changes, part.inside);
        i = part.all.hi;
    }
}

/* Creates a map or an array for the changes of a range, in place of nil or of a missing value. */
static void
create(splice *s, mp_range r, uint32_t head, size_t at, size_t end)
{
    VALUE step = mp_changes_object(&s->changes, first_to_add(s, r)->start + r.depth);
    bool array = step == MP_END || RB_INTEGER_TYPE_P(step);
    edit *made;

    check_level(r);
    made = add_edit(s, HEAD, r, head, 0, at, end);
    made->before = -1;
    made->array = array;
    mp_changes_sort(&s->changes, r, 0);
    add_parts(s, r, s->edits.count - 1, end, 0);
}

/* --- locating the changes --------------------------------------------------------------------------- */

static size_t locate(splice *s, mp_range r, uint32_t head, size_t offset);

/*
 * Finds the first change of the key at an offset: its index, or r.hi if there is none. Unpacks an ext.
 * Fast path (middle/splice a field) for a name whose length is not in `lengths`, which mp_changes_sort returns.
 */
static uint32_t
find_change(splice *s, mp_range r, const mp_key *key, size_t offset, uint32_t lengths)
{
    uint32_t found;
    VALUE object;
    mp_key made;

    if (key->kind == MP_STR && key->n <= MP_FIXSTR_MAX && !(lengths >> key->n & 1)) return r.hi;
    if (MP_LIKELY(key->kind != MP_EXT || !s->ext_keys)) return mp_changes_find(&s->changes, r, key);
    object = mp_peek_object(&s->peek, offset);
    found = mp_simple_key(object, &made) ? mp_changes_find(&s->changes, r, &made) : r.hi;
    RB_GC_GUARD(object);
    return found;
}

/* Lists an edit for the change that replaces or removes a value. Its pair or element starts at `at`. */
static void
set_value(splice *s, const mp_part *part, uint32_t head, size_t at, size_t value, size_t end)
{
    static const edit_kind kinds[] = {[MP_SET] = ONE, [MP_REMOVE] = REMOVE, [MP_CALL] = CALL};
    bool remove = part->set->kind == MP_REMOVE;

    if (remove) edit_at(s, head)->n--;
    add_edit(s, kinds[part->set->kind], part->all, head, part->set->value, remove ? at : value, end)->pair = at;
}

/* Skips the value at the cursor and lists the edits for its changes. Its pair or element starts at `at`. */
static void
locate_value(splice *s, const mp_part *part, mp_cursor *cursor, uint32_t head, size_t at)
{
    mp_key key = change_at(s, part->all.lo)->key;
    size_t value = cursor->at;
    uint32_t i;

    check_container(s, part, cursor->kind == MP_ARRAY);
    if (part->insert) add_values(s, part->all, head, part->insert->value, at);
    if (part->rename) add_edit(s, ONE, part->all, head, part->rename->value, at, value);
    if (part->inside.lo < part->inside.hi) {
        cursor->at = locate(s, part->inside, head, value);
        cursor->left--;
    } else {
        mp_peek_check(&s->peek, mp_cursor_next(cursor));
    }
    if (part->set) set_value(s, part, head, at, value, cursor->at);
    for (i = part->all.lo; i < part->all.hi; i++) {
        change_at(s, i)->key = key; /* locating the changes inside has sorted them by other steps */
        change_at(s, i)->found = true;
    }
}

static void
locate_pairs(splice *s, mp_range r, mp_cursor *cursor, uint32_t head)
{
    uint32_t lengths = mp_changes_sort(&s->changes, r, 0), missing = r.hi - r.lo;

    while (cursor->left) {
        size_t at = cursor->at;
        uint32_t first;
        mp_part part;
        mp_key key;

        mp_peek_check(&s->peek, mp_cursor_key(cursor, &key));
        first = find_change(s, r, &key, at, lengths);
        if (first == r.hi) {
            mp_peek_check(&s->peek, mp_cursor_next(cursor));
            continue;
        }
        part = mp_changes_part(&s->changes, r, first);
        s->peek.look.blame = at;
        if (found_p(s, part.all)) mp_peek_raise(&s->peek, MP_E_DUPLICATE_KEY);
        locate_value(s, &part, cursor, head, at);
        missing -= part.all.hi - part.all.lo;
    }
    if (missing || s->changes.renames) add_parts(s, r, head, cursor->at, 0);
}

static void
locate_elements(splice *s, mp_range r, mp_cursor *cursor, uint32_t head)
{
    uint64_t n = cursor->left;
    bool missing = false;
    uint32_t i = r.lo;

    mp_changes_sort(&s->changes, r, n);
    while (i < r.hi) {
        mp_part part = mp_changes_part(&s->changes, r, i);
        mp_key index = change_at(s, i)->key;

        i = part.all.hi;
        if (index.kind != MP_UINT || index.bits >= n) {
            missing = true;
            continue;
        }
        mp_peek_check(&s->peek, mp_cursor_skip(cursor, index.bits - (n - cursor->left)));
        locate_value(s, &part, cursor, head, cursor->at);
    }
    mp_peek_check(&s->peek, mp_cursor_skip(cursor, cursor->left));
    if (missing) add_parts(s, r, head, cursor->at, (int64_t)n);
}

/* Like locate, for an object that is not a container. A new container may replace nil. */
static size_t
locate_leaf(splice *s, mp_range r, uint32_t head, size_t offset)
{
    bool nil = mp_peek_kind(&s->peek, offset) == MP_NIL;
    size_t end = mp_peek_over(&s->peek, offset);

    if (nil && first_to_add(s, r)) {
        create(s, r, head, offset, end);
    } else if (r.lo < r.hi) {
        mp_change first = *change_at(s, r.lo);

        mp_changes_check(&s->changes, r);
        if (!nil && first.kind == MP_APPEND && first.depth == r.depth + 1) refuse_change(s, r, "is no array");
        if (!nil) refuse_parent(s, first.start, r.depth);
    }
    return end;
}

/* Lists the edits for all changes inside the object at an offset, and returns the offset after it. */
static size_t
locate(splice *s, mp_range r, uint32_t head, size_t offset)
{
    mp_cursor cursor;
    edit *opened;

    check_level(r);
    if (offset >= s->peek.look.size) mp_peek_over(&s->peek, offset); /* raises */
    if (!mp_container_p(mp_peek_kind(&s->peek, offset))) return locate_leaf(s, r, head, offset);
    mp_peek_open(&s->peek, &cursor, offset);
    if (r.depth >= s->max_depth && cursor.left) mp_peek_raise(&s->peek, MP_E_DEPTH);
    opened = add_edit(s, HEAD, r, head, 0, offset, cursor.at);
    opened->array = cursor.kind == MP_ARRAY;
    opened->n = opened->before = (int64_t)(opened->array ? cursor.left : cursor.left / 2);
    head = s->edits.count - 1;
    if (r.depth) s->peek.look.walk.max_depth--;
    if (cursor.kind == MP_MAP) locate_pairs(s, r, &cursor, head);
    else locate_elements(s, r, &cursor, head);
    if (r.depth) s->peek.look.walk.max_depth++;
    return cursor.at;
}

/* --- blocks ----------------------------------------------------------------------------------------- */

/* Calls the Procs in the order of the message, and replaces each by its result. */
static void
call_blocks(splice *s)
{
    uint32_t i;

    for (i = 0; i < s->edits.count; i++) {
        edit *called = edit_at(s, i), *before = called - 1;
        VALUE value;

        if (called->kind != CALL) continue;
        value = mp_view_value_at(&s->peek, s->view, called->at, called->end);
        value = rb_funcallv(mp_changes_object(&s->changes, called->object), rb_intern("call"), 1, &value);
        mp_peek_refresh(&s->peek);
        called->kind = ONE;
        if (value != s->removed) {
            called->object = mp_changes_keep(&s->changes, value);
            continue;
        }
        if (before->at == called->pair && before->end > before->at) { /* its new key */
            before->kind = REMOVE;
            before->end = before->at;
        }
        called->kind = REMOVE;
        called->at = called->pair;
        edit_at(s, called->head)->n--;
    }
}

/* --- the new message -------------------------------------------------------------------------------- */

static void
copy(splice *s, size_t from, size_t to)
{
    if (from == to) return;
    mp_out_reserve(&s->encoder.out, to - from);
    mp_peek_refresh(&s->peek);
    mp_out_write(&s->encoder.out, s->peek.look.bytes + from, to - from);
}

/* Writes the object of an edit. */
static void
write_new_object(splice *s, VALUE value)
{
    bool leaf = RB_SPECIAL_CONST_P(value) || RB_TYPE_P(value, T_STRING);

    if (MP_UNLIKELY(s->encoder.codec->options.canonical)) {
        value = mp_canonical_packed(mp_encode_whole(value, s->encoder.codec));
        mp_out_write(&s->encoder.out, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
    } else {
        mp_encode(&s->encoder, value);
    }
    if (!leaf || s->encoder.buffer) s->maybe_too_deep = true; /* a Buffer: to_msgpack may have written anything */
    RB_GC_GUARD(value);
}

static void
write_objects(splice *s, VALUE values)
{
    long i;

    for (i = 0; i < RARRAY_LEN(values); i++) write_new_object(s, RARRAY_AREF(values, i));
    RB_GC_GUARD(values);
}

static void
write_new_head(splice *s, const edit *written)
{
    uint32_t n = (uint32_t)written->n;
    uint8_t *p;

    if (written->n > UINT32_MAX) {
        mp_changes_refuse(&s->changes, written->start, written->depth, "is longer than MessagePack's limit");
    }
    if (written->depth >= s->max_depth) s->maybe_too_deep = true;
    p = mp_out_reserve(&s->encoder.out, MP_HEAD_MAX);
    mp_out_commit(&s->encoder.out, written->array ? mp_put_array_head(p, n) : mp_put_map_head(p, n));
}

static VALUE
write_spliced(VALUE arg)
{
    splice *s = (splice *)arg;
    size_t at = s->start;
    uint32_t i;

    for (i = 0; i < s->edits.count; i++) {
        const edit *written = edit_at(s, i);

        if (written->kind == HEAD && written->n == written->before) continue;
        copy(s, at, written->at);
        at = written->end;
        s->current = i;
        if (written->kind == HEAD) write_new_head(s, written);
        if (written->kind == ONE) write_new_object(s, mp_changes_object(&s->changes, written->object));
        if (written->kind == SEVERAL) write_objects(s, mp_changes_object(&s->changes, written->object));
    }
    copy(s, at, s->end);
    return Qnil;
}

static VALUE
spliced_message(splice *s)
{
    int state;
    VALUE message;

    rb_protect(write_spliced, (VALUE)s, &state);
    if (MP_UNLIKELY(state)) {
        if (mp_pack_error_p(mp_user_error())) {
            const edit *failed = edit_at(s, s->current);
            VALUE path = rb_obj_as_string(mp_changes_path(&s->changes, failed->start, failed->depth));

            mp_raise_pack_error_below(mp_user_error(), path, false);
        }
        rb_jump_tag(state);
    }
    message = mp_encoder_result(&s->encoder);
    if (MP_UNLIKELY(s->encoder.packer != 0)) mp_foreign_end(&s->encoder);
    return rb_obj_freeze(message);
}

/* StackError if a new message is nested too deeply. */
static MP_NOINLINE void
check_new_depth(VALUE message, VALUE codec)
{
    mp_peek peek;

    mp_peek_init(&peek, message, codec, 0);
    mp_peek_over(&peek, 0);
    mp_peek_end(&peek);
}

/*
 * call-seq: Internal.splice(view, changes, removed) -> View
 *
 * Does what View#splice does. removed is View::REMOVED.
 */
static VALUE
rb_internal_splice(VALUE self, VALUE view, VALUE changes, VALUE removed)
{
    uint8_t block[MP_ENCODER_BLOCK];
    VALUE made, message;
    mp_range all = {.lo = 0};
    splice s;

    s.start = mp_view_peek(view, &s.peek, MP_LOOK_ONCE);
    Check_Type(changes, T_HASH);
    s.view = view;
    s.removed = removed;
    s.maybe_too_deep = false;
    s.max_depth = mp_unpack_max_depth(&s.peek.codec->options);
    s.current = 0;
    s.ext_keys = mp_ext_keys_p(s.peek.codec);
    mp_list_init(&s.edits, s.few_edits, sizeof(s.few_edits) / sizeof(edit));
    mp_changes_read(&s.changes, view, changes, removed);
    mp_peek_refresh(&s.peek);
    all.hi = s.changes.list.count;
    s.end = locate(&s, all, 0, s.start);
    mp_view_ended(view, s.end);
    call_blocks(&s);
    mp_encoder_init(&s.encoder, block, sizeof(block), s.peek.codec);
    mp_out_reserve(&s.encoder.out, s.end - s.start);
    message = spliced_message(&s);
    if (MP_UNLIKELY(s.maybe_too_deep)) check_new_depth(message, s.peek.codec_object);
    made = mp_view_whole(message, s.peek.codec_object);
    mp_list_end(&s.changes.objects);
    mp_list_end(&s.changes.list);
    mp_list_end(&s.edits);
    mp_peek_end(&s.peek);
    return made;
}

void
Init_manypack_splice(void)
{
    MP_DEFINE_INTERNAL("splice", rb_internal_splice, 3);
}
