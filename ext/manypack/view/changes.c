/* The changes that View#splice is given, sorted by their paths, container by container. */
#include "view/changes.h"

#include <ruby/util.h>

#include "base/error.h"
#include "base/stack.h"
#include "view/peek.h"

static VALUE all;
static ID id_change, id_kind, id_value, id_places, id_splice, id_of, id_path_class, id_view;

/* --- memory ----------------------------------------------------------------------------------------- */

void
mp_list_init(mp_list *list, void *few, uint32_t room)
{
    *list = (mp_list){.items = few, .room = room};
}

void
mp_list_grow(mp_list *list, size_t size)
{
    size_t bytes = (size_t)list->room * size;
    VALUE memory = list->memory;
    void *items;

    if (list->room > UINT32_MAX / 8) rb_raise(rb_eArgError, "too many changes");
    items = rb_alloc_tmp_buffer2(&list->memory, (long)list->room * 4, size);
    memcpy(items, list->items, bytes);
    list->items = items;
    list->room *= 4;
    if (memory) rb_free_tmp_buffer(&memory);
}

uint32_t
mp_changes_keep(mp_changes *changes, VALUE object)
{
    *(VALUE *)mp_list_add(&changes->objects, sizeof(VALUE)) = object;
    return changes->objects.count - 1;
}

static int
keep_pair(VALUE path, VALUE change, VALUE arg)
{
    if (RB_TYPE_P(path, T_STRING)) path = rb_str_new_frozen(path); /* user code may change it meanwhile */
    mp_changes_keep((mp_changes *)arg, path);
    mp_changes_keep((mp_changes *)arg, change);
    return ST_CONTINUE;
}

void
mp_changes_init(mp_changes *changes, VALUE view, VALUE hash)
{
    changes->view = view;
    changes->renames = false;
    mp_list_init(&changes->objects, changes->few_objects, sizeof(changes->few_objects) / sizeof(VALUE));
    mp_list_init(&changes->steps, changes->few_steps, sizeof(changes->few_steps) / sizeof(mp_path_step));
    mp_list_init(&changes->list, changes->few, sizeof(changes->few) / sizeof(mp_change));
    rb_hash_foreach(hash, keep_pair, (VALUE)changes);
}

/* --- steps ------------------------------------------------------------------------------------------ */

mp_key
mp_changes_key(const mp_changes *changes, uint32_t i)
{
    const mp_path_step *step = mp_changes_step_at(changes, i);
    mp_key key;

    if (step->n) return mp_key_str(RSTRING_PTR(step->object) + step->from, step->n);
    if (RB_FIXNUM_P(step->object)) return mp_key_sint(FIX2LONG(step->object));
    if (step->object == MP_END) return (mp_key){.kind = MP_NEVER, .bits = UINT64_MAX};
    if (mp_simple_key(step->object, &key) && key.n <= UINT32_MAX) return key;
    return (mp_key){.kind = MP_NEVER, .bits = i}; /* equal to no other */
}

VALUE
mp_changes_step(const mp_changes *changes, uint32_t i)
{
    const mp_path_step *step = mp_changes_step_at(changes, i);

    return step->n ? rb_str_subseq(step->object, (long)step->from, (long)step->n) : step->object;
}

static void
push_step(mp_changes *changes, mp_path_step step)
{
    *(mp_path_step *)mp_list_add(&changes->steps, sizeof(mp_path_step)) = step;
}

/* Adds a step: a str, a number, nil, true or false. ArgumentError for other keys. */
static void
add_step(mp_changes *changes, VALUE object)
{
    mp_key key;

    if (RB_SYMBOL_P(object)) object = rb_sym2str(object);
    if (RB_TYPE_P(object, T_STRING)) object = rb_str_new_frozen(object);
    if (!mp_simple_key(object, &key) && !RB_INTEGER_TYPE_P(object)) {
        rb_raise(rb_eArgError, "no change can name the key %" PRIsVALUE, rb_inspect(object));
    }
    push_step(changes, (mp_path_step){.object = object});
}

static void
add_steps(mp_changes *changes, VALUE steps)
{
    long i;

    for (i = 0; i < RARRAY_LEN(steps); i++) add_step(changes, RARRAY_AREF(steps, i));
}

