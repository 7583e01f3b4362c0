/* The changes that View#splice is given, as a tree. */
#include "view/changes.h"

#include "base/error.h"
#include "base/stack.h"
#include "view/peek.h"

/* From this many children on, a table finds the child of a key. */
enum { MANY = 8 };

static VALUE all;
static ID id_change, id_kind, id_value, id_places, id_splice, id_of, id_path_class, id_view;

enum { FEW_OBJECTS = sizeof(((mp_changes *)NULL)->few_objects) / sizeof(VALUE) };

/* Moves objects from the C stack to an Array with room for more. */
static void
make_array(mp_changes *changes, uint32_t room)
{
    VALUE objects = rb_obj_hide(rb_ary_new_capa((long)room));

    changes->objects = rb_ary_cat(objects, changes->few_objects, (long)changes->object_count);
}

/* Pairs on their way to the Array: to add one at a time would take longer. */
typedef struct {
    mp_changes *changes;
    long count;
    VALUE objects[64];
} batch;

static void
add_batch(batch *batch)
{
    mp_changes *changes = batch->changes;

    if (changes->objects) rb_ary_cat(changes->objects, batch->objects, batch->count);
    else memcpy(changes->few_objects + changes->object_count, batch->objects, (size_t)batch->count * sizeof(VALUE));
    changes->object_count += (uint32_t)batch->count;
    batch->count = 0;
}

static int
add_pair(VALUE path, VALUE change, VALUE arg)
{
    batch *batch = (void *)arg;

    batch->objects[batch->count++] = path;
    batch->objects[batch->count++] = change;
    if (batch->count == sizeof(batch->objects) / sizeof(VALUE)) add_batch(batch);
    return ST_CONTINUE;
}

/* Longer than any String that is embedded in its slot: compaction does not move the bytes. */
enum { NOT_EMBEDDED = 1024 };

static void *
allocate(VALUE *memory, size_t size)
{
    *memory = rb_obj_hide(rb_str_buf_new((long)(size < NOT_EMBEDDED ? NOT_EMBEDDED : size)));
    return RSTRING_PTR(*memory);
}

static void
release(VALUE memory)
{
    if (memory) rb_str_resize(memory, 0);
}

void
mp_changes_init(mp_changes *changes, VALUE view, VALUE hash)
{
    size_t given = RHASH_SIZE(hash);
    batch batch;

    if (given > UINT32_MAX / 8) rb_raise(rb_eArgError, "too many changes");
    changes->view = view;
    changes->objects = 0;
    changes->few_objects[0] = Qnil; /* none has the index MP_NONE */
    changes->object_count = 1;
    if (1 + given * 2 > FEW_OBJECTS) make_array(changes, (uint32_t)(1 + given * 2));
    batch.changes = changes;
    batch.count = 0;
    rb_hash_foreach(hash, add_pair, (VALUE)&batch);
    add_batch(&batch);
    changes->calls = changes->resizes = false;
    changes->memory = changes->more_memory = changes->table_memory = 0;
    changes->nodes = changes->few;
    changes->room = sizeof(changes->few) / sizeof(changes->few[0]);
    if (given > changes->room) {
        changes->room = (uint32_t)(given + given / 4);
        changes->nodes = allocate(&changes->memory, changes->room * sizeof(mp_node));
    }
    changes->mores = changes->few_more;
    changes->more_room = sizeof(changes->few_more) / sizeof(changes->few_more[0]);
    changes->table = NULL;
    changes->mask = 0;
    changes->nodes[0] = (mp_node){.more = 1};
    changes->count = 1;
    memset(changes->mores, 0, 2 * sizeof(mp_more)); /* the empty one, and the root's */
    changes->more_count = 2;
}

void
mp_changes_end(mp_changes *changes)
{
    release(changes->memory);
    release(changes->more_memory);
    release(changes->table_memory);
    RB_GC_GUARD(changes->objects);
}

