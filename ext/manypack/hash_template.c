/* Hash templates: where they live, which there are, and how a Hash is made from one. */
#include "hash_template.h"

#include "key_cache.h"

/* So many lists of keys, each in one of so many places. */
enum { PLACE_BITS = 5, PLACES = 1 << PLACE_BITS, WAYS = 4 };

typedef struct {
    uint64_t list;   /* of its keys; see list_of */
    VALUE hash;      /* with those keys, hidden from ObjectSpace; 0 when the place is free */
    st_table *table; /* that of hash, which is pinned and gets no other keys */
    bool filled;     /* its values are those of the last row */
} hash_template;

struct mp_hash_templates {
    hash_template places[PLACES];
    uint64_t once[PLACES];       /* lists that have come once: maps whose keys are never the same leave no template */
    const hash_template *copied; /* the one whose values are wanted; NULL at most times */
    unsigned made;
};

static rb_ractor_local_key_t templates_key;

/* --- values ----------------------------------------------------------------------------------------- */

static int
same_key(st_data_t key, st_data_t value, st_data_t arg, int error)
{
    const VALUE *next = *(const VALUE **)arg;

    return key == next[0] ? ST_REPLACE : ST_STOP;
}

static int
put_value(st_data_t *key, st_data_t *value, st_data_t arg, int existing)
{
    const VALUE **next = (const VALUE **)arg;

    *value = (*next)[1];
    *next += 2;
    return ST_CONTINUE;
}

/*
 * Puts in the values of n objects; false when they have other keys. Ruby takes the write barrier from a Hash whose
 * table it hands out: so it is the template that is filled, and its copy an ordinary Hash.
 */
static bool
fill(hash_template *template, size_t n, const VALUE *objects)
{
    const VALUE *next = objects;

    if (MP_UNLIKELY(template->table->num_entries != n / 2)) return false;
    template->filled = true;
    st_foreach_with_replace(template->table, same_key, put_value, (st_data_t)&next);
    return next == objects + n;
}

static int
any_key(st_data_t key, st_data_t value, st_data_t arg, int error)
{
    return ST_REPLACE;
}

static int
put_nil(st_data_t *key, st_data_t *value, st_data_t arg, int existing)
{
    *value = Qnil;
    return ST_CONTINUE;
}

static void
empty(hash_template *template)
{
    st_foreach_with_replace(template->table, any_key, put_nil, 0);
    template->filled = false;
}

/* --- storage ---------------------------------------------------------------------------------------- */

/*
 * Storage of a Ractor has no compaction callback, so that objects must be pinned.
 *
 * Values go before the collector could find them here: no row outlives a collection because it was the last one, and
 * no row but that has to be taken out of its template again, which would cost as much as putting it in.
 */
static void
templates_mark(void *ptr)
{
    mp_hash_templates *templates = ptr;
    size_t i;

    for (i = 0; i < PLACES; i++) {
        hash_template *template = &templates->places[i];

        if (!template->hash) continue;
        if (template->filled && template != templates->copied) empty(template);
        rb_gc_mark(template->hash);
    }
}

static const struct rb_ractor_local_storage_type templates_type = {templates_mark, ruby_xfree};

mp_hash_templates *
mp_hash_templates_get(void)
{
    mp_hash_templates *templates = rb_ractor_local_storage_ptr(templates_key);

    if (MP_UNLIKELY(!templates)) {
        templates = ZALLOC(mp_hash_templates);
        rb_ractor_local_storage_ptr_set(templates_key, templates);
    }
    return templates;
}

/* --- lists of keys ---------------------------------------------------------------------------------- */

/* By which a list of keys is found: from what objects they are, and in which order. Others may have the same. */
static uint64_t
list_of(size_t n, const VALUE *objects)
{
    uint64_t list = n;
    size_t i;

    for (i = 0; i < n; i += 2) list = list * 31 + objects[i];
    return list * 0x9e3779b97f4a7c15u;
}

static size_t
place_of(uint64_t list)
{
    return (size_t)(list >> (64 - PLACE_BITS));
}

/* The template in the ith place where one for that list can be. */
static hash_template *
way(mp_hash_templates *templates, uint64_t list, size_t i)
{
    return &templates->places[(place_of(list) + i) % PLACES];
}

/* Those that a template may hold on to: the key cache would keep them, too. */
static bool
keepable_keys_p(size_t n, const VALUE *objects)
{
    size_t i;

    for (i = 0; i < n; i += 2) {
        VALUE key = SYMBOL_P(objects[i]) ? rb_sym2str(objects[i]) : objects[i];

        if (!RB_TYPE_P(key, T_STRING) || RSTRING_LEN(key) > MP_KEY_MAX) return false;
    }
    return true;
}

/* --- Hashes ----------------------------------------------------------------------------------------- */

/* A copy of the template with those objects; 0 when they have other keys. */
static VALUE
copy_with(mp_hash_templates *templates, hash_template *template, size_t n, const VALUE *objects)
{
    VALUE copy;

    if (MP_UNLIKELY(!fill(template, n, objects))) return 0;
    templates->copied = template;
    copy = rb_hash_dup(template->hash);
    templates->copied = NULL;
    return rb_obj_reveal(copy, rb_cHash);
}

static VALUE
hash_of_new_keys(size_t n, const VALUE *objects)
{
    VALUE hash = rb_hash_new_capa((long)(n / 2));

    rb_hash_bulk_insert((long)n, objects, hash);
    return hash;
}

/* Where the template for a new list goes: in a free place, else in that of another one. */
static hash_template *
place_for(mp_hash_templates *templates, uint64_t list)
{
    size_t i;

    for (i = 0; i < WAYS; i++) {
        hash_template *template = way(templates, list, i);
        if (!template->hash) return template;
    }
    return way(templates, list, templates->made % WAYS);
}

/* Keeps a template of a Hash that was made of n objects, if its list of keys comes for the second time. */
static void
keep_if_again(mp_hash_templates *templates, uint64_t list, VALUE hash, size_t n, const VALUE *objects)
{
    uint64_t *once = &templates->once[place_of(list)];
    hash_template template = {.list = list, .filled = true};

    if (*once != list) {
        *once = list;
        return;
    }
    if (RHASH_SIZE(hash) != n / 2 || !keepable_keys_p(n, objects)) return;
    template.hash = rb_obj_hide(rb_hash_dup(hash));
    template.table = RHASH_TBL(template.hash);
    *place_for(templates, list) = template;
    templates->made++;
}

VALUE
mp_hash_of_row(mp_hash_templates *templates, size_t n, const VALUE *objects)
{
    uint64_t list = list_of(n, objects);
    VALUE hash;
    size_t i;

    for (i = 0; i < WAYS; i++) {
        hash_template *template = way(templates, list, i);

        if (template->list != list || !template->hash) continue;
        hash = copy_with(templates, template, n, objects);
        if (MP_LIKELY(hash)) return hash;
    }
    hash = hash_of_new_keys(n, objects);
    keep_if_again(templates, list, hash, n, objects);
    return hash;
}

void
Init_manypack_hash_template(void)
{
    templates_key = rb_ractor_local_storage_ptr_newkey(&templates_type);
}