/* True for a String, Symbol or Integer that means one key or index. */
static bool
plain_step_p(VALUE step)
{
    if (RB_TYPE_P(step, T_STRING)) return mp_utf8_index_p(ENCODING_GET(step));
    return RB_FIXNUM_P(step) || (RB_SYMBOL_P(step) && step != all);
}

static bool
plain_steps_p(VALUE steps)
{
    long i = 0, n = RARRAY_LEN(steps);

    while (i < n && plain_step_p(RARRAY_AREF(steps, i))) i++;
    return i == n;
}

/* Adds the index in brackets at `at`. Returns the offset after it, or 0 if something else is there. */
static size_t
read_index(mp_changes *changes, const char *text, size_t at, size_t n)
{
    size_t start = ++at;
    long index = 0;

    while (at < n && at - start < 10 && ISDIGIT(text[at])) index = index * 10 + (text[at++] - '0');
    if (at == start || at == n || text[at] != ']' || (text[start] == '0' && at - start > 1)) return 0;
    push_step(changes, (mp_path_step){.object = LONG2FIX(index)});
    return at + 1;
}

/* Adds the name at `at`. Returns the offset after it, or 0 if something else is there. */
static size_t
read_name(mp_changes *changes, VALUE text, size_t at, size_t n)
{
    const char *bytes = RSTRING_PTR(text);
    size_t start = at;

    while (at < n && (ISALPHA(bytes[at]) || bytes[at] == '_' || (at > start && ISDIGIT(bytes[at])))) at++;
    if (at == start || (at < n && bytes[at] != '.' && bytes[at] != '[')) return 0;
    push_step(changes, (mp_path_step){.object = text, .from = (uint32_t)start, .n = (uint32_t)(at - start)});
    return at;
}

/*
 * Fast path (middle/splice a field) for a text such as "users[0].name": adds its steps. False for anything but plain
 * names and indices: the parser of Path reads those. It takes 10 us or more for a new text, this takes 50 ns.
 */
static bool
read_text(mp_changes *changes, VALUE text)
{
    size_t n = (size_t)RSTRING_LEN(text), start = n > 1 && RSTRING_PTR(text)[0] == '$', at = start;
    uint32_t before = changes->steps.count;

    if (!n || n > UINT32_MAX || !mp_utf8_index_p(ENCODING_GET(text))) return false;
    do {
        char next = RSTRING_PTR(text)[at];

        if (next == '[') at = read_index(changes, RSTRING_PTR(text), at, n);
        else if (at == 0) at = read_name(changes, text, at, n);
        else at = next == '.' ? read_name(changes, text, at + 1, n) : 0;
    } while (at && at < n);
    if (!at) changes->steps.count = before;
    return at != 0;
}

/* An error does not show a path with more steps: Ruby cannot pass that many arguments. */
enum { MANY_STEPS = 10000 };

VALUE
mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth)
{
    VALUE steps = rb_ary_new();
    uint32_t i;

    if (depth > MANY_STEPS) mp_raise_nesting(depth, rb_str_new_cstr("$"), false);
    for (i = start; i < start + depth; i++) {
        VALUE step = mp_changes_step(changes, i);

        if (step != MP_END) rb_ary_push(steps, step);
    }
    return rb_apply(rb_const_get(mp_mManypack, id_path_class), id_of, steps);
}

void
mp_changes_refuse(const mp_changes *changes, uint32_t start, uint32_t depth, const char *words)
{
    rb_raise(rb_eArgError, "%" PRIsVALUE " %s", mp_changes_path(changes, start, depth), words);
}

/* --- order ------------------------------------------------------------------------------------------ */

MP_INLINE int
order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* A bin may be the same key as a str. */
MP_INLINE uint8_t
key_kind(const mp_key *key)
{
    return (uint8_t)(key->kind == MP_BIN ? MP_STR : key->kind);
}

/* The number by which keys are ordered first. Names with rising numbers are in order, and few names share a rank. */
static uint64_t
rank_of(const mp_key *key)
{
    uint32_t end = 0;
    size_t i;

    if (key_kind(key) != MP_STR) return key->bits;
    for (i = key->n < 4 ? 0 : key->n - 4; i < key->n; i++) end = end << 8 | key->bytes[i];
    return (uint64_t)key->n << 32 | end;
}