uint32_t
mp_changes_keep(mp_changes *changes, VALUE object)
{
    if (changes->object_count == UINT32_MAX) rb_raise(rb_eArgError, "too many changes");
    if (!changes->objects && changes->object_count == FEW_OBJECTS) make_array(changes, FEW_OBJECTS * 2);
    if (changes->objects) rb_ary_push(changes->objects, object);
    else changes->few_objects[changes->object_count] = object;
    return changes->object_count++;
}

static void
object_replace(mp_changes *changes, uint32_t i, VALUE object)
{
    if (changes->objects) rb_ary_store(changes->objects, (long)i, object);
    else changes->few_objects[i] = object;
}

/* --- keys and their nodes --------------------------------------------------------------------------- */

mp_key
mp_changes_key(const mp_changes *changes, const mp_step_key *step)
{
    mp_key key = {.kind = (mp_kind)step->kind};

    if (mp_step_name_p(step)) {
        key.bytes = (const uint8_t *)RSTRING_PTR(mp_changes_object(changes, step->object)) + (uint32_t)step->bits;
        key.n = mp_step_size(step);
    } else {
        key.bits = step->bits;
    }
    return key;
}

VALUE
mp_changes_step(const mp_changes *changes, const mp_step_key *step)
{
    if (step->kind == MP_UINT) return ULL2NUM(step->bits);
    if (step->kind == MP_INT) return LL2NUM((int64_t)step->bits);
    if (!mp_step_name_p(step)) return mp_changes_object(changes, step->object);
    return rb_str_subseq(mp_changes_object(changes, step->object), (long)(uint32_t)step->bits,
                         (long)mp_step_size(step));
}

static uint64_t
hash_of_number(const mp_changes *changes, uint64_t bits)
{
    return bits * (changes->secret | 1);
}

/* The place in the table of a child whose key has a hash. */
static uint32_t
chain_of_hash(const mp_changes *changes, uint32_t parent, uint64_t hash)
{
    return (uint32_t)((hash ^ hash >> 32 ^ parent) * (changes->secret | 1) >> 32) & changes->mask;
}

/* Ruby's own hash has a secret seed: nobody can choose keys that collide. */
static uint32_t
chain_of(const mp_changes *changes, uint32_t parent, const mp_key *key)
{
    bool text = key->kind == MP_STR || key->kind == MP_BIN; /* which may be equal */

    return chain_of_hash(changes, parent, text ? (uint64_t)rb_memhash(key->bytes, (long)key->n)
                                               : hash_of_number(changes, key->bits));
}

/* Where the chain starts that a node belongs to. There must be a table. */
static uint32_t *
chain_start(const mp_changes *changes, uint32_t id)
{
    const mp_node *node = &changes->nodes[id];
    mp_key key = mp_changes_key(changes, &node->step);

    return &changes->table[chain_of(changes, node->parent, &key)];
}

static void
enter(mp_changes *changes, uint32_t id)
{
    uint32_t *chain = chain_start(changes, id);

    changes->nodes[id].same = *chain;
    *chain = id;
}

static void
leave(mp_changes *changes, uint32_t id)
{
    uint32_t *place = chain_start(changes, id);

    while (*place != id) place = &changes->nodes[*place].same;
    *place = changes->nodes[id].same;
}

/* Makes a table with at least two places for each node that there is room for. */
static void
make_table(mp_changes *changes)
{
    uint32_t size = 256, id;
    VALUE memory;

    while (size < changes->room * 2) size *= 2;
    changes->table = allocate(&memory, size * sizeof(uint32_t));
    changes->table_memory = memory;
    changes->mask = size - 1;
    memset(changes->table, 0, size * sizeof(uint32_t));
    changes->secret = (uint64_t)rb_memhash(&size, sizeof(size)) << 32 ^ (uint64_t)rb_hash_start(size);
    for (id = 1; id < changes->count; id++) enter(changes, id);
}

