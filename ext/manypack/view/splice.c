/*
 * View#splice: makes a message from another one by copying everything that does not change.
 *
 * One walk over the message finds the place of every change, refuses those that are not possible, and lists the edits
 * in the order of the bytes. Then the blocks are called. At last the new message is written: whatever is between two
 * edits is copied. User code runs in the last two parts, and where an ext type that a key has is unpacked.
 */
#include "base/error.h"
#include "base/stack.h"
#include "base/user_code.h"
#include "core/skip.h"
#include "pack/canonical_form.h"
#include "pack/encode.h"
#include "pack/foreign.h"
#include "view/changes.h"
#include "view/view.h"

typedef enum {
    NOTHING,
    REMOVE,
    HEAD,    /* of a container */
    NAME,    /* of an added pair: the last step of its path */
    ONE,     /* value, or new key */
    SEVERAL, /* values, in an Array */
    CALL,    /* a Proc, which returns a value or View::REMOVED */
} edit_kind;

/* Replaces the bytes from `at` to `end`; none if something is added there. */
typedef struct {
    size_t at, end;
    size_t pair;           /* CALL: where its pair or element starts */
    int64_t n, before;     /* HEAD: how many pairs or elements there will be, and were; -1 if the container is made */
    uint32_t start, depth; /* its path */
    uint32_t level;        /* containers around it */
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
    bool maybe_too_deep; /* the new message may be deeper than max_depth: something that was written is nested */
    uint32_t max_depth;  /* of the new message */
    uint32_t current;    /* the edit that is being written, for errors */
} splice;

/* Changes whose paths are the same up to a depth: they are of one value, or inside of it. */
typedef struct {
    uint32_t lo, hi, depth;
} range;

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

/* Adds an edit for a range; head is the edit of the container's head. The pointer is valid until the next one. */
static edit *
add_edit(splice *s, edit_kind kind, range r, uint32_t head, size_t at, size_t end)
{
    bool allocates = s->edits.count == s->edits.room;
    edit *added = mp_list_add(&s->edits, sizeof(edit));

    added->kind = (uint8_t)kind;
    added->at = at;
    added->end = end;
    added->start = r.depth ? change_at(s, r.lo)->start : 0;
    added->depth = added->level = r.depth;
    added->head = head;
    if (allocates) mp_peek_refresh(&s->peek);
    return added;
}

static edit *
add_object(splice *s, edit_kind kind, range r, uint32_t head, uint32_t object, size_t at, size_t end)
{
    edit *added = add_edit(s, kind, r, head, at, end);

    added->object = object;
    return added;
}

/* Puts the values of an Array in front of an offset. */
static edit *
add_values(splice *s, range r, uint32_t head, uint32_t array, size_t at)
{
    edit_at(s, head)->n += RARRAY_LEN(mp_changes_object(&s->changes, array));
    return add_object(s, SEVERAL, r, head, array, at, at);
}

/* The changes from `at` on that are of one pair or element of the value of a range. */
static range
part_of(const splice *s, range r, uint32_t at)
{
    return (range){.lo = at, .hi = mp_changes_end_of(&s->changes, at, r.hi, r.depth), .depth = r.depth + 1};
}

static mp_own_changes
place_of(const splice *s, range r)
{
    return mp_changes_own(&s->changes, r.lo, r.hi, r.depth);
}

/* The key or index that a range is of. */
static const mp_path_step *
step_of(const splice *s, range r)
{
    return mp_changes_step_at(&s->changes, change_at(s, r.lo)->start + r.depth - 1);
}

static void
check_level(range r)
{
    if (mp_stack_too_deep_p(r.depth + 1)) mp_raise_nesting(r.depth + 1, rb_str_new_cstr("$"), false);
}

NORETURN(static void refuse(const splice *s, range r, const char *words));

static void
refuse(const splice *s, range r, const char *words)
{
    mp_changes_refuse(&s->changes, change_at(s, r.lo)->start, r.depth, words);
}

/* KeyError: a change needs a map or an array at a depth of its path, and there is none. */
NORETURN(static void refuse_parent(const splice *s, const mp_change *change, uint32_t depth));

