/* The changes that View#splice is given, sorted by their paths. */
#include "view/changes.h"

#include <ruby/util.h>

#include "base/error.h"
#include "view/peek.h"

static VALUE all;
static ID id_change, id_kind, id_value, id_places, id_splice, id_of, id_path_class, id_view;

/* --- memory ----------------------------------------------------------------------------------------- */

void
mp_list_init(mp_list *list, void *few, uint32_t room)
{
    *list = (mp_list){.items = few, .room = room};
}

/* Longer than any String that is embedded in its slot: compaction does not move the bytes. */
enum { NOT_EMBEDDED = 1024 };

static void
list_grow(mp_list *list, size_t size)
{
    size_t bytes = (size_t)list->room * size;
    VALUE memory;

    if (list->room > UINT32_MAX / 8) rb_raise(rb_eArgError, "too many changes");
    memory = rb_obj_hide(rb_str_buf_new((long)(bytes * 4 + NOT_EMBEDDED)));
    memcpy(RSTRING_PTR(memory), list->items, bytes);
    list->items = RSTRING_PTR(memory);
    list->room *= 4;
    if (list->memory) rb_str_resize(list->memory, 0);
    list->memory = memory;
}

void *
mp_list_add(mp_list *list, size_t size)
{
    if (MP_UNLIKELY(list->count == list->room)) list_grow(list, size);
    return memset((char *)list->items + list->count++ * size, 0, size);
}

enum { FEW_OBJECTS = sizeof(((mp_changes *)NULL)->few_objects) / sizeof(VALUE) };

uint32_t
mp_changes_keep(mp_changes *changes, VALUE object)
{
    uint32_t i = changes->object_count;

    if (i == UINT32_MAX) rb_raise(rb_eArgError, "too many changes");
    if (i == FEW_OBJECTS && !changes->objects) {
        changes->objects = rb_ary_cat(rb_obj_hide(rb_ary_new_capa(FEW_OBJECTS * 4)), changes->few_objects, FEW_OBJECTS);
    }
    if (changes->objects) rb_ary_push(changes->objects, object);
    else changes->few_objects[i] = object;
    changes->object_count++;
    return i;
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
    changes->objects = 0;
    changes->object_count = 0;
    changes->renames = false;
    mp_list_init(&changes->steps, changes->few_steps, sizeof(changes->few_steps) / sizeof(mp_path_step));
    mp_list_init(&changes->list, changes->few, sizeof(changes->few) / sizeof(mp_change));
    if (RHASH_SIZE(hash) > FEW_OBJECTS / 2) changes->objects = rb_obj_hide(rb_ary_new_capa((long)RHASH_SIZE(hash) * 2));
    rb_hash_foreach(hash, keep_pair, (VALUE)changes);
}

void
mp_changes_end(mp_changes *changes)
{
    RB_GC_GUARD(changes->objects);
    RB_GC_GUARD(changes->steps.memory);
    RB_GC_GUARD(changes->list.memory);
}

/* --- steps ------------------------------------------------------------------------------------------ */

mp_key
mp_changes_key(const mp_changes *changes, uint32_t i)
{
    const mp_path_step *step = mp_changes_step_at(changes, i);
    mp_key key = {.kind = (mp_kind)step->kind};

    if (mp_step_name_p(step)) {
        key.bytes = (const uint8_t *)RSTRING_PTR(mp_changes_object(changes, step->object)) + step->from;
        key.n = mp_step_size(step);
    } else {
        key.bits = step->rank;
    }
    return key;
}

VALUE
mp_changes_step(const mp_changes *changes, uint32_t i)
{
    const mp_path_step *step = mp_changes_step_at(changes, i);

    if (step->kind == MP_UINT && !step->from) return ULL2NUM(step->rank);
    if (mp_step_index_p(step)) return LL2NUM((int64_t)(step->rank - step->from));
    if (!mp_step_name_p(step)) return mp_changes_object(changes, step->object);
    return rb_str_subseq(mp_changes_object(changes, step->object), (long)step->from,
                         (long)mp_step_size(step));
}