static bool
key_of_p(const mp_changes *changes, const mp_step_key *step, const mp_key *key)
{
    mp_key own;

    if (!mp_step_name_p(step)) return step->bits == key->bits && step->kind == key->kind && step->kind != MP_NEVER;
    if (mp_step_size(step) != key->n || (key->kind != MP_STR && key->kind != MP_BIN)) return false;
    own = mp_changes_key(changes, step);
    return !mp_key_compare(&own, key);
}

void
mp_changes_prepare(mp_changes *changes, uint32_t parent)
{
    if (mp_node_more(changes, parent)->children >= MANY && !changes->table) make_table(changes);
}

uint32_t
mp_changes_find(const mp_changes *changes, uint32_t parent, uint32_t likely, const mp_key *key)
{
    const mp_more *more = mp_node_more(changes, parent);
    uint32_t id;

    if (likely && key_of_p(changes, &changes->nodes[likely].step, key)) return likely;
    if (more->children < MANY) {
        for (id = more->child; id; id = changes->nodes[id].next) {
            if (key_of_p(changes, &changes->nodes[id].step, key)) return id;
        }
        return MP_NONE;
    }
    for (id = changes->table[chain_of(changes, parent, key)]; id; id = changes->nodes[id].same) {
        if (changes->nodes[id].parent == parent && key_of_p(changes, &changes->nodes[id].step, key)) return id;
    }
    return MP_NONE;
}

/*
 * Makes room for twice as many nodes or mores, and returns where they are. The collector frees the old memory: user
 * code that ran before may return again, by callcc.
 */
static void *
grow(VALUE *memory, const void *old, uint32_t *room, size_t size)
{
    VALUE grown;
    void *place;

    if (*room > UINT32_MAX / 8) rb_raise(rb_eArgError, "too many changes");
    place = allocate(&grown, *room * 2 * size);
    memcpy(place, old, *room * size);
    *memory = grown;
    *room *= 2;
    return place;
}

static MP_NOINLINE mp_more *
add_more(mp_changes *changes, uint32_t id)
{
    uint32_t i = changes->more_count;

    if (i == changes->more_room) {
        changes->mores = grow(&changes->more_memory, changes->mores, &changes->more_room, sizeof(mp_more));
    }
    changes->more_count++;
    changes->nodes[id].more = i;
    return memset(&changes->mores[i], 0, sizeof(mp_more));
}

/* What few nodes have, to be changed. The pointer is valid until another node gets its own. */
static mp_more *
more_of(mp_changes *changes, uint32_t id)
{
    uint32_t i = changes->nodes[id].more;

    return MP_LIKELY(i != 0) ? &changes->mores[i] : add_more(changes, id);
}

static void
link_child(mp_changes *changes, uint32_t parent, uint32_t id)
{
    mp_more *more = more_of(changes, parent);

    changes->nodes[id].parent = parent;
    changes->nodes[id].next = 0;
    if (more->last) changes->nodes[more->last].next = id;
    else more->child = id;
    more->last = id;
    more->children++;
}

static void
move_child(mp_changes *changes, uint32_t parent, uint32_t id)
{
    if (changes->table) leave(changes, id);
    link_child(changes, parent, id);
    more_of(changes, parent)->mixed = true;
    if (changes->table) enter(changes, id);
}

/* The child with an index, or MP_NONE. The parent must be prepared. */
static uint32_t
find_index(const mp_changes *changes, uint32_t parent, uint64_t index)
{
    const mp_node *nodes = changes->nodes;
    uint32_t id = changes->table ? changes->table[chain_of_hash(changes, parent, hash_of_number(changes, index))]
                                 : mp_node_more(changes, parent)->child;

    while (id && (nodes[id].step.bits != index || nodes[id].step.kind != MP_UINT || nodes[id].parent != parent)) {
        id = changes->table ? nodes[id].same : nodes[id].next;
    }
    return id;
}

