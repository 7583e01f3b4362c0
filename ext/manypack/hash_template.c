/* Hash templates: how long they live, how they are found, and how a Hash is made from one. */
#include "hash_template.h"

/* So many templates there are, and of so many lists of keys it is known that they came once; the oldest one goes. */
enum { TEMPLATES = 32, LISTS = 32 };

typedef struct {
    uint64_t list;   /* of its keys; see list_of */
    VALUE hash;      /* with those keys and the values of the last row, hidden from ObjectSpace */
    st_table *table; /* that of hash, which gets no other keys */
} hash_template;

typedef struct mp_hash_template_list {
    hash_template templates[TEMPLATES];
    uint64_t once[LISTS]; /* maps whose keys are never the same leave no template */
    unsigned made, came;  /* how many templates and lists were put in here, in a circle */
} template_list;

/* --- storage ---------------------------------------------------------------------------------------- */

/*
 * No template is found after a collection, nor does it keep keys or the values of its last row alive. The next row
 * makes a new one, which is cheaper than to take the values out of a template again after each row.
 */
void
mp_hash_templates_forget(mp_hash_templates *templates)
{
    if (templates->list) templates->list->made = 0;
}

size_t
mp_hash_templates_memsize(const mp_hash_templates *templates)
{
    return templates->list ? sizeof(template_list) : 0;
}

static template_list *
list_of_templates(mp_hash_templates *templates)
{
    if (MP_UNLIKELY(!templates->list)) templates->list = ZALLOC(template_list);
    return templates->list;
}

/* --- lists of keys ---------------------------------------------------------------------------------- */

/* By which a list of keys is found: from what objects they are, and in which order. Others may have the same. */
static uint64_t
list_of(size_t n, const VALUE *objects)
{
    uint64_t list = n;
    size_t i;

    for (i = 0; i < n; i += 2) list = list * 31 + objects[i];
    return list;
}

/* Whether that list came before; from now on it did. */
static bool
came_before_p(template_list *templates, uint64_t list)
{
    size_t i;

    for (i = 0; i < LISTS; i++) {
        if (templates->once[i] == list) return true;
    }
    templates->once[templates->came++ % LISTS] = list;
    return false;
}

/* Whether the same object has the same hash for ever, and a Hash takes it as it is. */
static bool
constant_key_p(VALUE key)
{
    if (RB_SPECIAL_CONST_P(key) || SYMBOL_P(key)) return true;
    return RB_TYPE_P(key, T_STRING) && RBASIC_CLASS(key) == rb_cString && OBJ_FROZEN(key);
}

static bool
constant_keys_p(size_t n, const VALUE *objects)
{
    size_t i;

    for (i = 0; i < n; i += 2) {
        if (!constant_key_p(objects[i])) return false;
    }
    return true;
}

/* --- Hashes ----------------------------------------------------------------------------------------- */

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
 * A copy of the template with those objects; 0 when they have other keys. Ruby takes the write barrier from a Hash
 * whose table it hands out: so it is the template that is filled, and its copy an ordinary Hash.
 */
static VALUE
copy_with(const hash_template *template, size_t n, const VALUE *objects)
{
    const VALUE *next = objects;
    VALUE hash = template->hash, copy;

    if (MP_UNLIKELY(template->table->num_entries != n / 2)) return 0;
    st_foreach_with_replace(template->table, same_key, put_value, (st_data_t)&next);
    if (MP_UNLIKELY(next != objects + n)) return 0;
    copy = rb_obj_reveal(rb_hash_dup(hash), rb_cHash);
    RB_GC_GUARD(hash); /* the template is forgotten where a collection runs in there */
    mp_hash_copied(copy, n, objects);
    return copy;
}

/* The template of a list; NULL without one. */
static const hash_template *
template_of(const template_list *templates, uint64_t list)
{
    size_t count = templates->made < TEMPLATES ? templates->made : TEMPLATES, i;

    for (i = 0; i < count; i++) {
        if (templates->templates[i].list == list) return &templates->templates[i];
    }
    return NULL;
}

VALUE
mp_hash_of_new_keys(size_t n, const VALUE *objects)
{
    VALUE hash = rb_hash_new_capa((long)(n / 2));

    rb_hash_bulk_insert((long)n, objects, hash);
    return hash;
}

/* Keeps a template of a Hash that was made of n objects, of which no key is there twice. */
static void
keep(template_list *templates, uint64_t list, VALUE hash)
{
    hash_template template = {.list = list, .hash = rb_obj_hide(rb_hash_dup(hash))};

    template.table = RHASH_TBL(template.hash);
    templates->templates[templates->made++ % TEMPLATES] = template;
}

/*
 * Other keys can have the list of a template. They get none of their own: whoever makes such keys on purpose would have
 * each of their maps compared with all templates.
 */
VALUE
mp_hash_of_row(mp_hash_templates *owner, size_t n, const VALUE *objects)
{
    template_list *templates = list_of_templates(owner);
    uint64_t list = list_of(n, objects);
    const hash_template *template = template_of(templates, list);
    VALUE hash = template ? copy_with(template, n, objects) : 0;

    if (MP_LIKELY(hash)) return hash;
    hash = mp_hash_of_new_keys(n, objects);
    if (template || !came_before_p(templates, list)) return hash;
    if (RHASH_SIZE(hash) == n / 2 && constant_keys_p(n, objects)) keep(templates, list, hash);
    return hash;
}
