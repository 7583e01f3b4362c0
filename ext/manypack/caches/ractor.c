/* The object that holds everything that Manypack keeps for a Ractor: its GC functions, and how it is found. */
#include "caches/ractor.h"

/* Small, because a process may have ten thousand Ractors: since 3.3 it fits a slot of 160 bytes. */
MP_STATIC_ASSERT(ractor_state_is_small, sizeof(mp_ractor) <= 128);

static void
ractor_mark(void *ptr)
{
    mp_ractor *ractor = ptr;

    mp_string_cache_mark(&ractor->keys);
    mp_string_cache_mark(&ractor->values);
    mp_hash_templates_forget(&ractor->rows);
    if (ractor->seldom) {
        ractor->seldom->recent_codec = 0;
        ractor->seldom->bytes = 0; /* it may be long, and the Ractor may have stopped reading */
        mp_latest_mark(&ractor->seldom->latest);
        if (ractor->seldom->types) rb_gc_mark_movable(ractor->seldom->types);
        if (ractor->seldom->constructors) rb_gc_mark_movable(ractor->seldom->constructors);
        if (ractor->seldom->paths) rb_gc_mark_movable(ractor->seldom->paths);
    }
    if (ractor->spares.packer) rb_gc_mark_movable(ractor->spares.packer);
    if (ractor->spares.unpacker) rb_gc_mark_movable(ractor->spares.unpacker);
    if (ractor->spares.body) rb_gc_mark_movable(ractor->spares.body);
}

/* The packed Symbols never move, and no templates are left. */
static void
ractor_compact(void *ptr)
{
    mp_ractor *ractor = ptr;

    mp_string_cache_compact(&ractor->keys);
    mp_string_cache_compact(&ractor->values);
    if (ractor->seldom && ractor->seldom->paths) ractor->seldom->paths = rb_gc_location(ractor->seldom->paths);
    if (ractor->spares.packer) ractor->spares.packer = rb_gc_location(ractor->spares.packer);
    if (ractor->spares.unpacker) ractor->spares.unpacker = rb_gc_location(ractor->spares.unpacker);
    if (ractor->spares.body) ractor->spares.body = rb_gc_location(ractor->spares.body);
    if (ractor->seldom && ractor->seldom->types) ractor->seldom->types = rb_gc_location(ractor->seldom->types);
    if (ractor->seldom && ractor->seldom->constructors) {
        ractor->seldom->constructors = rb_gc_location(ractor->seldom->constructors);
    }
}

static void
ractor_free(void *ptr)
{
    mp_ractor *ractor = ptr;

    mp_cache_table_free(&ractor->keys);
    mp_cache_table_free(&ractor->values);
    mp_cache_table_free(&ractor->symbols);
    xfree(ractor->rows.rings);
    if (ractor->seldom) mp_trails_free(ractor->seldom->trails);
    xfree(ractor->seldom);
    mp_typed_free(ptr);
}

static size_t
ractor_memsize(const void *ptr)
{
    const mp_ractor *ractor = ptr;

    return mp_typed_memsize(sizeof(mp_ractor)) + mp_string_cache_memsize(&ractor->keys) +
           mp_string_cache_memsize(&ractor->values) + mp_packed_symbols_memsize(&ractor->symbols) +
           mp_hash_templates_memsize(&ractor->rows) +
           (ractor->seldom ? sizeof(mp_seldom) + mp_trails_memsize(ractor->seldom->trails) : 0);
}

/*
 * No write barrier, so that every collection marks the whole object, including minor ones and the end of an incremental
 * one: each must forget the templates, the recent Codec, the String for ios and recent messages. Nor would a barrier
 * help: each cache miss stores a young object in this old one, so the next minor collection would mark the whole object
 * anyway, and during an incremental one the barrier locks all Ractors. It would pay only without misses: marking both
 * tables at their largest takes 70 to 90 microseconds.
 *
 * Never shareable: it belongs to one Ractor alone.
 */
static const rb_data_type_t ractor_type = {
    .wrap_struct_name = "Manypack::RactorState",
    .function = {.dmark = ractor_mark, .dfree = ractor_free, .dsize = ractor_memsize, .dcompact = ractor_compact},
    .flags = MP_TYPED_FREE | MP_TYPED_EMBEDDABLE,
};

static rb_ractor_local_key_t ractor_key;
static VALUE cRactorState;
static const mp_ractor *main_ractor;

static MP_NOINLINE VALUE
ractor_new(void)
{
    mp_ractor *ractor;
    VALUE self = TypedData_Make_Struct(cRactorState, mp_ractor, &ractor_type, ractor);

    mp_cache_table_init(&ractor->keys);
    mp_cache_table_init(&ractor->values);
    mp_cache_table_init(&ractor->symbols);
    rb_ractor_local_storage_value_set(ractor_key, self);
    return self;
}

mp_ractor *
mp_ractor_current(void)
{
    VALUE self = rb_ractor_local_storage_value(ractor_key);

    if (MP_UNLIKELY(NIL_P(self))) self = ractor_new();
    return mp_typed_data(self);
}

mp_seldom *
mp_ractor_seldom(void)
{
    mp_ractor *ractor = mp_ractor_current();

    if (!ractor->seldom) ractor->seldom = ZALLOC(mp_seldom);
    return ractor->seldom;
}

bool
mp_main_ractor_p(void)
{
    return mp_ractor_current() == main_ractor;
}

static bool
find_route(VALUE source, size_t start, size_t offset, mp_route *route)
{
    return mp_trails_find(&mp_ractor_seldom()->trails, source, start, offset, route);
}

/* Extensions are loaded in the main Ractor, so this mp_ractor_current is the main Ractor's. */
void
Init_manypack_ractor(void)
{
    ractor_key = rb_ractor_local_storage_value_newkey();
    cRactorState = rb_define_class_under(mp_mManypack, "RactorState", rb_cObject);
    rb_gc_register_mark_object(cRactorState);
    rb_undef_alloc_func(cRactorState);
    rb_undef_method(cRactorState, "initialize_copy");
    rb_funcall(mp_mManypack, rb_intern("private_constant"), 1, ID2SYM(rb_intern("RactorState")));
    main_ractor = mp_ractor_current();
    mp_error_path_set_finder(find_route);
}