/* Compares a change's step at a depth with a key of the given rank. */
MP_INLINE int
compare_key(const mp_changes *changes, const mp_change *change, uint32_t depth, const mp_key *key, uint64_t rank)
{
    mp_key own;

    if (change->rank != rank) return change->rank < rank ? -1 : 1;
    if (change->step != key_kind(key)) return order(change->step, key_kind(key));
    if (change->step != MP_STR) return 0;
    own = mp_changes_key(changes, change->start + depth);
    return mp_key_compare(&own, key);
}

MP_INLINE int
compare_steps(const mp_changes *changes, const mp_change *one, const mp_change *other, uint32_t depth)
{
    mp_key key = {.kind = (mp_kind)other->step};

    if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
    if (other->step == MP_STR) key = mp_changes_key(changes, other->start + depth);
    return compare_key(changes, one, depth, &key, other->rank);
}

/* The context of a comparison. */
typedef struct {
    const mp_changes *changes;
    uint32_t depth;
} sorting;

static int
compare_changes(const void *a, const void *b, void *arg)
{
    const mp_change *one = a, *other = b;
    const sorting *by = arg;
    int compared = compare_steps(by->changes, one, other, by->depth);
    bool inside, other_inside;

    if (compared) return compared;
    inside = one->depth > by->depth + 1;
    other_inside = other->depth > by->depth + 1;
    return inside == other_inside ? order(one->order, other->order) : inside - other_inside;
}

static void
sort(const mp_changes *changes, mp_range r)
{
    sorting by = {.changes = changes, .depth = r.depth};
    mp_change *first = mp_changes_at(changes, r.lo);
    uint32_t n = r.hi - r.lo, i = 1;

    while (i < n && compare_changes(&first[i - 1], &first[i], &by) < 0) i++;
    if (i < n) ruby_qsort(first, n, sizeof(mp_change), compare_changes, &by);
}

uint32_t
mp_changes_sort(mp_changes *changes, mp_range r, uint64_t n)
{
    uint32_t lengths = 0, i;

    for (i = r.lo; i < r.hi; i++) {
        mp_change *change = mp_changes_at(changes, i);
        mp_key key = mp_changes_key(changes, change->start + r.depth);

        if (key.kind == MP_INT && (int64_t)(key.bits + n) >= 0) key = mp_key_uint(key.bits + n);
        change->step = key_kind(&key);
        change->rank = rank_of(&key);
        if (change->step == MP_STR && key.n <= MP_FIXSTR_MAX) lengths |= UINT32_C(1) << key.n;
    }
    sort(changes, r);
    return lengths;
}

void
mp_changes_sort_by_order(mp_changes *changes, mp_range r)
{
    uint32_t i = r.lo, end;

    while (i < r.hi) {
        uint64_t first = mp_changes_at(changes, i)->order;

        for (end = mp_changes_part(changes, r, i).hi; i < end; i++) mp_changes_at(changes, i)->rank = first;
    }
    sort(changes, r);
}

uint32_t
mp_changes_find(const mp_changes *changes, mp_range r, const mp_key *key)
{
    uint32_t end = r.hi, found = r.hi;
    uint64_t rank = rank_of(key);

    while (r.lo < end) {
        uint32_t middle = r.lo + (end - r.lo) / 2;
        int compared = compare_key(changes, mp_changes_at(changes, middle), r.depth, key, rank);

        if (!compared) found = middle;
        if (compared < 0) r.lo = middle + 1;
        else end = middle;
    }
    return found;
}

mp_range
mp_changes_part(const mp_changes *changes, mp_range r, uint32_t from)
{
    const mp_change *first = mp_changes_at(changes, from);
    uint32_t end = from + 1;

    while (end < r.hi && !compare_steps(changes, first, mp_changes_at(changes, end), r.depth)) end++;
    return (mp_range){.lo = from, .hi = end, .depth = r.depth + 1};
}

/* --- changes that exclude one another --------------------------------------------------------------- */

/* Sets the only change of its kind for a value. A path may have found the value twice, with the same change. */
static void
only(const mp_changes *changes, const mp_change **own, const mp_change *change, const char *words)
{
    if (*own && (*own)->value != change->value) mp_changes_refuse(changes, change->start, change->depth, words);
    *own = change;
}

