/* The changes that View#splice is given, sorted by their paths, container by container. */
#include "view/changes.h"

#include <ruby/util.h>

#include "base/pack_error.h"
#include "base/stack.h"
#include "caches/ractor.h"
#include "caches/string_cache.h"
#include "view/peek.h"

static VALUE all, sym_inserted, sym_appended, sym_renamed;
static ID id_change, id_kind, id_value, id_parents, id_places, id_of, id_path_class;

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

/* --- paths ------------------------------------------------------------------------------------------ */

mp_key
mp_changes_key(const mp_changes *changes, uint32_t i)
{
    VALUE step = mp_changes_object(changes, i);
    mp_key key;

    if (step == MP_END) return (mp_key){.kind = MP_MAP, .bits = 1}; /* equal to no key, and after every index */
    return mp_simple_key(step, &key) ? key : (mp_key){.kind = MP_NEVER, .bits = i}; /* equal to no other */
}

/* Adds a step: a str, a number, nil, true or false. ArgumentError for other keys. */
static void
add_step(mp_changes *changes, VALUE step)
{
    mp_key key;

    if (RB_SYMBOL_P(step)) step = rb_sym2str(step);
    if (RB_TYPE_P(step, T_STRING)) step = rb_str_new_frozen(step); /* user code may change it meanwhile */
    if (!mp_simple_key(step, &key) && !RB_INTEGER_TYPE_P(step)) {
        rb_raise(rb_eArgError, "no change can name the key %" PRIsVALUE, rb_inspect(step));
    }
    mp_changes_keep(changes, step);
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

/* Adds the index in brackets at p. Returns the place after it, or NULL if something else is there. */
static const char *
read_index(mp_changes *changes, const char *p, const char *end)
{
    const char *digits = ++p;
    long index = 0;

    while (p < end && p - digits < 10 && ISDIGIT(*p)) index = index * 10 + (*p++ - '0');
    if (p == digits || p == end || *p != ']' || (*digits == '0' && p - digits > 1)) return NULL;
    mp_changes_keep(changes, LONG2FIX(index));
    return p + 1;
}

/* Adds the name at p. Returns the place after it, or NULL if something else is there. */
static const char *
read_name(mp_changes *changes, const char *p, const char *end)
{
    const char *name = p;

    while (p < end && (ISALPHA(*p) || *p == '_' || (p > name && ISDIGIT(*p)))) p++;
    if (p == name || (p < end && *p != '.' && *p != '[')) return NULL;
    mp_changes_keep(changes, mp_string_cache_fetch(&mp_ractor_current()->keys, (const uint8_t *)name,
                                                   (size_t)(p - name), MP_KEY_STRING));
    return p;
}

/*
 * Fast path (middle/splice a field) for a text such as "users[0].name": adds its steps. False for anything but plain
 * names and indices: the parser of Path reads those. It takes 10 us or more for a new text, this takes 50 ns.
 */
static bool
read_text(mp_changes *changes, VALUE text)
{
    const char *start = RSTRING_PTR(text), *end = start + RSTRING_LEN(text), *p = start;
    uint32_t before = changes->objects.count;

    if (start == end || !mp_utf8_index_p(ENCODING_GET(text))) return false;
    if (*p == '$' && end - p > 1) p++;
    do {
        if (*p == '[') p = read_index(changes, p, end);
        else if (p == start) p = read_name(changes, p, end);
        else p = *p == '.' ? read_name(changes, p + 1, end) : NULL;
    } while (p && p < end);
    if (!p) changes->objects.count = before;
    RB_GC_GUARD(text);
    return p != NULL;
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

/* An error does not show a path with more steps: Ruby cannot pass that many arguments. */
enum { MANY_STEPS = 10000 };

VALUE
mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth)
{
    const VALUE *steps = (const VALUE *)changes->objects.items + start;

    if (depth > MANY_STEPS) mp_raise_nesting(depth, rb_str_new_cstr("$"), false);
    if (depth && steps[depth - 1] == MP_END) depth--;
    return rb_apply(rb_const_get(mp_mManypack, id_path_class), id_of, rb_ary_new_from_values(depth, steps));
}

void
mp_changes_refuse(const mp_changes *changes, uint32_t start, uint32_t depth, const char *words)
{
    rb_raise(rb_eArgError, "%" PRIsVALUE " %s", mp_changes_path(changes, start, depth), words);
}

/* --- order ------------------------------------------------------------------------------------------ */

/* The key of a change that was sorted by the step at a depth. */
static mp_key
key_at(const mp_changes *changes, const mp_change *change, uint32_t depth)
{
    mp_key key = change->key;

    if (key.n) key.bytes = (const uint8_t *)RSTRING_PTR(mp_changes_object(changes, change->start + depth));
    return key;
}

static int
compare_key(const mp_changes *changes, uint32_t i, uint32_t depth, const mp_key *other)
{
    mp_key key = key_at(changes, mp_changes_at(changes, i), depth);

    return mp_key_compare(&key, other);
}

static int
compare_changes(const void *a, const void *b, void *arg)
{
    const mp_change *one = a, *other = b;
    uint32_t own_depth = *(const uint32_t *)arg;
    int compared = mp_key_compare(&one->key, &other->key);
    bool inside = one->depth > own_depth, other_inside = other->depth > own_depth;

    if (compared) return compared;
    if (inside != other_inside) return inside - other_inside;
    return one->order < other->order ? -1 : one->order > other->order;
}

/* Sorts a range by its keys. */
static void
sort(const mp_changes *changes, mp_range r)
{
    mp_change *first = mp_changes_at(changes, r.lo);
    uint32_t n = r.hi - r.lo, own_depth = r.depth + 1, i = 1;

    while (i < n && compare_changes(&first[i - 1], &first[i], &own_depth) < 0) i++;
    if (i < n) ruby_qsort(first, n, sizeof(mp_change), compare_changes, &own_depth);
}

uint32_t
mp_changes_sort(mp_changes *changes, mp_range r, uint64_t n)
{
    uint32_t lengths = 0, i;

    for (i = r.lo; i < r.hi; i++) {
        mp_change *change = mp_changes_at(changes, i);
        mp_key key = mp_changes_key(changes, change->start + r.depth);

        if (key.kind == MP_INT && (int64_t)(key.bits + n) >= 0) key = mp_key_uint(key.bits + n);
        change->key = key;
        if (key.n <= MP_FIXSTR_MAX) lengths |= UINT32_C(1) << key.n;
    }
    sort(changes, r);
    return lengths;
}

void
mp_changes_sort_by_order(mp_changes *changes, mp_range r)
{
    uint32_t i = r.lo, end;

    while (i < r.hi) {
        mp_key order = mp_key_uint(mp_changes_at(changes, i)->order);

        for (end = mp_changes_part(changes, r, i).all.hi; i < end; i++) mp_changes_at(changes, i)->key = order;
    }
    sort(changes, r);
}

uint32_t
mp_changes_find(const mp_changes *changes, mp_range r, const mp_key *key)
{
    uint32_t end = r.hi, found = r.hi;

    while (r.lo < end) {
        uint32_t middle = r.lo + (end - r.lo) / 2;
        int compared = compare_key(changes, middle, r.depth, key);

        if (!compared) found = middle;
        if (compared < 0) r.lo = middle + 1;
        else end = middle;
    }
    return found;
}

/* --- parts ------------------------------------------------------------------------------------------ */

/* Sets the only change of its kind for a value. A path may have found the value twice, with the same change. */
static void
only(const mp_changes *changes, const mp_change **own, const mp_change *change, const char *words)
{
    if (*own && (*own)->value != change->value) mp_changes_refuse(changes, change->start, change->depth, words);
    *own = change;
}

/* The same for a TAKE. ArgumentError if pairs with different keys get the same new key. */
static void
only_take(const mp_changes *changes, const mp_change **own, const mp_change *change)
{
    if (*own) {
        mp_key one = mp_changes_key(changes, (*own)->value + change->depth - 1);
        mp_key other = mp_changes_key(changes, change->value + change->depth - 1);

        if (mp_key_compare(&one, &other)) {
            mp_changes_refuse(changes, change->value, change->depth, "gets a key that another pair gets");
        }
    }
    *own = change;
}

static void
add_own(const mp_changes *changes, mp_part *part, const mp_change *change)
{
    part->create |= change->create;
    switch ((mp_change_kind)change->kind) {
      case MP_INSERT: only(changes, &part->insert, change, "has values inserted twice"); break;
      case MP_APPEND: only(changes, &part->insert, change, "has values appended twice"); break;
      case MP_RENAME: only(changes, &part->rename, change, "is renamed twice"); break;
      case MP_TAKE: only_take(changes, &part->take, change); break;
      default: only(changes, &part->set, change, "is changed twice");
    }
}

/* ArgumentError if a part has changes that exclude each other. */
static void
check_exclusive(const mp_changes *changes, const mp_part *part)
{
    if (part->set && part->set->kind == MP_REMOVE && part->rename) {
        mp_changes_refuse(changes, part->set->start, part->all.depth, "is both removed and renamed");
    }
    if (part->set && part->inside.lo < part->inside.hi) {
        mp_changes_refuse(changes, mp_changes_at(changes, part->inside.lo)->start, part->all.depth + 1,
                          "is inside a value that another change replaces");
    }
}

mp_part
mp_changes_part(const mp_changes *changes, mp_range r, uint32_t from)
{
    mp_key key = key_at(changes, mp_changes_at(changes, from), r.depth);
    mp_part part = {.all = {.lo = from, .hi = from + 1, .depth = r.depth + 1}};
    mp_range *all = &part.all, *inside = &part.inside;

    while (all->hi < r.hi && !compare_key(changes, all->hi, r.depth, &key)) all->hi++;
    for (*inside = *all; inside->lo < all->hi; inside->lo++) {
        const mp_change *change = mp_changes_at(changes, inside->lo);

        if (change->depth > all->depth) break;
        add_own(changes, &part, change);
    }
    check_exclusive(changes, &part);
    return part;
}

void
mp_changes_check(mp_changes *changes, mp_range inside)
{
    uint32_t i;

    if (inside.hi - inside.lo < 2) return;
    if (mp_stack_too_deep_p(inside.depth)) mp_raise_nesting(inside.depth, rb_str_new_cstr("$"), false);
    mp_changes_sort(changes, inside, 0);
    for (i = inside.lo; i < inside.hi;) {
        mp_part part = mp_changes_part(changes, inside, i);

        mp_changes_check(changes, part.inside);
        i = part.all.hi;
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

/* Adds a second change to a rename, for the new key, so that the walk notices if the map already has that key. */
static void
add_take(mp_changes *changes, uint32_t start, VALUE new_key)
{
    uint32_t i, end = changes->objects.count;

    for (i = start; i < end - 1; i++) mp_changes_keep(changes, mp_changes_object(changes, i));
    add_step(changes, new_key);
    add_change(changes, end, changes->objects.count, (mp_change){.kind = MP_TAKE, .value = start});
    changes->renames = true;
}

/* Adds a change, whose path is the objects from `start` on. */
static void
put_change(mp_changes *changes, uint32_t start, mp_change change)
{
    if (change.kind == MP_APPEND) mp_changes_keep(changes, MP_END);
    if (start == changes->objects.count) rb_raise(rb_eArgError, "a change needs the path of a key or index, got $");
    add_change(changes, start, changes->objects.count, change);
    if (change.kind == MP_RENAME) add_take(changes, start, mp_changes_object(changes, change.value));
}

/* True for a Change of lib/manypack/view/splice.rb. */
static bool
change_p(VALUE view, VALUE object)
{
    return RB_TYPE_P(object, T_OBJECT) && rb_obj_class(object) == rb_const_get(rb_obj_class(view), id_change);
}

static bool
callable_p(VALUE object)
{
    return RB_TYPE_P(object, T_DATA) && (RTEST(rb_obj_is_proc(object)) || RTEST(rb_obj_is_method(object)));
}

/* Reads the kind of a Change, which user code may have made. Returns its value; copies a mutable Array or String. */
static VALUE
open_change(mp_change *change, VALUE object)
{
    VALUE kind = rb_ivar_get(object, id_kind), value = rb_ivar_get(object, id_value);

    if (kind == sym_inserted) change->kind = MP_INSERT;
    if (kind == sym_appended) change->kind = MP_APPEND;
    if (kind == sym_renamed) change->kind = MP_RENAME;
    change->create = RTEST(rb_ivar_get(object, id_parents));
    if (change->kind == MP_INSERT || change->kind == MP_APPEND) {
        Check_Type(value, T_ARRAY);
        return RB_OBJ_FROZEN(value) ? value : rb_ary_dup(value);
    }
    return RB_TYPE_P(value, T_STRING) ? rb_str_new_frozen(value) : value;
}

static mp_change
read_change(mp_changes *changes, uint32_t index, VALUE view, VALUE removed)
{
    VALUE object = mp_changes_object(changes, index);
    mp_change change = {.kind = MP_SET, .value = index};

    if (RB_SPECIAL_CONST_P(object)) return change;
    if (change_p(view, object)) {
        object = open_change(&change, object);
        change.value = mp_changes_keep(changes, object);
    }
    if (change.kind != MP_SET) return change;
    if (object == removed) change.kind = MP_REMOVE;
    else if (callable_p(object)) change.kind = MP_CALL;
    return change;
}

/* Adds a change for each value that the path finds, after the parser of Path has read it. */
static void
put_at_places(mp_changes *changes, VALUE view, VALUE path, mp_change change)
{
    VALUE found = rb_funcallv(view, id_places, 1, &path);
    long i;

    for (i = 0; i < RARRAY_LEN(found); i++) {
        uint32_t start = changes->objects.count;

        add_steps(changes, RARRAY_AREF(found, i));
        put_change(changes, start, change);
    }
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
mp_changes_read(mp_changes *changes, VALUE view, VALUE hash, VALUE removed)
{
    uint32_t index, end;

    changes->renames = false;
    mp_list_init(&changes->objects, changes->few_objects, sizeof(changes->few_objects) / sizeof(VALUE));
    mp_list_init(&changes->list, changes->few, sizeof(changes->few) / sizeof(mp_change));
    rb_hash_foreach(hash, keep_pair, (VALUE)changes); /* runs no user code */
    end = changes->objects.count;
    for (index = 0; index < end; index += 2) {
        mp_change change = read_change(changes, index + 1, view, removed);
        VALUE path = mp_changes_object(changes, index);
        uint32_t start = changes->objects.count;

        if (read_path(changes, path)) put_change(changes, start, change);
        else put_at_places(changes, view, path, change);
    }
}

void
Init_manypack_changes(void)
{
    all = ID2SYM(rb_intern("*"));
    sym_inserted = ID2SYM(rb_intern("inserted"));
    sym_appended = ID2SYM(rb_intern("appended"));
    sym_renamed = ID2SYM(rb_intern("renamed"));
    id_change = rb_intern("Change");
    id_kind = rb_intern("@kind");
    id_value = rb_intern("@value");
    id_parents = rb_intern("@parents");
    id_places = rb_intern("places");
    id_of = rb_intern("of");
    id_path_class = rb_intern("Path");
}