/* The child with a step; MP_NONE if there is none. Indices that rise, as most do, need no search. */
static uint32_t
child_with(mp_changes *changes, uint32_t parent, const mp_step_key *step)
{
    mp_more *more = more_of(changes, parent);
    mp_key key;

    if (step->kind == MP_UINT && !more->mixed) {
        const mp_node *last = &changes->nodes[more->last];

        if (!more->last || step->bits > last->step.bits) return MP_NONE;
        if (step->bits == last->step.bits) return more->last;
    }
    more->mixed = true;
    if (step->kind == MP_NEVER) return MP_NONE;
    mp_changes_prepare(changes, parent);
    if (step->kind == MP_UINT) return find_index(changes, parent, step->bits);
    key = mp_changes_key(changes, step);
    return mp_changes_find(changes, parent, more->last, &key);
}

static uint32_t
add_child(mp_changes *changes, uint32_t parent, const mp_step_key *step)
{
    uint32_t id;

    if (MP_UNLIKELY(changes->count == changes->room)) {
        changes->nodes = grow(&changes->memory, changes->nodes, &changes->room, sizeof(mp_node));
        if (changes->table) make_table(changes);
    }
    id = changes->count++;
    changes->nodes[id] = (mp_node){.step = *step};
    link_child(changes, parent, id);
    if (changes->table) enter(changes, id);
    return id;
}

/* The child with a step, which is added if there is none. */
static uint32_t
child(mp_changes *changes, uint32_t parent, const mp_step_key *step)
{
    uint32_t id = child_with(changes, parent, step);

    return id ? id : add_child(changes, parent, step);
}

/* --- paths ------------------------------------------------------------------------------------------ */

/* A name of at most UINT32_MAX bytes. */
static mp_step_key
name_step(uint32_t object, size_t from, size_t n)
{
    return (mp_step_key){.kind = MP_STR, .object = object, .bits = (uint64_t)n << 32 | from};
}

/* The step of an object: a str, a number, nil, true or false. ArgumentError for other keys. */
static mp_step_key
object_step(mp_changes *changes, VALUE object)
{
    mp_step_key step;
    mp_key key;

    if (RB_SYMBOL_P(object)) object = rb_sym2str(object);
    if (RB_TYPE_P(object, T_STRING)) object = rb_str_new_frozen(object);
    if (!mp_simple_key(object, &key)) {
        if (!RB_INTEGER_TYPE_P(object)) {
            rb_raise(rb_eArgError, "no change can name the key %" PRIsVALUE, rb_inspect(object));
        }
        key.kind = MP_NEVER; /* more than 64 bits */
    }
    step = (mp_step_key){.kind = (uint8_t)key.kind, .bits = key.bits};
    if (mp_step_index_p(&step)) return step;
    if (mp_step_name_p(&step)) {
        step.bits = (uint64_t)key.n << 32;
        if (key.n > UINT32_MAX) step.kind = MP_NEVER;
    }
    step.object = mp_changes_keep(changes, object);
    return step;
}

static void
follow_steps(mp_changes *changes, VALUE steps, uint32_t *id)
{
    long i;

    for (*id = 0, i = 0; i < RARRAY_LEN(steps); i++) {
        mp_step_key step = object_step(changes, RARRAY_AREF(steps, i));

        *id = child(changes, *id, &step);
    }
}

/* True for an Array of Strings, Symbols and Integers, which mean one place. */
static bool
plain_steps_p(VALUE steps)
{
    long i;

    for (i = 0; i < RARRAY_LEN(steps); i++) {
        VALUE step = RARRAY_AREF(steps, i);

        if (!RB_FIXNUM_P(step) && !RB_TYPE_P(step, T_STRING) && (!RB_SYMBOL_P(step) || step == all)) return false;
        if (RB_TYPE_P(step, T_STRING) && !mp_utf8_index_p(ENCODING_GET(step))) return false;
    }
    return true;
}