/* What orders keys of a kind first. Numbered names that rise are in order, and few names have the same rank. */
static uint64_t
rank_of(const mp_key *key)
{
    uint32_t end = 0;
    size_t i;

    if (key->kind != MP_STR && key->kind != MP_BIN) return key->bits;
    for (i = key->n < 4 ? 0 : key->n - 4; i < key->n; i++) end = end << 8 | key->bytes[i];
    return (uint64_t)key->n << 32 | end;
}

static void
add_step(mp_changes *changes, mp_path_step step)
{
    *(mp_path_step *)mp_list_add(&changes->steps, sizeof(mp_path_step)) = step;
}

/* Adds the step of an object: a str, a number, nil, true or false. ArgumentError for other keys. */
static void
add_object_step(mp_changes *changes, VALUE object)
{
    mp_path_step step;
    mp_key key;

    if (RB_SYMBOL_P(object)) object = rb_sym2str(object);
    if (RB_TYPE_P(object, T_STRING)) object = rb_str_new_frozen(object);
    if (!mp_simple_key(object, &key)) {
        if (!RB_INTEGER_TYPE_P(object)) {
            rb_raise(rb_eArgError, "no change can name the key %" PRIsVALUE, rb_inspect(object));
        }
        key = (mp_key){.kind = MP_NEVER}; /* more than 64 bits */
    }
    if (key.n > UINT32_MAX) key.kind = MP_NEVER;
    if (key.kind == MP_NEVER) key.bits = changes->steps.count; /* equal to no other */
    step = (mp_path_step){.kind = (uint8_t)key.kind, .rank = rank_of(&key)};
    if (!mp_step_index_p(&step)) step.object = mp_changes_keep(changes, object);
    add_step(changes, step);
}