/* True if two steps are the same key. */
static bool
same_key_p(const mp_changes *changes, uint32_t one, uint32_t other)
{
    mp_key a = mp_changes_key(changes, one), b = mp_changes_key(changes, other);

    return mp_key_compare(&a, &b) == 0;
}

/* The same for the new key of a renamed pair, which no other pair may get. */
static void
only_take(const mp_changes *changes, const mp_change **own, const mp_change *change)
{
    uint32_t last = change->depth - 1;

    if (*own && !same_key_p(changes, (*own)->value + last, change->value + last)) {
        mp_changes_refuse(changes, change->value, change->depth, "gets a key that another pair gets");
    }
    *own = change;
}

mp_own_changes
mp_changes_own(const mp_changes *changes, mp_range r)
{
    mp_own_changes own = {.inside = r};
    uint32_t i;

    for (i = r.lo; i < r.hi && mp_changes_at(changes, i)->depth == r.depth; i++) {
        const mp_change *change = mp_changes_at(changes, i);

        own.create |= change->create;
        switch ((mp_change_kind)change->kind) {
          case MP_INSERT: only(changes, &own.insert, change, "has values inserted twice"); break;
          case MP_APPEND: only(changes, &own.insert, change, "has values appended twice"); break;
          case MP_RENAME: only(changes, &own.rename, change, "is renamed twice"); break;
          case MP_TAKE: only_take(changes, &own.take, change); break;
          case MP_KEEP: break;
          default: only(changes, &own.set, change, "is changed twice");
        }
    }
    own.inside.lo = i;
    if (own.set && own.set->kind == MP_REMOVE && own.rename) {
        mp_changes_refuse(changes, own.set->start, r.depth, "is both removed and renamed");
    }
    if (own.set && i < r.hi) {
        mp_changes_refuse(changes, mp_changes_at(changes, i)->start, r.depth + 1,
                          "is inside a value that another change replaces");
    }
    return own;
}

void
mp_changes_check(mp_changes *changes, mp_range r)
{
    mp_range inside = mp_changes_own(changes, r).inside, part = inside;

    if (inside.hi - inside.lo < 2) return;
    if (mp_stack_too_deep_p(r.depth)) mp_raise_nesting(r.depth, rb_str_new_cstr("$"), false);
    mp_changes_sort(changes, inside, 0);
    for (; part.lo < inside.hi; part.lo = part.hi) {
        part = mp_changes_part(changes, inside, part.lo);
        mp_changes_check(changes, part);
    }
}

/* --- reading ---------------------------------------------------------------------------------------- */

static void
add_change(mp_changes *changes, uint32_t start, uint32_t end, mp_change change)
{
    mp_change *added = mp_list_add(&changes->list, sizeof(mp_change));

    change.start = start;
    change.depth = end - start;
    change.order = changes->list.count;
    *added = change;
}

/* A rename adds a second change, for the new key, so that the walk notices if the map already has that key. */
static void
rename_key(mp_changes *changes, uint32_t start, mp_change change)
{
    uint32_t i, end = changes->steps.count, taken = end;

    for (i = start; i < end - 1; i++, taken++) push_step(changes, *mp_changes_step_at(changes, i));
    add_step(changes, mp_changes_object(changes, change.value));
    if (same_key_p(changes, end - 1, taken)) {
        change.kind = MP_KEEP;
    } else {
        add_change(changes, end, changes->steps.count, (mp_change){.kind = MP_TAKE, .value = start});
        changes->renames = true;
    }
    add_change(changes, start, end, change);
}

/* Adds a change, whose path is the steps from `start` on. */
static void
put_change(mp_changes *changes, uint32_t start, mp_change change)
{
    if (change.kind == MP_APPEND) push_step(changes, (mp_path_step){.object = MP_END});
    if (start == changes->steps.count) rb_raise(rb_eArgError, "a change needs the path of a key or index, got $");
    if (change.kind == MP_RENAME) rename_key(changes, start, change);
    else add_change(changes, start, changes->steps.count, change);
}

/* A constant of View, which may be loaded on first use. */
static VALUE
view_const(ID name)
{
    return rb_const_get(rb_const_get(mp_mManypack, id_view), name);
}