static bool
letter_p(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
digit_p(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Reads an index after its bracket. Returns the place after it; NULL for anything else in brackets. */
static const uint8_t *
read_index(const uint8_t *p, const uint8_t *end, mp_step_key *step)
{
    const uint8_t *start = p;
    uint64_t n = 0;

    while (p < end && digit_p(*p)) n = n * 10 + (uint64_t)(*p++ - '0');
    if (p == start || p - start > 10 || p == end || *p != ']' || (*start == '0' && p - start > 1)) return NULL;
    *step = (mp_step_key){.kind = MP_UINT, .bits = n};
    return p + 1;
}

/* Reads a name. Returns the place after it; NULL if only Path's own parser knows where it ends. */
static const uint8_t *
read_name(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p;

    while (p < end && (letter_p(*p) || (p > start && digit_p(*p)))) p++;
    return p > start && (p == end || *p == '.' || *p == '[') ? p : NULL;
}

/* Reads the next step. Returns the place after it, or NULL. */
static const uint8_t *
read_step(const uint8_t *start, const uint8_t *p, const uint8_t *end, uint32_t object, mp_step_key *step)
{
    const uint8_t *name;

    if (*p == '[') return read_index(p + 1, end, step);
    if (p > start && *p++ != '.') return NULL;
    name = p;
    p = read_name(name, end);
    if (p) *step = name_step(object, (size_t)(name - start), (size_t)(p - name));
    return p;
}

/* A text with more steps is left to the parser of Path. */
enum { PLAIN_STEPS = 16 };

/* Reads a text of nothing but plain names and indices, from an offset on. Returns how many; 0 for any other text. */
static unsigned
read_steps(VALUE text, size_t at, uint32_t object, mp_step_key *steps)
{
    const uint8_t *start = (const uint8_t *)RSTRING_PTR(text), *end = start + RSTRING_LEN(text), *p = start + at;
    unsigned count = 0;

    while (p && p < end && count < PLAIN_STEPS) p = read_step(start, p, end, object, &steps[count++]);
    return p == end ? count : 0;
}

/*
 * Follows a text such as "users[0].name", several times as fast as the parser of Path could. False for one that has
 * anything but plain names and indices.
 */
static bool
follow_text(mp_changes *changes, uint32_t object, uint32_t *id)
{
    VALUE text = mp_changes_object(changes, object);
    size_t n = (size_t)RSTRING_LEN(text);
    mp_step_key steps[PLAIN_STEPS];
    unsigned count, i;

    if (!n || n > UINT32_MAX || !mp_utf8_index_p(ENCODING_GET(text))) return false;
    if (!RB_OBJ_FROZEN(text)) object_replace(changes, object, text = rb_str_new_frozen(text));
    count = read_steps(text, n > 1 && RSTRING_PTR(text)[0] == '$', object, steps);
    for (*id = 0, i = 0; i < count; i++) *id = child(changes, *id, &steps[i]);
    RB_GC_GUARD(text);
    return count > 0;
}

/* Follows a Symbol, which is the name of a key. False for one that means all values, or is not text. */
static bool
follow_symbol(mp_changes *changes, uint32_t object, uint32_t *id)
{
    VALUE symbol = mp_changes_object(changes, object), name = rb_sym2str(symbol);
    mp_step_key step = name_step(object, 0, (size_t)RSTRING_LEN(name));
    mp_key key;

    if (symbol == all || !mp_simple_key(name, &key) || key.kind != MP_STR) return false;
    object_replace(changes, object, name);
    *id = child(changes, 0, &step);
    return true;
}

VALUE
mp_changes_path(const mp_changes *changes, uint32_t id)
{
    VALUE steps = rb_ary_new();

    for (; id; id = changes->nodes[id].parent) {
        rb_ary_unshift(steps, mp_changes_step(changes, &changes->nodes[id].step));
    }
    return rb_apply(rb_const_get(mp_mManypack, id_path_class), id_of, steps);
}

void
mp_changes_refuse(const mp_changes *changes, VALUE klass, uint32_t node, const char *format, ...)
{
    VALUE path = mp_changes_path(changes, node), words;
    va_list arguments;

    va_start(arguments, format);
    words = rb_vsprintf(format, arguments);
    va_end(arguments);
    rb_raise(klass, "%" PRIsVALUE " %" PRIsVALUE, path, words);
}

/* --- changes ---------------------------------------------------------------------------------------- */

/* ArgumentError if a value is replaced or removed as a whole, and also changed inside. */
static MP_NOINLINE void
check_alone(const mp_changes *changes, uint32_t id)
{
    const mp_node *node = &changes->nodes[id];
    const mp_more *more = mp_node_more(changes, id);

    if (node->change != MP_LEAVE && (more->child || more->appended)) {
        mp_changes_refuse(changes, rb_eArgError, more->child ? more->child : id,
                          "is inside a value that another change replaces");
    }
    if (node->change == MP_REMOVE && more->new_key) {
        mp_changes_refuse(changes, rb_eArgError, id, "is both removed and renamed");
    }
}

static void
set(mp_changes *changes, uint32_t id, mp_change change, uint32_t value)
{
    mp_node *node = &changes->nodes[id];

    if (node->change == change && node->value == value) return; /* a path has found it twice */
    if (node->change != MP_LEAVE) mp_changes_refuse(changes, rb_eArgError, id, "is changed twice");
    node->change = (uint8_t)change;
    node->value = value;
    if (change == MP_SET) return;
    more_of(changes, id);
    changes->resizes = true;
    if (change == MP_CALL) changes->calls = true;
}

static void
set_once(const mp_changes *changes, uint32_t id, uint32_t *place, uint32_t value, const char *words)
{
    if (*place && *place != value) mp_changes_refuse(changes, rb_eArgError, id, "%s", words);
    *place = value;
}

/* The key that a pair gets is a node beside it, so that the walk finds out if the map has it already. */
static void
rename_key(mp_changes *changes, uint32_t id, uint32_t value)
{
    mp_step_key step = object_step(changes, mp_changes_object(changes, value));
    uint32_t parent = changes->nodes[id].parent, target, renamer;

    set_once(changes, id, &more_of(changes, id)->new_key, value, "is renamed twice");
    target = child(changes, parent, &step);
    renamer = mp_node_more(changes, target)->renamer;
    if (target == id) more_of(changes, id)->new_key = MP_NONE;
    else if (renamer && renamer != id) {
        mp_changes_refuse(changes, rb_eArgError, id, "gets a key that another pair gets");
    } else more_of(changes, target)->renamer = id;
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

/* What is kept of the value of a change, so that a node that is found twice can tell. */
typedef struct {
    VALUE kind;    /* a Symbol, or nil for a value */
    mp_change change;
    bool create;
    uint32_t value;
} given;

static given
read_change(mp_changes *changes, uint32_t index, VALUE removed)
{
    VALUE object = mp_changes_object(changes, index);
    given change = {.kind = Qnil, .change = MP_SET, .value = index};

    if (RB_SPECIAL_CONST_P(object)) return change;
    while (change_p(object) && NIL_P(change.kind)) {
        change.kind = rb_ivar_get(object, id_kind);
        object = rb_ivar_get(object, id_value);
        if (RB_TYPE_P(object, T_STRING)) object = rb_str_new_frozen(object); /* user code may change it meanwhile */
        change.value = mp_changes_keep(changes, object);
        if (change.kind != ID2SYM(rb_intern("parents"))) continue;
        change.create = true;
        change.kind = Qnil;
    }
    if (object == removed) change.change = MP_REMOVE;
    else if (RB_TYPE_P(object, T_DATA) && (RTEST(rb_obj_is_proc(object)) || RTEST(rb_obj_is_method(object)))) {
        change.change = MP_CALL;
    }
    return change;
}

/* Puts what is no value to be set, or is a change of the root. */
static MP_NOINLINE void
put_other(mp_changes *changes, uint32_t id, const given *change)
{
    if (change->kind == ID2SYM(rb_intern("appended"))) {
        set_once(changes, id, &more_of(changes, id)->appended, change->value, "has values appended twice");
    } else if (!id) {
        rb_raise(rb_eArgError, "a change needs the path of a key or index, got $");
    } else if (change->kind == ID2SYM(rb_intern("inserted"))) {
        set_once(changes, id, &more_of(changes, id)->inserted, change->value, "has values inserted twice");
        changes->resizes = true;
    } else {
        rename_key(changes, id, change->value);
    }
}

static void
put(mp_changes *changes, uint32_t id, const given *change)
{
    if (change->create) changes->nodes[id].create = true;
    if (NIL_P(change->kind) && id) set(changes, id, change->change, change->value);
    else put_other(changes, id, change);
    if (changes->nodes[id].more) check_alone(changes, id);
    for (id = changes->nodes[id].parent; id; id = changes->nodes[id].parent) {
        if (changes->nodes[id].change != MP_LEAVE) check_alone(changes, id);
    }
}

/* The steps of each place that a path means, as the parser of Path reads it: an Array of Arrays. */
static VALUE
places(const mp_changes *changes, VALUE path)
{
    VALUE arguments[2] = {changes->view, path};

    return rb_funcallv(view_const(id_splice), id_places, 2, arguments);
}

/* Follows the path at an index of `objects`. False for one that Ruby has to read. */
static bool
follow(mp_changes *changes, uint32_t index, uint32_t *id)
{
    VALUE path = mp_changes_object(changes, index);

    if (RB_TYPE_P(path, T_STRING)) return follow_text(changes, index, id);
    if (RB_SYMBOL_P(path)) return follow_symbol(changes, index, id);
    if (!RB_TYPE_P(path, T_ARRAY) || !plain_steps_p(path)) return false;
    follow_steps(changes, path, id);
    return true;
}

/* Adds a change at each place that a path means. */
static void
add_at_places(mp_changes *changes, VALUE path, const given *change)
{
    VALUE found = places(changes, path);
    uint32_t id;
    long i;

    for (i = 0; i < RARRAY_LEN(found); i++) {
        follow_steps(changes, RARRAY_AREF(found, i), &id);
        put(changes, id, change);
    }
}

/* Adds the change at an index of `objects`, whose path is in front of it. */
static void
add(mp_changes *changes, uint32_t index, VALUE removed)
{
    given change = read_change(changes, index, removed);
    uint32_t id;

    if (follow(changes, index - 1, &id)) put(changes, id, &change);
    else add_at_places(changes, mp_changes_object(changes, index - 1), &change);
}

void
mp_changes_add_all(mp_changes *changes, VALUE removed)
{
    uint32_t index, end = changes->object_count;

    for (index = 2; index < end; index += 2) add(changes, index, removed);
}

static void
merge(mp_changes *changes, uint32_t into, uint32_t id, uint32_t depth)
{
    const mp_node *node = &changes->nodes[id];
    mp_more *target = more_of(changes, into);
    const mp_more *more = mp_node_more(changes, id);
    uint32_t below = more->child;

    if (mp_stack_too_deep_p(depth)) mp_raise_nesting(depth, rb_str_new_cstr("$"), false);
    if (node->create) changes->nodes[into].create = true;
    if (node->change != MP_LEAVE) set(changes, into, (mp_change)node->change, node->value);
    if (more->inserted) set_once(changes, into, &target->inserted, more->inserted, "has values inserted twice");
    if (more->appended) set_once(changes, into, &target->appended, more->appended, "has values appended twice");
    if (more->new_key) set_once(changes, into, &target->new_key, more->new_key, "is renamed twice");
    while (below) {
        uint32_t next = changes->nodes[below].next;
        mp_step_key step = changes->nodes[below].step;
        uint32_t twin = MP_NONE;

        mp_changes_prepare(changes, into);
        if (step.kind != MP_NEVER) {
            mp_key key = mp_changes_key(changes, &step);
            twin = mp_changes_find(changes, into, MP_NONE, &key);
        }
        if (twin) merge(changes, twin, below, depth + 1);
        else move_child(changes, into, below);
        below = next;
    }
    check_alone(changes, into);
}

void
mp_changes_merge(mp_changes *changes, uint32_t into, uint32_t id)
{
    merge(changes, into, id, 1);
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