static void
refuse_parent(const splice *s, const mp_change *change, uint32_t depth)
{
    VALUE path = mp_changes_path(&s->changes, change->start, depth < change->depth ? depth + 1 : depth), arguments[2];

    arguments[0] = rb_sprintf("no map or array to change at %" PRIsVALUE,
                              mp_changes_path(&s->changes, change->start, depth));
    arguments[1] = rb_hash_new();
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("receiver")), s->view);
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("key")), path);
    rb_exc_raise(rb_class_new_instance_kw(2, arguments, rb_eKeyError, RB_PASS_KEYWORDS));
}

/* --- what is not in the message --------------------------------------------------------------------- */

static void create(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t at, size_t end);

/* The first change of a range, in the order given, that adds something; NULL if none does. */
static const mp_change *
first_to_add(const splice *s, range r)
{
    const mp_change *first = NULL;

    for (; r.lo < r.hi; r.lo++) {
        const mp_change *change = change_at(s, r.lo);

        if (mp_change_adds_p(change) && (!first || change->order < first->order)) first = change;
    }
    return first;
}

/* True if the pair or element that a range is of is in the message. */
static bool
found_p(const splice *s, range r)
{
    return change_at(s, r.lo)->found >= r.depth;
}

static bool
adds_p(const splice *s, range r)
{
    return !found_p(s, r) && first_to_add(s, r);
}

/* Adds a new pair or element at the end of its container. */
static void
add_value(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t at)
{
    edit_at(s, head)->n++;
    if (!edit_at(s, head)->array) add_edit(s, NAME, r, head, at, at);
    if (place->set) add_object(s, ONE, r, head, place->set->value, at, at);
    else create(s, r, place, head, at, at);
}

/* KeyError if a change of a new pair, or inside of it, does not allow containers to be made. */
static void
check_creates(const splice *s, range r)
{
    for (; r.lo < r.hi; r.lo++) {
        const mp_change *change = change_at(s, r.lo);
        bool appends = change->kind == MP_APPEND;

        if (!mp_change_adds_p(change) || change->create) continue;
        if (appends || change->depth != r.depth) refuse_parent(s, change, change->depth - (appends ? 0 : 1));
    }
}

/* ArgumentError if the map has the key of a part already, which another pair gets, or gets it twice. */
static void
check_taken(const splice *s, range r, range part)
{
    mp_own_changes place = place_of(s, part);
    range other = part;
    mp_key key;

    if (!place.take) return;
    key = mp_changes_key(&s->changes, place.take->value + r.depth);
    other.lo = mp_changes_find(&s->changes, r.lo, r.hi, r.depth, &key);
    if (!found_p(s, other)) return;
    if (adds_p(s, part)) refuse(s, part, "is both added and the new key of another pair");
    if (!found_p(s, part) || place.rename || (place.set && place.set->kind == MP_REMOVE)) return;
    mp_changes_refuse(&s->changes, place.take->value, part.depth, "gets a key that its map has");
}

/* Adds the pairs that a map does not have, in the order given. */
static void
add_pairs(splice *s, range r, uint32_t head, size_t at)
{
    bool adds = false;
    uint32_t lo, i;
    range part;

    for (lo = r.lo; lo < r.hi; lo = part.hi) {
        uint32_t first;

        part = part_of(s, r, lo);
        check_taken(s, r, part);
        if (adds_p(s, part)) adds = true;
        first = mp_changes_first(&s->changes, lo, part.hi)->order;
        for (i = lo; i < part.hi; i++) {
            change_at(s, i)->first = first;
            change_at(s, i)->place = i;
        }
    }
    if (!adds) return;
    mp_changes_sort_by_first(&s->changes, r.lo, r.hi);
    for (lo = r.lo; lo < r.hi; lo = part.hi) {
        mp_own_changes place;

        part = part_of(s, r, lo);
        if (!adds_p(s, part)) continue;
        check_creates(s, part);
        place = place_of(s, part);
        if (place.insert) refuse(s, part, "is no element of an array");
        add_value(s, part, &place, head, at);
    }
}