/* True for a Change of lib/manypack/view/splice.rb, which is loaded when the first one is made. */
static bool
change_p(VALUE object)
{
    return RB_TYPE_P(object, T_OBJECT) && rb_obj_class(object) == view_const(id_change);
}

static bool
callable_p(VALUE object)
{
    return RB_TYPE_P(object, T_DATA) && (RTEST(rb_obj_is_proc(object)) || RTEST(rb_obj_is_method(object)));
}

/* The kind of a Change; MP_SET for one that creates parents. */
static mp_change_kind
change_kind(VALUE change)
{
    VALUE kind = rb_ivar_get(change, id_kind);

    if (kind == ID2SYM(rb_intern("inserted"))) return MP_INSERT;
    if (kind == ID2SYM(rb_intern("appended"))) return MP_APPEND;
    return kind == ID2SYM(rb_intern("renamed")) ? MP_RENAME : MP_SET;
}

/*
 * The value of a Change, converted to what a change of that kind needs: user code may have made the Change, and change
 * it meanwhile.
 */
static VALUE
change_value(VALUE change, mp_change_kind kind)
{
    VALUE value = rb_ivar_get(change, id_value);

    if (kind == MP_INSERT || kind == MP_APPEND) {
        Check_Type(value, T_ARRAY);
        return RB_OBJ_FROZEN(value) ? value : rb_ary_dup(value);
    }
    return RB_TYPE_P(value, T_STRING) ? rb_str_new_frozen(value) : value;
}

/* Changes nested deeper than this are taken to contain themselves. */
enum { MANY_CHANGES = 100 };

static mp_change
read_change(mp_changes *changes, uint32_t index, VALUE removed)
{
    VALUE object = mp_changes_object(changes, index);
    mp_change change = {.kind = MP_SET, .value = index};
    int i;

    if (RB_SPECIAL_CONST_P(object)) return change;
    for (i = 0; change.kind == MP_SET && change_p(object); i++) {
        if (i == MANY_CHANGES) rb_raise(rb_eArgError, "too many changes inside one another");
        change.kind = (uint8_t)change_kind(object);
        change.create |= change.kind == MP_SET;
        object = change_value(object, (mp_change_kind)change.kind);
        change.value = mp_changes_keep(changes, object);
    }
    if (change.kind != MP_SET) return change;
    if (object == removed) change.kind = MP_REMOVE;
    else if (callable_p(object)) change.kind = MP_CALL;
    return change;
}

/* Adds the steps of a path to a single place. False if Ruby code must read the path. */
static bool
read_path(mp_changes *changes, VALUE path)
{
    if (RB_TYPE_P(path, T_STRING)) return read_text(changes, path);
    if (RB_SYMBOL_P(path) && path != all) add_step(changes, path);
    else if (RB_TYPE_P(path, T_ARRAY) && plain_steps_p(path)) add_steps(changes, path);
    else return false;
    return true;
}

/* Adds a change for each value that the path finds, after the parser of Path has read it. */
static void
put_at_places(mp_changes *changes, VALUE path, mp_change change)
{
    VALUE arguments[2] = {changes->view, path}, found = rb_funcallv(view_const(id_splice), id_places, 2, arguments);
    long i;

    for (i = 0; i < RARRAY_LEN(found); i++) {
        uint32_t start = changes->steps.count;

        add_steps(changes, RARRAY_AREF(found, i));
        put_change(changes, start, change);
    }
}

void
mp_changes_read(mp_changes *changes, VALUE removed)
{
    uint32_t index, end = changes->objects.count;

    for (index = 0; index < end; index += 2) {
        mp_change change = read_change(changes, index + 1, removed);
        VALUE path = mp_changes_object(changes, index);
        uint32_t start = changes->steps.count;

        if (read_path(changes, path)) put_change(changes, start, change);
        else put_at_places(changes, path, change);
    }
}

void
Init_manypack_changes(void)
{
    all = ID2SYM(rb_intern("*"));
    id_change = rb_intern("Change");
    id_kind = rb_intern("@kind");
    id_value = rb_intern("@value");
    id_places = rb_intern("places");
    id_splice = rb_intern("Splice");
    id_of = rb_intern("of");
    id_path_class = rb_intern("Path");
    id_view = rb_intern("View");
}
