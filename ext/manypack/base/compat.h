/* All differences between Rubies, each with a feature test and the version that introduced it. */
#ifndef MANYPACK_COMPAT_H
#define MANYPACK_COMPAT_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/io.h>
#include <ruby/ractor.h>
#include <ruby/version.h>

/*
 * Functions that some Rubies hide from extensions. have_func finds even hidden functions if Ruby is a static library.
 * Where the linker has weak references, we declare the functions weak: the address of a hidden function is NULL.
 *
 * rb_proc_isolate: 3.0, exported but in no header. It may disappear. From 4.0 on we do not call it: Ruby code calls
 * Ractor.shareable_proc, which does more.
 * rb_obj_set_shareable: 4.1, which exports it since September 2026.
 */
#ifdef MP_WEAK_REFERENCES
__attribute__((weak)) VALUE rb_proc_isolate(VALUE proc);
__attribute__((weak)) VALUE rb_obj_set_shareable(VALUE obj);
#elif defined(HAVE_RB_PROC_ISOLATE)
VALUE rb_proc_isolate(VALUE proc);
#endif

/* Isolates a Proc as Ractor.new does, if this Ruby lets extensions do so; otherwise raises RuntimeError. */
static inline VALUE
mp_proc_isolate(VALUE proc)
{
#ifdef MP_WEAK_REFERENCES
    if (rb_proc_isolate) return rb_proc_isolate(proc);
#elif defined(HAVE_RB_PROC_ISOLATE)
    return rb_proc_isolate(proc);
#endif
    rb_raise(rb_eRuntimeError, "this Ruby cannot isolate a Proc");
}

/* Since 3.2. An older Ruby's Hash grows as it is filled. */
static inline VALUE
mp_hash_new_capa(long capa)
{
#ifdef HAVE_RB_HASH_NEW_CAPA
    return rb_hash_new_capa(capa);
#else
    (void)capa;
    return rb_hash_new();
#endif
}

/*
 * Issues the write barriers that rb_hash_dup omits before 3.3, which also introduced embeddable structs: the copy may
 * already be marked or old. objects are the n keys and values of the copy, in turn.
 */
static inline void
mp_hash_copied(VALUE copy, size_t n, const VALUE *objects)
{
#ifdef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
    (void)copy, (void)n, (void)objects;
#else
    size_t i;

    for (i = 0; i < n; i++) RB_OBJ_WRITTEN(copy, Qundef, objects[i]);
#endif
}

/*
 * The table of a Hash, if mp_hash_table_p. The Hash loses its write barrier. Deprecated in 4.1, which has no other
 * function that replaces the values of a Hash without looking up its keys. --disable-hash-templates omits it.
 */
#ifdef MP_HASH_TEMPLATES
RBIMPL_WARNING_PUSH()
RBIMPL_WARNING_IGNORED(-Wdeprecated-declarations)
static inline st_table *
mp_hash_table(VALUE hash)
{
    return RHASH_TBL(hash);
}
RBIMPL_WARNING_POP()
#else
static inline st_table *
mp_hash_table(VALUE hash)
{
    (void)hash;
    return NULL;
}
#endif

static inline bool
mp_hash_table_p(void)
{
#ifdef MP_HASH_TEMPLATES
    return true;
#else
    return false;
#endif
}

/* 3.3. An embeddable struct lives in the slot of its object. An enum until 4.1, so #ifdef cannot see it. */
#ifdef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
#define MP_TYPED_EMBEDDABLE RUBY_TYPED_EMBEDDABLE
#else
#define MP_TYPED_EMBEDDABLE 0
#endif

/*
 * The struct of an object whose type is embeddable and was checked by the caller. Since 3.3 it is always in the slot,
 * because ours are far below the 600 bytes that fit there. Ruby would test that, several times for each short object.
 */
static inline void *
mp_typed_data(VALUE obj)
{
#ifdef HAVE_CONST_RUBY_TYPED_EMBEDDABLE
    void *data = (void *)&RTYPEDDATA(obj)->data;

    RUBY_ASSERT(data == RTYPEDDATA_GET_DATA(obj));
    return data;
#else
    return RTYPEDDATA_DATA(obj);
#endif
}

/* For the dfree of an embeddable type: frees the struct itself, which Ruby does since 3.3. */
static inline void
mp_typed_free(void *ptr)
{
    if (!MP_TYPED_EMBEDDABLE) xfree(ptr);
}

/* For the dsize of an embeddable type: the size of the struct itself, which Ruby counts since 3.3. */
static inline size_t
mp_typed_memsize(size_t size)
{
    return MP_TYPED_EMBEDDABLE ? 0 : size;
}

/*
 * The flags of an object, without the collector's. They change when user code freezes the object or gives it an
 * instance variable or object_id. Each of these sets a flag or, since 3.2, changes the shape, which is stored in the
 * flags.
 */
static inline VALUE
mp_flags(VALUE obj)
{
    return RBASIC(obj)->flags & ~(VALUE)RUBY_FL_PROMOTED;
}

/* Since 4.1: allows Ruby to free the object on any native thread while Ruby code runs. */
#ifdef HAVE_CONST_RUBY_TYPED_THREAD_SAFE_FREE
#define MP_TYPED_FREE (RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_THREAD_SAFE_FREE)
#else
#define MP_TYPED_FREE RUBY_TYPED_FREE_IMMEDIATELY
#endif

/*
 * Marks an object as shareable, if this Ruby lets extensions do so. True if it did. Before 4.1 Ruby has only a flag for
 * this, and no function; --disable-shareable-flag leaves the flag alone.
 */
static inline bool
mp_shareable_if_possible(VALUE obj)
{
#if defined(HAVE_CONST_RUBY_FL_SHAREABLE) && RUBY_API_VERSION_CODE < 40100
    RB_FL_SET_RAW(obj, RUBY_FL_SHAREABLE);
    return true;
#elif defined(MP_WEAK_REFERENCES)
    return rb_obj_set_shareable && rb_obj_set_shareable(obj);
#elif defined(HAVE_RB_OBJ_SET_SHAREABLE)
    return rb_obj_set_shareable(obj);
#else
    (void)obj;
    return false;
#endif
}

/*
 * Marks a frozen object of ours as shareable, after its children. 4.1 keeps the mark outside the object and has a
 * function to set it; before, it is a flag of the object. Without either, Ruby walks through the object. If Ruby 4.1 or
 * newer lacks the function, it must walk, too: with the flag alone, the collector of one Ractor could free an object
 * that another Ractor holds.
 */
static inline VALUE
mp_obj_set_shareable(VALUE obj)
{
    return mp_shareable_if_possible(obj) ? obj : rb_ractor_make_shareable(obj);
}

/* The same for an object that is not frozen: its own code keeps other Ractors from changing it. */
static inline VALUE
mp_unfrozen_set_shareable(VALUE obj)
{
    if (!mp_shareable_if_possible(obj)) RB_FL_UNSET_RAW(rb_ractor_make_shareable(obj), RUBY_FL_FREEZE);
    return obj;
}

#endif