static void
check_index(const splice *s, range r, int64_t count)
{
    const mp_path_step *step = step_of(s, r);
    uint32_t start = change_at(s, r.lo)->start;

    if (step->kind == MP_UINT && step->rank == (uint64_t)count) return;
    rb_raise(rb_eIndexError, "index %" PRIsVALUE " outside of the array's %" PRId64 " elements, at %" PRIsVALUE,
             rb_inspect(mp_changes_step(&s->changes, start + r.depth - 1)), count,
             mp_changes_path(&s->changes, start, r.depth));
}

/* Adds the elements that an array of n does not have. */
static void
add_elements(splice *s, range r, uint32_t head, size_t at, int64_t n)
{
    range part;

    for (; r.lo < r.hi; r.lo = part.hi) {
        mp_own_changes place;

        part = part_of(s, r, r.lo);
        if (!adds_p(s, part)) continue;
        check_creates(s, part);
        place = place_of(s, part);
        if (place.rename) refuse(s, part, "is no key of a map");
        check_index(s, part, n);
        if (place.insert) add_values(s, part, head, place.insert->value, at);
        if (!place.append && !(place.set && place.set->kind == MP_SET) &&
            !first_to_add(s, (range){.lo = place.inside, .hi = part.hi})) {
            continue;
        }
        add_value(s, part, &place, head, at);
        n++;
    }
}

/* Makes a map or an array for the changes of a range, in place of nil or of nothing. */
static void
create(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t at, size_t end)
{
    range inside = {.lo = place->inside, .hi = r.hi, .depth = r.depth};
    const mp_change *first = first_to_add(s, inside);
    bool array = place->append || mp_step_index_p(mp_changes_step_at(&s->changes, first->start + r.depth));
    edit *made;

    check_level(r);
    made = add_edit(s, HEAD, r, head, at, end);
    made->before = -1;
    made->array = array;
    head = s->edits.count - 1;
    if (array) add_elements(s, inside, head, end, 0);
    else add_pairs(s, inside, head, end);
    if (place->append) add_values(s, r, head, place->append->value, end)->level++;
}

/* --- where everything is ---------------------------------------------------------------------------- */

static size_t locate(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t offset);

/* The first change of a key that is an ext, by what the ext is unpacked to. */
static uint32_t
find_ext(splice *s, range r, size_t offset)
{
    VALUE object = mp_peek_object(&s->peek, offset);
    uint32_t found = r.hi;
    mp_key key;

    if (mp_simple_key(object, &key)) found = mp_changes_find(&s->changes, r.lo, r.hi, r.depth, &key);
    RB_GC_GUARD(object);
    return found;
}

/* Among more changes than these it pays to try first the one whose turn it is. */
enum { FEW = 4 };

/* The first change of the key between two offsets; r.hi if there is none. `likely` is the one to try first. */
static uint32_t
find_key(splice *s, range r, uint32_t likely, size_t from, size_t to)
{
    mp_key key = mp_key_read(s->peek.look.bytes + from, s->peek.look.bytes + to);

    if (MP_UNLIKELY(key.kind == MP_EXT) && s->ext_keys) return find_ext(s, r, from);
    if (r.hi - r.lo > FEW && likely < r.hi &&
        mp_changes_find(&s->changes, likely, likely + 1, r.depth, &key) == likely) {
        return likely;
    }
    return mp_changes_find(&s->changes, r.lo, r.hi, r.depth, &key);
}

