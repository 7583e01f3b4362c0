/* Hash templates: how long they live, how they are found, and how a Hash is copied from one. */
#include "caches/hash_template.h"

/* How many templates are kept, and how many fingerprints of keys that were seen once. The oldest is replaced. */
enum { TEMPLATES = 32, FINGERPRINTS = 32 };

typedef struct {
    uint64_t fingerprint; /* of its keys */
    VALUE hash;           /* has those keys and the values of the last row; hidden from ObjectSpace */
    st_table *table;      /* of hash; it never gets other keys */
} hash_template;

typedef struct mp_hash_template_rings {
    hash_template templates[TEMPLATES];
    uint64_t once[FINGERPRINTS]; /* keys seen once: most are never seen again, so they get no template */
    unsigned made, came;         /* number of templates and fingerprints ever added */
} template_rings;

/* --- storage ---------------------------------------------------------------------------------------- */

/*
 * No template survives a collection: otherwise it would keep its keys and the values of its last row alive. Making a
 * new template for the next row is cheaper than clearing the template's values after every row.
 */
void
mp_hash_templates_forget(mp_hash_templates *templates)
{
    if (templates->rings) templates->rings->made = 0;
}

size_t
mp_hash_templates_memsize(const mp_hash_templates *templates)
{
    return templates->rings ? sizeof(template_rings) : 0;
}

static template_rings *
rings_of(mp_hash_templates *templates)
{
    if (MP_UNLIKELY(!templates->rings)) templates->rings = ZALLOC(template_rings);
    return templates->rings;
}

/* --- fingerprints of keys --------------------------------------------------------------------------- */

/* Depends on the identity and order of the keys. Different keys may share a fingerprint. */
static uint64_t
fingerprint_of(size_t n, const VALUE *objects)
{
    uint64_t fingerprint = n;
    size_t i;

    for (i = 0; i < n; i += 2) fingerprint = fingerprint * 31 + objects[i];
    return fingerprint;
}

/* True if keys with this fingerprint were seen before. Remembers the fingerprint. */
static bool
came_before_p(template_rings *templates, uint64_t fingerprint)
{
    size_t i;

    for (i = 0; i < FINGERPRINTS; i++) {
        if (templates->once[i] == fingerprint) return true;
    }
    templates->once[templates->came++ % FINGERPRINTS] = fingerprint;
    return false;
}

/* True if the key's hash never changes, and a Hash stores the key itself, not a copy. */
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
 * Copies the template with other objects; 0 if their keys differ. Accessing its table strips a Hash of its write
 * barrier: therefore the values go into the template, and the copy is an ordinary Hash.
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
    RB_GC_GUARD(hash); /* a collection in rb_hash_dup forgets the template */
    mp_hash_copied(copy, n, objects);
    return copy;
}

/* The template of a fingerprint; NULL if there is none. */
static const hash_template *
template_of(const template_rings *templates, uint64_t fingerprint)
{
    size_t count = templates->made < TEMPLATES ? templates->made : TEMPLATES, i;

    for (i = 0; i < count; i++) {
        if (templates->templates[i].fingerprint == fingerprint) return &templates->templates[i];
    }
    return NULL;
}

VALUE
mp_hash_of_new_keys(size_t n, const VALUE *objects)
{
    VALUE hash = mp_hash_new_capa((long)(n / 2));

    rb_hash_bulk_insert((long)n, objects, hash);
    return hash;
}

/* Makes a template of a Hash, whose keys have this fingerprint. No two keys are equal. */
static void
keep(template_rings *templates, uint64_t fingerprint, VALUE hash)
{
    hash_template template = {.fingerprint = fingerprint, .hash = rb_obj_hide(rb_hash_dup(hash))};

    template.table = mp_hash_table(template.hash);
    templates->templates[templates->made++ % TEMPLATES] = template;
}

/*
 * Keys that share the fingerprint of a template but differ from its own get no template: otherwise an attacker who
 * makes such keys could have every map compared with all templates.
 */
VALUE
mp_hash_of_row(mp_hash_templates *owner, size_t n, const VALUE *objects)
{
    template_rings *templates;
    const hash_template *template;
    uint64_t fingerprint;
    VALUE hash;

    if (!mp_hash_table_p()) return mp_hash_of_new_keys(n, objects);
    templates = rings_of(owner);
    fingerprint = fingerprint_of(n, objects);
    template = template_of(templates, fingerprint);
    hash = template ? copy_with(template, n, objects) : 0;
    if (MP_LIKELY(hash)) return hash;
    hash = mp_hash_of_new_keys(n, objects);
    if (template || !came_before_p(templates, fingerprint)) return hash;
    if (RHASH_SIZE(hash) == n / 2 && constant_keys_p(n, objects)) keep(templates, fingerprint, hash);
    return hash;
}
