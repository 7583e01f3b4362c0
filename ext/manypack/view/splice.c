/*
 * View#splice: makes a message from another one by copying everything that does not change.
 *
 * One walk over the message finds the place of every change, and refuses those that are not possible. Then the blocks
 * are called. At last the new message is written, from the start to the end. User code runs in the last two parts, and
 * where an ext type that a key has is unpacked.
 */
#include "base/error.h"
#include "base/user_code.h"
#include "core/skip.h"
#include "pack/canonical_form.h"
#include "pack/encode.h"
#include "pack/foreign.h"
#include "view/changes.h"
#include "view/view.h"

/* Lives on the C stack and keeps what it refers to alive. */
typedef struct {
    mp_changes changes;
    mp_peek peek;
    mp_encoder encoder;
    VALUE view, removed;
    bool ext_keys;
    bool maybe_too_deep; /* the new message may be deeper than max_depth: something that was written is nested */
    uint32_t depth;      /* containers open around what is located or written */
    uint32_t max_depth;  /* of the new message */
    uint32_t current; /* the node whose value is being packed, for errors */
} splice;

static mp_node *
node_at(splice *s, uint32_t id)
{
    return &s->changes.nodes[id];
}

static mp_more *
more_at(splice *s, uint32_t id)
{
    return &s->changes.mores[node_at(s, id)->more];
}

static void
list_add(splice *s, mp_node_list *list, uint32_t id)
{
    if (list->last) node_at(s, list->last)->beside = id;
    else list->first = id;
    list->last = id;
    node_at(s, id)->beside = 0;
}

static void
level_open(splice *s)
{
    if (mp_stack_too_deep_p(++s->depth)) mp_raise_nesting(s->depth, rb_str_new_cstr("$"), false);
}

/* --- what is not in the message --------------------------------------------------------------------- */

static bool created_p(splice *s, uint32_t id);

/* KeyError: the parent of a node is neither a map nor an array. */
NORETURN(static void refuse_parent(splice *s, uint32_t id));

static void
refuse_parent(splice *s, uint32_t id)
{
    VALUE path = mp_changes_path(&s->changes, id), arguments[2];

    arguments[0] = rb_sprintf("no map or array to change at %" PRIsVALUE,
                              mp_changes_path(&s->changes, node_at(s, id)->parent));
    arguments[1] = rb_hash_new();
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("receiver")), s->view);
    rb_hash_aset(arguments[1], ID2SYM(rb_intern("key")), path);
    rb_exc_raise(rb_class_new_instance_kw(2, arguments, rb_eKeyError, RB_PASS_KEYWORDS));
}

/* KeyError unless the containers that a path leads through may be made. */
static void
check_creates(splice *s, uint32_t id)
{
    if (!node_at(s, id)->create) refuse_parent(s, id);
}

/* True for a node that is not in the message, and has something to be added. inside: its container is made, too. */
static bool
adds_p(splice *s, uint32_t id, bool inside)
{
    const mp_node *node = node_at(s, id);
    bool own = node->change == MP_SET || more_at(s, id)->inserted;

    if (own && inside) check_creates(s, id);
    return created_p(s, id) || own;
}

static void
check_pair(splice *s, uint32_t id)
{
    if (more_at(s, id)->inserted) mp_changes_refuse(&s->changes, rb_eArgError, id, "is no element of an array");
}

static void
check_element(splice *s, uint32_t id)
{
    const mp_more *more = more_at(s, id);

    if (more->new_key || more->renamer) mp_changes_refuse(&s->changes, rb_eArgError, id, "is no key of a map");
}

static void
add_pair(splice *s, uint32_t parent, uint32_t id)
{
    uint32_t renamer = more_at(s, id)->renamer;

    check_pair(s, id);
    if (renamer && node_at(s, renamer)->presence == MP_PRESENT) {
        mp_changes_refuse(&s->changes, rb_eArgError, id, "is both added and the new key of another pair");
    }
    node_at(s, id)->presence = MP_ADDED;
    list_add(s, &more_at(s, parent)->added, id);
}

/* The index that a node means in an array of n elements; -1 if it means none. No array has more than UINT32_MAX. */
static int64_t
index_of(const splice *s, uint32_t id, uint64_t n)
{
    const mp_step_key *step = &s->changes.nodes[id].step;

    if (step->kind == MP_UINT) return step->bits < UINT32_MAX ? (int64_t)step->bits : UINT32_MAX;
    if (step->kind != MP_INT || (int64_t)step->bits + (int64_t)n < 0) return -1;
    return (int64_t)step->bits + (int64_t)n;
}