/* Passes over the value at a cursor, which a range is of. Its pair or element starts at `at`. */
static void
locate_value(splice *s, range r, mp_cursor *cursor, uint32_t head, size_t at)
{
    static const edit_kind kinds[] = {[MP_SET] = ONE, [MP_REMOVE] = REMOVE, [MP_CALL] = CALL};
    mp_own_changes place = place_of(s, r);
    bool map = cursor->kind == MP_MAP;
    size_t value = cursor->at;
    uint32_t i;

    for (i = r.lo; i < r.hi; i++) change_at(s, i)->found = r.depth;
    if (map && place.insert) refuse(s, r, "is no element of an array");
    if (!map && place.rename) refuse(s, r, "is no key of a map");
    if (place.insert) add_values(s, r, head, place.insert->value, at);
    if (place.rename) add_object(s, ONE, r, head, place.rename->value, at, value);
    if (place.inside < r.hi || place.append) {
        cursor->at = locate(s, r, &place, head, value);
        cursor->left--;
    } else {
        mp_peek_check(&s->peek, mp_cursor_next(cursor));
    }
    if (!place.set) return;
    if (place.set->kind == MP_REMOVE) edit_at(s, head)->n--;
    add_object(s, kinds[place.set->kind], r, head, place.set->value, place.set->kind == MP_REMOVE ? at : value,
               cursor->at)->pair = at;
}

/* The sizes of the names that a range has as its next step, up to that of a fixstr, each a bit. */
static uint32_t
lengths_of(const splice *s, range r)
{
    uint32_t lengths = 0;

    for (; r.lo < r.hi; r.lo++) {
        const mp_path_step *step = mp_changes_step_at(&s->changes, change_at(s, r.lo)->start + r.depth);

        if (mp_step_name_p(step) && mp_step_size(step) <= MP_FIXSTR_MAX) lengths |= UINT32_C(1) << mp_step_size(step);
    }
    return lengths;
}

/* True if the object at an offset is a fixstr of a size that is not among the lengths. */
static bool
other_length_p(const splice *s, size_t at, uint32_t lengths)
{
    uint32_t n = s->peek.look.bytes[at] - 0xa0u;

    return n <= MP_FIXSTR_MAX && !(lengths >> n & 1);
}

static void
locate_pairs(splice *s, range r, mp_cursor *cursor, uint32_t head)
{
    uint32_t lengths = lengths_of(s, r), likely = r.lo, missing = r.hi - r.lo, at;

    while (cursor->left) {
        size_t key = cursor->at;
        range part;

        mp_peek_check(&s->peek, mp_cursor_next(cursor));
        at = other_length_p(s, key, lengths) ? r.hi : find_key(s, r, likely, key, cursor->at);
        if (at == r.hi) {
            mp_peek_check(&s->peek, mp_cursor_next(cursor));
            continue;
        }
        part = part_of(s, r, at);
        likely = part.hi;
        s->peek.look.blame = key;
        if (found_p(s, part)) mp_peek_raise(&s->peek, MP_E_DUPLICATE_KEY);
        locate_value(s, part, cursor, head, key);
        missing -= part.hi - part.lo;
    }
    if (missing || s->changes.renames) add_pairs(s, r, head, cursor->at);
}

static void
locate_elements(splice *s, range r, mp_cursor *cursor, uint32_t head)
{
    uint64_t n = cursor->left;
    bool missing = false;
    range part = r;

    mp_changes_count_back(&s->changes, r.lo, r.hi, r.depth, n);
    for (; part.lo < r.hi; part.lo = part.hi) {
        const mp_path_step *step;

        part = part_of(s, r, part.lo);
        step = step_of(s, part);
        if (step->kind != MP_UINT || step->rank >= n) {
            missing = true;
            continue;
        }
        mp_peek_check(&s->peek, mp_cursor_pass(cursor, step->rank - (n - cursor->left)));
        locate_value(s, part, cursor, head, cursor->at);
    }
    mp_peek_check(&s->peek, mp_cursor_pass(cursor, cursor->left));
    if (missing) add_elements(s, r, head, cursor->at, (int64_t)n);
}

/* The same for an object that is no container: in place of nil one may be made. */
static size_t
locate_leaf(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t offset)
{
    bool nil = mp_peek_kind(&s->peek, offset) == MP_NIL;
    size_t end = mp_peek_over(&s->peek, offset);

    if (!nil && place->inside < r.hi) {
        refuse_parent(s, mp_changes_first(&s->changes, place->inside, r.hi), r.depth);
    }
    if (!nil && place->append) refuse(s, r, "is no array");
    if (first_to_add(s, (range){.lo = place->inside, .hi = r.hi}) || place->append) {
        check_creates(s, r);
        create(s, r, place, head, offset, end);
    }
    return end;
}