static void
add_object_steps(mp_changes *changes, VALUE steps)
{
    long i;

    for (i = 0; i < RARRAY_LEN(steps); i++) add_object_step(changes, RARRAY_AREF(steps, i));
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

/* Reads an index from the bracket on. Returns the offset after it; 0 for anything else. */
static size_t
read_index(const char *text, size_t at, size_t n, mp_path_step *step)
{
    size_t start = ++at;

    while (at < n && ISDIGIT(text[at])) step->rank = step->rank * 10 + (uint64_t)(text[at++] - '0');
    step->kind = MP_UINT;
    return at > start && at - start <= 10 && at < n && text[at] == ']' && (text[start] != '0' || at - start == 1)
               ? at + 1
               : 0;
}

/* The same for a name. */
static size_t
read_name(const char *text, size_t at, size_t n, mp_path_step *step)
{
    size_t start = at;
    mp_key key;

    while (at < n && (ISALPHA(text[at]) || text[at] == '_' || (at > start && ISDIGIT(text[at])))) at++;
    key = mp_key_str(text + start, at - start);
    step->kind = MP_STR;
    step->rank = rank_of(&key);
    step->from = (uint32_t)start;
    return at > start && (at == n || text[at] == '.' || text[at] == '[') ? at : 0;
}

/*
 * Fast path (middle/splice a field) for a text such as "users[0].name": adds its steps. False for anything but plain
 * names and indices, which the parser of Path reads. That one takes 10 us or more for a new text, this one 50 ns.
 */
static bool
read_plain_text(mp_changes *changes, uint32_t object)
{
    VALUE text = mp_changes_object(changes, object);
    size_t n = (size_t)RSTRING_LEN(text), start = n > 1 && RSTRING_PTR(text)[0] == '$', at = start;
    uint32_t before = changes->steps.count;

    if (!n || n > UINT32_MAX || !mp_utf8_index_p(ENCODING_GET(text))) return false;
    do {
        const char *bytes = RSTRING_PTR(text);
        mp_path_step step = {.object = object};

        if (bytes[at] == '[') at = read_index(bytes, at, n, &step);
        else if (at == 0) at = read_name(bytes, at, n, &step);
        else at = bytes[at] == '.' ? read_name(bytes, at + 1, n, &step) : 0;
        add_step(changes, step);
    } while (at && at < n);
    if (!at) changes->steps.count = before;
    RB_GC_GUARD(text);
    return at != 0;
}

/* An error does not show a path that has more: Ruby cannot pass so many arguments. */
enum { MANY_STEPS = 10000 };

VALUE
mp_changes_path(const mp_changes *changes, uint32_t start, uint32_t depth)
{
    VALUE steps = rb_ary_new();
    uint32_t i;

    if (depth > MANY_STEPS) mp_raise_nesting(depth, rb_str_new_cstr("$"), false);
    for (i = 0; i < depth; i++) rb_ary_push(steps, mp_changes_step(changes, start + i));
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
kind_of(uint8_t kind)
{
    return kind == MP_BIN ? MP_STR : kind;
}

/* Compares a step with a key, which has a rank. */
MP_INLINE int
compare_key(const mp_changes *changes, uint32_t i, const mp_key *key, uint64_t rank)
{
    const mp_path_step *step = mp_changes_step_at(changes, i);
    uint8_t kind = kind_of((uint8_t)key->kind);
    mp_key own;

    if (kind != kind_of(step->kind)) return order(kind_of(step->kind), kind);
    if (step->rank != rank || !mp_step_name_p(step)) return order(step->rank, rank);
    own = mp_changes_key(changes, i);
    return mp_key_compare(&own, key);
}

MP_INLINE int
compare_steps(const mp_changes *changes, uint32_t a, uint32_t b)
{
    const mp_path_step *one = mp_changes_step_at(changes, a), *other = mp_changes_step_at(changes, b);
    mp_key key;

    if (one->kind == other->kind && (one->rank != other->rank || !mp_step_name_p(one))) {
        return order(one->rank, other->rank);
    }
    key = mp_changes_key(changes, b);
    return compare_key(changes, a, &key, other->rank);
}

/* How many steps two changes have in common. *compared says how they differ after those. */
MP_INLINE uint32_t
common_steps(const mp_changes *changes, const mp_change *a, const mp_change *b, int *compared)
{
    uint32_t i = 0, n = a->depth < b->depth ? a->depth : b->depth;

    for (*compared = 0; i < n; i++) {
        *compared = compare_steps(changes, a->start + i, b->start + i);
        if (*compared) return i;
    }
    return n;
}

static int
compare_paths(const void *a, const void *b, void *changes)
{
    const mp_change *one = a, *other = b;
    int compared;

    common_steps(changes, one, other, &compared);
    if (compared) return compared;
    return one->depth == other->depth ? order(one->order, other->order) : order(one->depth, other->depth);
}

static int
compare_first(const void *a, const void *b, void *changes)
{
    const mp_change *one = a, *other = b;

    (void)changes;
    return one->first == other->first ? order(one->place, other->place) : order(one->first, other->first);
}

typedef int comparison(const void *, const void *, void *);

/* Moves a change in front of those that come after it. */
static void
insert(const mp_changes *changes, uint32_t lo, uint32_t i, comparison *compare)
{
    mp_change change = *mp_changes_at(changes, i);

    for (; i > lo && compare(mp_changes_at(changes, i - 1), &change, (void *)changes) > 0; i--) {
        *mp_changes_at(changes, i) = *mp_changes_at(changes, i - 1);
    }
    *mp_changes_at(changes, i) = change;
}

/* Up to this many changes are inserted one by one: qsort takes longer. */
enum { FEW = 8 };

static void
sort(mp_changes *changes, uint32_t lo, uint32_t hi, comparison *compare)
{
    uint32_t i = lo + 1;

    if (hi - lo <= FEW) {
        for (; i < hi; i++) insert(changes, lo, i, compare);
        return;
    }
    while (i < hi && compare(mp_changes_at(changes, i - 1), mp_changes_at(changes, i), changes) < 0) i++;
    if (i < hi) ruby_qsort(mp_changes_at(changes, lo), hi - lo, sizeof(mp_change), compare, changes);
}

void
mp_changes_sort_by_first(mp_changes *changes, uint32_t lo, uint32_t hi)
{
    sort(changes, lo, hi, compare_first);
}

uint32_t
mp_changes_find(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth, const mp_key *key)
{
    uint32_t end = hi, found = hi;
    uint64_t rank = rank_of(key);

    while (lo < end) {
        uint32_t middle = lo + (end - lo) / 2;
        int compared = compare_key(changes, mp_changes_at(changes, middle)->start + depth, key, rank);

        if (!compared) found = middle;
        if (compared < 0) lo = middle + 1;
        else end = middle;
    }
    return found;
}

uint32_t
mp_changes_end_of(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth)
{
    uint32_t step = mp_changes_at(changes, lo)->start + depth;

    while (++lo < hi && !compare_steps(changes, step, mp_changes_at(changes, lo)->start + depth)) continue;
    return lo;
}

const mp_change *
mp_changes_first(const mp_changes *changes, uint32_t lo, uint32_t hi)
{
    const mp_change *first = mp_changes_at(changes, lo);

    for (; lo < hi; lo++) {
        if (mp_changes_at(changes, lo)->order < first->order) first = mp_changes_at(changes, lo);
    }
    return first;
}

/* --- changes that exclude one another --------------------------------------------------------------- */

/* Sets the one change of a kind that a value may have. A path may have found the value twice, with the same change. */
static void
only(const mp_changes *changes, const mp_change **own, const mp_change *change, const char *words)
{
    bool take = change->kind == MP_TAKE;
    uint32_t last = change->depth - 1;

    if (*own && (take ? compare_steps(changes, (*own)->value + last, change->value + last) != 0
                      : (*own)->value != change->value)) {
        mp_changes_refuse(changes, take ? change->value : change->start, change->depth, words);
    }
    *own = change;
}

mp_own_changes
mp_changes_own(const mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth)
{
    mp_own_changes own = {.set = NULL};

    for (; lo < hi && mp_changes_at(changes, lo)->depth == depth; lo++) {
        const mp_change *change = mp_changes_at(changes, lo);

        switch ((mp_change_kind)change->kind) {
          case MP_INSERT: only(changes, &own.insert, change, "has values inserted twice"); break;
          case MP_APPEND: only(changes, &own.append, change, "has values appended twice"); break;
          case MP_RENAME: only(changes, &own.rename, change, "is renamed twice"); break;
          case MP_TAKE: only(changes, &own.take, change, "gets a key that another pair gets"); break;
          case MP_KEEP: break;
          default: only(changes, &own.set, change, "is changed twice");
        }
    }
    own.inside = lo;
    return own;
}

/* ArgumentError if changes of a sorted range exclude one another. If one of a value may make parents, all may. */
static void
check(const mp_changes *changes, uint32_t lo, uint32_t hi)
{
    uint32_t end, common = 0, i;
    int compared;

    for (; lo < hi; lo = end) {
        const mp_change *first = mp_changes_at(changes, lo);
        bool create = first->create;
        mp_own_changes own;

        for (end = lo + 1; end < hi; end++) {
            common = common_steps(changes, first, mp_changes_at(changes, end), &compared);
            if (common < first->depth || mp_changes_at(changes, end)->depth > first->depth) break;
            create |= mp_changes_at(changes, end)->create;
        }
        if (end == lo + 1 && (end == hi || common < first->depth)) continue;
        for (i = lo; i < end; i++) mp_changes_at(changes, i)->create = create;
        own = mp_changes_own(changes, lo, end, first->depth);
        if (!own.set) continue;
        if (own.set->kind == MP_REMOVE && own.rename) {
            mp_changes_refuse(changes, first->start, first->depth, "is both removed and renamed");
        }
        if (end < hi && common == first->depth) {
            mp_changes_refuse(changes, mp_changes_at(changes, end)->start, common + 1,
                              "is inside a value that another change replaces");
        }
        if (own.append) {
            mp_changes_refuse(changes, first->start, first->depth, "is inside a value that another change replaces");
        }
    }
}

void
mp_changes_count_back(mp_changes *changes, uint32_t lo, uint32_t hi, uint32_t depth, uint64_t n)
{
    bool counted = false;
    uint32_t i;

    for (i = lo; i < hi; i++) {
        mp_path_step *step = mp_changes_step_at(changes, mp_changes_at(changes, i)->start + depth);

        if (step->kind != MP_INT || (int64_t)(step->rank + n) < 0) continue;
        step->kind = MP_UINT;
        step->rank += n;
        step->from = (uint32_t)n;
        counted = true;
    }
    if (!counted) return;
    sort(changes, lo, hi, compare_paths);
    check(changes, lo, hi);
}

/* --- reading ---------------------------------------------------------------------------------------- */

static void
add_change(mp_changes *changes, uint32_t start, mp_change change)
{
    mp_change *added = mp_list_add(&changes->list, sizeof(mp_change));

    change.start = start;
    change.depth = changes->steps.count - start;
    change.order = changes->list.count;
    *added = change;
}

/* The key that a pair gets is a change of its own, so that the walk finds out if the map has it already. */
static void
rename_key(mp_changes *changes, uint32_t start, mp_change change)
{
    uint32_t i, end = changes->steps.count;

    add_change(changes, start, change);
    for (i = start; i < end - 1; i++) add_step(changes, *mp_changes_step_at(changes, i));
    add_object_step(changes, mp_changes_object(changes, change.value));
    if (!compare_steps(changes, end - 1, changes->steps.count - 1)) {
        mp_changes_at(changes, changes->list.count - 1)->kind = MP_KEEP;
    } else {
        add_change(changes, end, (mp_change){.kind = MP_TAKE, .value = start});
        changes->renames = true;
    }
}

/* Adds a change, whose steps are the last ones. */
static void
put(mp_changes *changes, uint32_t start, mp_change change)
{
    if (start == changes->steps.count && change.kind != MP_APPEND) {
        rb_raise(rb_eArgError, "a change needs the path of a key or index, got $");
    }
    if (change.kind == MP_RENAME) rename_key(changes, start, change);
    else add_change(changes, start, change);
}

/* A constant of View, which may be loaded on first use. */
static VALUE
view_const(ID name)
{
    return rb_const_get(rb_const_get(mp_mManypack, id_view), name);
}

/* A Change of lib/manypack/view/splice.rb, which is loaded when the first is made. */
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

/* What a Change does; MP_SET for one that makes parents. */
static mp_change_kind
change_kind(VALUE change)
{
    VALUE kind = rb_ivar_get(change, id_kind);

    if (kind == ID2SYM(rb_intern("inserted"))) return MP_INSERT;
    if (kind == ID2SYM(rb_intern("appended"))) return MP_APPEND;
    return kind == ID2SYM(rb_intern("renamed")) ? MP_RENAME : MP_SET;
}

static mp_change
read_change(mp_changes *changes, uint32_t index, VALUE removed)
{
    VALUE object = mp_changes_object(changes, index);
    mp_change change = {.kind = MP_SET, .value = index};

    if (RB_SPECIAL_CONST_P(object)) return change;
    while (change.kind == MP_SET && change_p(object)) {
        change.kind = (uint8_t)change_kind(object);
        change.create |= change.kind == MP_SET;
        object = rb_ivar_get(object, id_value);
        if (RB_TYPE_P(object, T_STRING)) object = rb_str_new_frozen(object); /* user code may change it meanwhile */
        change.value = mp_changes_keep(changes, object);
    }
    if (change.kind != MP_SET) return change;
    if (object == removed) change.kind = MP_REMOVE;
    else if (callable_p(object)) change.kind = MP_CALL;
    return change;
}

/* Adds the steps of a path that means one place. False for one that Ruby has to read. */
static bool
read_path(mp_changes *changes, uint32_t index)
{
    VALUE path = mp_changes_object(changes, index);

    if (RB_TYPE_P(path, T_STRING)) return read_plain_text(changes, index);
    if (RB_SYMBOL_P(path) && path != all) add_object_step(changes, path);
    else if (RB_TYPE_P(path, T_ARRAY) && plain_steps_p(path)) add_object_steps(changes, path);
    else return false;
    return true;
}

/* Adds a change at each place that a path means, as the parser of Path reads it. */
static void
put_at_places(mp_changes *changes, VALUE path, mp_change change)
{
    VALUE arguments[2] = {changes->view, path}, found = rb_funcallv(view_const(id_splice), id_places, 2, arguments);
    long i;

    for (i = 0; i < RARRAY_LEN(found); i++) {
        uint32_t start = changes->steps.count;

        add_object_steps(changes, RARRAY_AREF(found, i));
        put(changes, start, change);
    }
}

void
mp_changes_read(mp_changes *changes, VALUE removed)
{
    uint32_t index, end = changes->object_count;

    for (index = 0; index < end; index += 2) {
        mp_change change = read_change(changes, index + 1, removed);
        uint32_t start = changes->steps.count;

        if (read_path(changes, index)) put(changes, start, change);
        else put_at_places(changes, mp_changes_object(changes, index), change);
    }
    sort(changes, 0, changes->list.count, compare_paths);
    check(changes, 0, changes->list.count);
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