/* Adds an element behind the last. *count is how many elements there are, with those that were added before. */
static void
add_element(splice *s, uint32_t parent, uint32_t id, int64_t index, int64_t *count)
{
    mp_node *node = node_at(s, id);

    check_element(s, id);
    if (index != *count) {
        rb_raise(rb_eIndexError, "index %" PRIsVALUE " outside of the array's %" PRId64 " elements, at %" PRIsVALUE,
                 rb_inspect(mp_changes_step(&s->changes, &node->step)), *count, mp_changes_path(&s->changes, id));
    }
    if (node->change == MP_SET || node->created) ++*count;
    node->presence = MP_ADDED;
    list_add(s, &more_at(s, parent)->added, id);
}

/* A node and the index that it means, as one number to sort by: the index plus one, and MP_NODE_BITS of the node. */
typedef uint64_t element;

static int64_t
element_index(element element)
{
    return (int64_t)(element >> MP_NODE_BITS) - 1;
}

static uint32_t
element_node(element element)
{
    return (uint32_t)element & ((UINT32_C(1) << MP_NODE_BITS) - 1);
}

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

/* Sorts by one digit. Elements with the same digit stay in their order. */
static void
sort_by_digit(const element *from, element *to, uint32_t count, unsigned shift)
{
    uint32_t starts[DIGITS + 1] = {0}, i;

    for (i = 0; i < count; i++) starts[(from[i] >> shift & (DIGITS - 1)) + 1]++;
    for (i = 1; i < DIGITS; i++) starts[i] += starts[i - 1];
    for (i = 0; i < count; i++) to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts by the index, in linear time. `spare` has as many places. Returns where the sorted elements are. */
static element *
sort_elements(element *elements, element *spare, uint32_t count, element highest)
{
    unsigned shift;

    for (shift = MP_NODE_BITS; shift < 64 && highest >> shift; shift += DIGIT) {
        element *sorted = spare;

        sort_by_digit(elements, sorted, count, shift);
        spare = elements;
        elements = sorted;
    }
    return elements;
}

/* Links the children of an array of n anew, in another order. Merges those that turn out to be the same element. */
static void
link_elements(splice *s, uint32_t parent, uint64_t n, const element *elements, uint32_t count)
{
    uint32_t i, last = element_node(elements[0]);

    more_at(s, parent)->child = last;
    for (i = 1; i < count; i++) {
        int64_t index = element_index(elements[i]);
        uint32_t id = element_node(elements[i]);

        if ((uint64_t)index < n && index == element_index(elements[i - 1])) {
            mp_changes_merge(&s->changes, last, id);
        } else {
            node_at(s, last)->next = id;
            last = id;
        }
    }
    node_at(s, last)->next = MP_NONE;
}

/* Brings the children of an array of n into the order of the elements that they mean. */
static void
sort_children(splice *s, uint32_t parent, uint64_t n)
{
    uint32_t count = more_at(s, parent)->children, i = 0, id;
    size_t size = (count * (size_t)2 + 128) * sizeof(element); /* too long to be embedded, so that it is not moved */
    element *elements, highest = 0;
    bool sorted = true;
    VALUE memory;

    if (!more_at(s, parent)->mixed) return;
    memory = rb_obj_hide(rb_str_buf_new((long)size));
    elements = (element *)(void *)RSTRING_PTR(memory);
    for (id = more_at(s, parent)->child; id; id = node_at(s, id)->next, i++) {
        elements[i] = (element)(index_of(s, id, n) + 1) << MP_NODE_BITS | id;
        if (elements[i] < highest) sorted = false;
        else highest = elements[i];
    }
    if (!sorted) elements = sort_elements(elements, elements + count, count, highest);
    link_elements(s, parent, n, elements, count);
    rb_str_resize(memory, 0);
}

/* Adds elements behind the last of n: the children from one of them on, up to another. inside: the array is made. */
static void
add_elements(splice *s, uint32_t parent, uint32_t from, uint32_t to, uint64_t n, bool inside)
{
    int64_t count = (int64_t)n;
    uint32_t id;

    for (id = from; id != to; id = node_at(s, id)->next) {
        if (adds_p(s, id, inside)) add_element(s, parent, id, index_of(s, id, n), &count);
    }
}

static void
create_array(splice *s, uint32_t id)
{
    sort_children(s, id, 0);
    add_elements(s, id, more_at(s, id)->child, MP_NONE, 0, true);
}

static void
create_map(splice *s, uint32_t id)
{
    uint32_t child;

    for (child = more_at(s, id)->child; child; child = node_at(s, child)->next) {
        if (adds_p(s, child, true)) add_pair(s, id, child);
    }
}

/* The first child of a node that is not in the message which has something to be added. */
static uint32_t
first_to_add(splice *s, uint32_t id)
{
    uint32_t child;

    for (child = more_at(s, id)->child; child; child = node_at(s, child)->next) {
        if (adds_p(s, child, true)) return child;
    }
    return MP_NONE;
}

/* True if a container has to be made, in place of nil or of nothing. */
static bool
created_p(splice *s, uint32_t id)
{
    mp_node *node = node_at(s, id);
    uint32_t first;

    if (node->created) return true;
    level_open(s);
    first = first_to_add(s, id);
    s->depth--;
    if (!first && !more_at(s, id)->appended) return false;
    if (more_at(s, id)->appended) check_creates(s, id);
    more_at(s, id)->array = more_at(s, id)->appended || mp_step_index_p(&node_at(s, first)->step);
    node->created = true;
    if (more_at(s, id)->array) create_array(s, id);
    else create_map(s, id);
    return true;
}

/* --- where everything is ---------------------------------------------------------------------------- */

static size_t locate(splice *s, uint32_t id, size_t offset);

/* The node of a key that is an ext, by what the ext is unpacked to. */
static uint32_t
ext_child(splice *s, uint32_t parent, size_t offset)
{
    uint32_t id = MP_NONE;
    mp_key key;
    VALUE object;

    mp_peek_leave(&s->peek);
    object = mp_peek_object(&s->peek, offset);
    if (mp_simple_key(object, &key)) id = mp_changes_find(&s->changes, parent, MP_NONE, &key);
    RB_GC_GUARD(object);
    return id;
}

/* The node of a key. `likely` is the one to try first, or MP_NONE. */
static uint32_t
child_at(splice *s, uint32_t parent, uint32_t likely, size_t from, size_t to)
{
    const uint8_t *bytes = s->peek.look.bytes;
    mp_key key = mp_key_read(bytes + from, bytes + to);

    if (key.kind == MP_EXT) return s->ext_keys ? ext_child(s, parent, from) : MP_NONE;
    return mp_container_p(key.kind) ? MP_NONE : mp_changes_find(&s->changes, parent, likely, &key);
}

/* Passes over the object at a cursor, which is the value of a node. */
static void
locate_at(splice *s, mp_cursor *cursor, uint32_t parent, uint32_t id, size_t at)
{
    mp_node *node = node_at(s, id);

    node->presence = MP_PRESENT;
    if (node->more) more_at(s, id)->at = at;
    list_add(s, &more_at(s, parent)->found, id);
    node->value_at = cursor->at;
    if (more_at(s, id)->child || more_at(s, id)->appended) {
        cursor->at = locate(s, id, cursor->at);
        cursor->left--;
    } else {
        mp_peek_check(&s->peek, mp_cursor_next(cursor));
    }
    node_at(s, id)->end = cursor->at;
}

/* A pair that keeps the key that another pair gets. */
static void
check_target(splice *s, uint32_t id)
{
    const mp_node *node = node_at(s, id);
    const mp_more *more = more_at(s, id);

    if (!more->renamer || node_at(s, more->renamer)->presence != MP_PRESENT) return;
    if (node->presence == MP_PRESENT && node->change != MP_REMOVE && !more->new_key) {
        mp_changes_refuse(&s->changes, rb_eArgError, more->renamer, "gets a key that its map has");
    }
}

/* The sizes of the children's names up to that of a fixstr, each a bit. */
static uint32_t
lengths_of(splice *s, uint32_t id)
{
    uint32_t lengths = 0, child;

    for (child = more_at(s, id)->child; child; child = node_at(s, child)->next) {
        const mp_step_key *step = &node_at(s, child)->step;

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
locate_pairs(splice *s, uint32_t id, mp_cursor *cursor)
{
    uint32_t lengths = lengths_of(s, id), likely = more_at(s, id)->child, child;

    mp_changes_prepare(&s->changes, id);
    mp_peek_refresh(&s->peek);
    while (cursor->left) {
        size_t key = cursor->at;

        mp_peek_check(&s->peek, mp_cursor_next(cursor));
        child = other_length_p(s, key, lengths) ? MP_NONE : child_at(s, id, likely, key, cursor->at);
        if (!child) {
            mp_peek_check(&s->peek, mp_cursor_next(cursor));
            continue;
        }
        likely = node_at(s, child)->next;
        s->peek.look.blame = key;
        if (node_at(s, child)->presence == MP_PRESENT) mp_peek_raise(&s->peek, MP_E_DUPLICATE_KEY);
        check_pair(s, child);
        locate_at(s, cursor, id, child, key);
    }
    for (child = more_at(s, id)->child; child; child = node_at(s, child)->next) {
        check_target(s, child);
        if (node_at(s, child)->presence == MP_ABSENT && adds_p(s, child, false)) add_pair(s, id, child);
    }
}

static void
locate_elements(splice *s, uint32_t id, mp_cursor *cursor)
{
    uint64_t n = cursor->left;
    uint32_t start, first, beyond;
    int64_t index;

    sort_children(s, id, n);
    start = first = more_at(s, id)->child;
    while (first && index_of(s, first, n) < 0) first = node_at(s, first)->next;
    for (beyond = first; beyond && (index = index_of(s, beyond, n)) < (int64_t)n; beyond = node_at(s, beyond)->next) {
        uint64_t passed = (uint64_t)index - (n - cursor->left);

        check_element(s, beyond);
        if (passed) mp_peek_check(&s->peek, mp_cursor_pass(cursor, passed));
        locate_at(s, cursor, id, beyond, cursor->at);
    }
    mp_peek_check(&s->peek, mp_cursor_pass(cursor, cursor->left));
    add_elements(s, id, start, first, n, false);
    add_elements(s, id, beyond, MP_NONE, n, false);
}

/* Finds the places of all changes in the object at an offset, and returns the offset after it. */
static size_t
locate(splice *s, uint32_t id, size_t offset)
{
    mp_cursor cursor;
    mp_kind kind;

    level_open(s);
    if (offset >= s->peek.look.size) mp_peek_over(&s->peek, offset); /* raises */
    kind = mp_peek_kind(&s->peek, offset);
    if (!mp_container_p(kind)) {
        size_t end = mp_peek_over(&s->peek, offset);

        if (kind != MP_NIL && more_at(s, id)->child) refuse_parent(s, more_at(s, id)->child);
        if (kind != MP_NIL && more_at(s, id)->appended) mp_changes_refuse(&s->changes, rb_eArgError, id, "is no array");
        created_p(s, id);
        s->depth--;
        return end;
    }
    cursor = mp_peek_open(&s->peek, offset);
    if (s->depth > s->max_depth && cursor.left) mp_peek_raise(&s->peek, MP_E_DEPTH);
    if (s->depth > 1) s->peek.look.walk.max_depth--;
    if (more_at(s, id)->appended && kind == MP_MAP) mp_changes_refuse(&s->changes, rb_eArgError, id, "is no array");
    if (kind == MP_MAP) locate_pairs(s, id, &cursor);
    else locate_elements(s, id, &cursor);
    if (s->depth > 1) s->peek.look.walk.max_depth++;
    s->depth--;
    return cursor.at;
}

/* --- blocks ----------------------------------------------------------------------------------------- */

/* Replaces Procs by what they return, in the order of the message. */
static void
call_below(splice *s, uint32_t parent)
{
    uint32_t id;

    for (id = more_at(s, parent)->found.first; id; id = node_at(s, id)->beside) {
        mp_node *node = node_at(s, id);
        VALUE value;

        if (node->change == MP_LEAVE) call_below(s, id);
        if (node->change != MP_CALL) continue;
        value = mp_view_value_at(&s->peek, mp_view_root(s->view), node->value_at, node->end);
        mp_peek_leave(&s->peek);
        value = rb_funcallv(mp_changes_object(&s->changes, node->value), rb_intern("call"), 1, &value);
        mp_peek_refresh(&s->peek);
        node->value = mp_changes_keep(&s->changes, value);
        node->change = value == s->removed ? MP_REMOVE : MP_SET;
    }
}

/* --- the new message -------------------------------------------------------------------------------- */

static void write_node(splice *s, uint32_t id);

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
maybe_too_deep_p(const splice *s, size_t from)
{
    const uint8_t *p, *end = s->encoder.out.pos;
    size_t room = s->max_depth - s->depth;
    uint64_t left[LEVELS];
    mp_walk walk;

    if (s->encoder.buffer) return true; /* the bytes may be there already */
    p = s->encoder.out.start + from;
    if (!mp_container_p((mp_kind)MP_WIRE[*p].kind) || (size_t)(end - p) <= room) return false;
    if (room > LEVELS) return true;
    mp_walk_init(&walk, left, room);
    return mp_skip(&walk, &p, end) != MP_OK;
}

static void
write_object(splice *s, uint32_t id, VALUE value)
{
    size_t from = mp_out_size(&s->encoder.out);

    s->current = id;
    if (MP_UNLIKELY(s->encoder.codec->options.canonical)) {
        value = mp_canonical_packed(mp_encode_whole(value, s->encoder.codec));
        mp_out_write(&s->encoder.out, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
    } else {
        mp_encode(&s->encoder, value);
    }
    if (!s->maybe_too_deep) s->maybe_too_deep = maybe_too_deep_p(s, from);
    RB_GC_GUARD(value);
}

/* Writes each of the values of an Array, or nothing for MP_NONE. */
static void
write_objects(splice *s, uint32_t id, uint32_t array)
{
    VALUE values = mp_changes_object(&s->changes, array);
    long i;

    if (!array) return;
    for (i = 0; i < RARRAY_LEN(values); i++) write_object(s, id, RARRAY_AREF(values, i));
    RB_GC_GUARD(values);
}

static int64_t
values_count(const splice *s, uint32_t array)
{
    return array ? (int64_t)RARRAY_LEN(mp_changes_object(&s->changes, array)) : 0;
}

static void
write_key(splice *s, uint32_t id)
{
    const mp_node *node = node_at(s, id);
    mp_key key = mp_changes_key(&s->changes, &node->step);
    uint8_t *p;

    if (key.kind != MP_STR || key.n > UINT32_MAX) {
        write_object(s, id, mp_changes_step(&s->changes, &node->step));
        return;
    }
    p = mp_out_reserve(&s->encoder.out, MP_HEAD_MAX);
    mp_out_commit(&s->encoder.out, mp_put_str_head(p, (uint32_t)key.n, s->encoder.codec->options.compatibility_mode));
    key = mp_changes_key(&s->changes, &node->step);
    mp_out_write(&s->encoder.out, key.bytes, key.n);
}

/* How many pairs or elements a container gains. */
static int64_t
growth(splice *s, uint32_t container)
{
    const mp_more *more = more_at(s, container);
    int64_t n = values_count(s, more->appended);
    uint32_t id;

    for (id = s->changes.resizes ? more->found.first : MP_NONE; id; id = node_at(s, id)->beside) {
        const mp_node *node = node_at(s, id);

        n += values_count(s, more_at(s, id)->inserted) - (node->change == MP_REMOVE);
    }
    for (id = more->added.first; id; id = node_at(s, id)->beside) {
        const mp_node *node = node_at(s, id);

        n += values_count(s, more_at(s, id)->inserted) + (node->change == MP_SET || node->created);
    }
    return n;
}

static void
write_head(splice *s, uint32_t id, bool array, int64_t n)
{
    uint8_t *p;

    if (n > UINT32_MAX) mp_changes_refuse(&s->changes, rb_eArgError, id, "is longer than MessagePack's limit");
    p = mp_out_reserve(&s->encoder.out, MP_HEAD_MAX);
    mp_out_commit(&s->encoder.out, array ? mp_put_array_head(p, (uint32_t)n) : mp_put_map_head(p, (uint32_t)n));
}

/* Writes what comes after the last pair or element. */
static void
write_added(splice *s, uint32_t container, bool array)
{
    uint32_t id;

    for (id = more_at(s, container)->added.first; id; id = node_at(s, id)->beside) {
        write_objects(s, id, more_at(s, id)->inserted);
        if (!array) write_key(s, id);
        if (node_at(s, id)->change == MP_SET || node_at(s, id)->created) write_node(s, id);
    }
    write_objects(s, container, more_at(s, container)->appended);
}

/* Writes a pair or an element that the message has, after everything between `from` and it. */
static void
write_found(splice *s, uint32_t id, size_t from)
{
    const mp_node *node = node_at(s, id);
    const mp_more *more = more_at(s, id);

    if (more->inserted || more->new_key || node->change == MP_REMOVE) {
        copy(s, from, more->at);
        write_objects(s, id, more->inserted);
        if (node->change == MP_REMOVE) return; /* a Proc may have removed what gets a new key */
        if (more->new_key) write_object(s, id, mp_changes_object(&s->changes, more->new_key));
        else copy(s, more->at, node->value_at);
    } else {
        copy(s, from, node->value_at);
    }
    write_node(s, id);
}

/* Writes a container that the message has, with its changes. */
static void
write_changed(splice *s, uint32_t container)
{
    size_t at = node_at(s, container)->value_at;
    int64_t more = growth(s, container);
    bool array;
    mp_head head = {.kind = MP_NEVER};
    uint32_t id;

    mp_peek_refresh(&s->peek);
    mp_peek_check(&s->peek, mp_head_read(s->peek.look.bytes + at, s->peek.look.bytes + s->peek.look.size, &head));
    array = head.kind == MP_ARRAY;
    if (more) {
        at = (size_t)(head.payload - s->peek.look.bytes);
        write_head(s, container, array, (int64_t)head.n + more);
    }
    for (id = more_at(s, container)->found.first; id; id = node_at(s, id)->beside) {
        write_found(s, id, at);
        at = node_at(s, id)->end;
    }
    copy(s, at, node_at(s, container)->end);
    write_added(s, container, array);
}

static void
write_node(splice *s, uint32_t id)
{
    const mp_node *node = node_at(s, id);
    const mp_more *more = more_at(s, id);

    if (node->change == MP_SET) {
        write_object(s, id, mp_changes_object(&s->changes, node->value));
        return;
    }
    level_open(s);
    if (s->depth > s->max_depth) s->maybe_too_deep = true;
    if (node->created) {
        write_head(s, id, more->array, growth(s, id));
        write_added(s, id, more->array);
    } else if (more->found.first || more->added.first || more->appended) {
        write_changed(s, id);
    } else {
        copy(s, node->value_at, node->end);
    }
    s->depth--;
}

static VALUE
write_message(VALUE arg)
{
    splice *s = (splice *)arg;

    write_node(s, 0);
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
            VALUE path = rb_obj_as_string(mp_changes_path(&s->changes, s->current));

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
    size_t offset;
    splice s;

    offset = mp_view_peek_once(view, &s.peek);
    Check_Type(changes, T_HASH);
    s.view = view;
    s.removed = removed;
    s.maybe_too_deep = false;
    s.depth = 0;
    s.max_depth = mp_unpack_max_depth(&s.peek.codec->options);
    s.current = 0;
    s.ext_keys = mp_ext_keys_p(s.peek.codec);
    mp_changes_init(&s.changes, view, changes);
    mp_changes_add_all(&s.changes, removed);
    mp_peek_refresh(&s.peek);
    s.changes.nodes[0].value_at = offset;
    offset = locate(&s, 0, offset);
    s.changes.nodes[0].end = offset;
    mp_view_ended(view, offset);
    if (s.changes.calls) call_below(&s, 0);
    mp_encoder_init(&s.encoder, block, sizeof(block), s.peek.codec);
    mp_out_reserve(&s.encoder.out, offset - s.changes.nodes[0].value_at);
    message = message_of(&s);
    if (MP_UNLIKELY(s.maybe_too_deep)) check_depth(message, s.peek.codec_object);
    made = mp_view_whole(message, s.peek.codec_object);
    if (!s.peek.left_once) mp_changes_end(&s.changes);
    mp_peek_end(&s.peek);
    RB_GC_GUARD(s.changes.objects);
    RB_GC_GUARD(s.changes.memory);
    RB_GC_GUARD(s.changes.more_memory);
    RB_GC_GUARD(s.changes.table_memory);
    return made;
}

void
Init_manypack_splice(void)
{
    MP_DEFINE_INTERNAL("splice", rb_internal_splice, 3);
}