/* Finds the places of all changes in the object at an offset, and returns the offset after it. */
static size_t
locate(splice *s, range r, const mp_own_changes *place, uint32_t head, size_t offset)
{
    range inside = {.lo = place->inside, .hi = r.hi, .depth = r.depth};
    mp_cursor cursor;
    edit *opened;

    check_level(r);
    if (offset >= s->peek.look.size) mp_peek_over(&s->peek, offset); /* raises */
    if (!mp_container_p(mp_peek_kind(&s->peek, offset))) return locate_leaf(s, r, place, head, offset);
    cursor = mp_peek_open(&s->peek, offset);
    if (r.depth >= s->max_depth && cursor.left) mp_peek_raise(&s->peek, MP_E_DEPTH);
    if (place->append && cursor.kind == MP_MAP) refuse(s, r, "is no array");
    opened = add_edit(s, HEAD, r, head, offset, cursor.at);
    opened->array = cursor.kind == MP_ARRAY;
    opened->n = opened->before = (int64_t)(opened->array ? cursor.left : cursor.left / 2);
    head = s->edits.count - 1;
    if (r.depth) s->peek.look.walk.max_depth--;
    if (cursor.kind == MP_MAP) locate_pairs(s, inside, &cursor, head);
    else locate_elements(s, inside, &cursor, head);
    if (r.depth) s->peek.look.walk.max_depth++;
    if (place->append) add_values(s, r, head, place->append->value, cursor.at)->level++;
    return cursor.at;
}

/* --- blocks ----------------------------------------------------------------------------------------- */

/* Replaces Procs by what they return, in the order of the message. */
static void
call_blocks(splice *s)
{
    uint32_t i;

    for (i = 0; i < s->edits.count; i++) {
        edit *called = edit_at(s, i), *before = called - 1;
        VALUE value;

        if (called->kind != CALL) continue;
        value = mp_view_value_at(&s->peek, mp_view_root(s->view), called->at, called->end);
        value = rb_funcallv(mp_changes_object(&s->changes, called->object), rb_intern("call"), 1, &value);
        mp_peek_refresh(&s->peek);
        called->kind = ONE;
        if (value != s->removed) {
            called->object = mp_changes_keep(&s->changes, value);
            continue;
        }
        if (before->at == called->pair && before->end > before->at) before->kind = NOTHING; /* its new key */
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

/* The most levels of a new value that are counted at once. A longer value waits for the walk over the new message. */
enum { LEVELS = 128 };

/* True if the bytes that were written from an offset on are an object that may be nested too deeply at its place. */
static bool
maybe_too_deep_p(const splice *s, const edit *written, size_t from)
{
    const uint8_t *p, *end = s->encoder.out.pos;
    size_t room = s->max_depth - written->level;
    uint64_t left[LEVELS];
    mp_walk walk;

    if (s->encoder.buffer) return true; /* the bytes may be there already */
    p = s->encoder.out.start + from;
    if (!mp_container_p((mp_kind)MP_WIRE[*p].kind) || (size_t)(end - p) <= room) return false;
    if (room > LEVELS) return true;
    mp_walk_init(&walk, left, room);
    return mp_skip(&walk, &p, end) != MP_OK;
}

/* Writes the object of an edit. */
static void
write_object(splice *s, const edit *written, VALUE value)
{
    size_t from = mp_out_size(&s->encoder.out);

    if (MP_UNLIKELY(s->encoder.codec->options.canonical)) {
        value = mp_canonical_packed(mp_encode_whole(value, s->encoder.codec));
        mp_out_write(&s->encoder.out, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
    } else {
        mp_encode(&s->encoder, value);
    }
    if (!s->maybe_too_deep) s->maybe_too_deep = maybe_too_deep_p(s, written, from);
    RB_GC_GUARD(value);
}

static void
write_objects(splice *s, const edit *written, VALUE values)
{
    long i;

    for (i = 0; i < RARRAY_LEN(values); i++) write_object(s, written, RARRAY_AREF(values, i));
    RB_GC_GUARD(values);
}

/* Writes the last step of a path as a key. */
static void
write_name(splice *s, const edit *written)
{
    uint32_t step = written->start + written->depth - 1;
    mp_key key = mp_changes_key(&s->changes, step);
    uint8_t *p;

    if (key.kind != MP_STR) {
        write_object(s, written, mp_changes_step(&s->changes, step));
        return;
    }
    p = mp_out_reserve(&s->encoder.out, MP_HEAD_MAX + key.n);
    mp_out_commit(&s->encoder.out, mp_put_str_head(p, (uint32_t)key.n, s->encoder.codec->options.compatibility_mode));
    key = mp_changes_key(&s->changes, step);
    mp_out_write(&s->encoder.out, key.bytes, key.n);
}

static void
write_head(splice *s, const edit *written)
{
    uint32_t n = (uint32_t)written->n;
    uint8_t *p;

    if (written->n > UINT32_MAX) {
        mp_changes_refuse(&s->changes, written->start, written->depth, "is longer than MessagePack's limit");
    }
    if (written->level >= s->max_depth) s->maybe_too_deep = true;
    p = mp_out_reserve(&s->encoder.out, MP_HEAD_MAX);
    mp_out_commit(&s->encoder.out, written->array ? mp_put_array_head(p, n) : mp_put_map_head(p, n));
}

static void
write_edit(splice *s, const edit *written)
{
    switch ((edit_kind)written->kind) {
      case HEAD: write_head(s, written); break;
      case NAME: write_name(s, written); break;
      case ONE: write_object(s, written, mp_changes_object(&s->changes, written->object)); break;
      case SEVERAL: write_objects(s, written, mp_changes_object(&s->changes, written->object)); break;
      default: break;
    }
}

static VALUE
write_message(VALUE arg)
{
    splice *s = (splice *)arg;
    size_t at = s->start;
    uint32_t i;

    for (i = 0; i < s->edits.count; i++) {
        const edit *written = edit_at(s, i);

        if (written->kind == NOTHING || (written->kind == HEAD && written->n == written->before)) continue;
        copy(s, at, written->at);
        at = written->end;
        s->current = i;
        write_edit(s, written);
    }
    copy(s, at, s->end);
    return Qnil;
}

static VALUE
message_of(splice *s)
{
    int state;
    VALUE message;

    rb_protect(write_message, (VALUE)s, &state);
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
check_depth(VALUE message, VALUE codec)
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
    mp_own_changes whole;
    range all = {.lo = 0};
    splice s;

    s.start = mp_view_peek_once(view, &s.peek);
    Check_Type(changes, T_HASH);
    s.view = view;
    s.removed = removed;
    s.maybe_too_deep = false;
    s.max_depth = mp_unpack_max_depth(&s.peek.codec->options);
    s.current = 0;
    s.ext_keys = mp_ext_keys_p(s.peek.codec);
    mp_list_init(&s.edits, s.few_edits, sizeof(s.few_edits) / sizeof(edit));
    mp_changes_init(&s.changes, view, changes);
    mp_changes_read(&s.changes, removed);
    mp_peek_refresh(&s.peek);
    all.hi = s.changes.list.count;
    whole = place_of(&s, all);
    s.end = locate(&s, all, &whole, 0, s.start);
    mp_view_ended(view, s.end);
    call_blocks(&s);
    mp_encoder_init(&s.encoder, block, sizeof(block), s.peek.codec);
    mp_out_reserve(&s.encoder.out, s.end - s.start);
    message = message_of(&s);
    if (MP_UNLIKELY(s.maybe_too_deep)) check_depth(message, s.peek.codec_object);
    made = mp_view_whole(message, s.peek.codec_object);
    mp_changes_end(&s.changes);
    mp_peek_end(&s.peek);
    RB_GC_GUARD(s.edits.memory);
    return made;
}

void
Init_manypack_splice(void)
{
    MP_DEFINE_INTERNAL("splice", rb_internal_splice, 3);
}
