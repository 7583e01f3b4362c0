/*
 * Counts what Ruby code allocates by malloc, and what of that the extension itself asks for. One library twice: it is
 * preloaded, so that its malloc stands before the C library's, and required, for Ruby to reach the counters.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ruby.h>

typedef struct {
    size_t calls, bytes, own_calls, own_bytes;
} counters;

/* Of this thread: what is counted while a block runs, and the size that the extension is asking Ruby for, or 0. */
static __thread counters *counting __attribute__((tls_model("initial-exec")));
static __thread size_t own_size __attribute__((tls_model("initial-exec")));

/* --- the functions behind ours ---------------------------------------------------------------------- */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

/* dlsym itself allocates, before it can tell by whose function: from here, and for good. */
static char early[16384];
static size_t early_used;

static void *
early_alloc(size_t size)
{
    void *p = early + early_used;

    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof(early) ? p : NULL;
}

static int
early_p(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static int finding;

/* Whether the functions are known. */
static int
found(void)
{
    if (next_free) return 1;
    if (finding) return 0;
    finding = 1;
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    finding = 0;
    return 1;
}

/* --- what the extension holds ----------------------------------------------------------------------- */

enum { PLACES = 1 << 16 };

/* A closed hash table of blocks by address; an address of 1 is of a block that was freed. */
static struct {
    uintptr_t at;
    size_t size;
} held[PLACES];
static size_t held_blocks, held_bytes;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t
place_of(uintptr_t at, int to_insert)
{
    size_t i = (at >> 4) * 0x9e3779b1u % PLACES, tries;

    for (tries = 0; tries < PLACES; tries++, i = (i + 1) % PLACES) {
        if (held[i].at == at || !held[i].at || (to_insert && held[i].at == 1)) return i;
    }
    return PLACES;
}

static void
hold(void *p, size_t size)
{
    size_t i;

    pthread_mutex_lock(&held_lock);
    i = place_of((uintptr_t)p, 1);
    if (i < PLACES) {
        held[i].at = (uintptr_t)p;
        held[i].size = size;
        held_blocks++;
        held_bytes += size;
    }
    pthread_mutex_unlock(&held_lock);
}

/* Whether it was held. */
static int
let_go(void *p)
{
    size_t i;
    int was;

    if (!held_blocks || !p) return 0;
    pthread_mutex_lock(&held_lock);
    i = place_of((uintptr_t)p, 0);
    was = i < PLACES && held[i].at == (uintptr_t)p;
    if (was) {
        held[i].at = 1;
        held_blocks--;
        held_bytes -= held[i].size;
    }
    pthread_mutex_unlock(&held_lock);
    return was;
}

/* Ruby may allocate for itself while it serves the extension: only what is of the size asked for is the extension's. */
static void *
counted(void *p, size_t size, int own)
{
    own |= size == own_size && size > 0;
    if (counting) {
        counting->calls++;
        counting->bytes += size;
        counting->own_calls += (size_t)own;
        counting->own_bytes += own ? size : 0;
    }
    if (own && p) hold(p, size);
    return p;
}

/* --- the C library's functions ---------------------------------------------------------------------- */

void *
malloc(size_t size)
{
    return found() ? counted(next_malloc(size), size, 0) : early_alloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return found() ? counted(next_calloc(count, size), count * size, 0) : early_alloc(count * size);
}

void *
realloc(void *old, size_t size)
{
    int own;

    if (early_p(old)) {
        void *p = malloc(size);
        size_t there = (size_t)(early + sizeof(early) - (char *)old);
        return p ? memcpy(p, old, size < there ? size : there) : NULL;
    }
    if (!found()) return early_alloc(size);
    own = let_go(old);
    return counted(next_realloc(old, size), size, own);
}

void
free(void *p)
{
    if (early_p(p) || !found()) return;
    let_go(p);
    next_free(p);
}

/* --- Ruby's functions, as the extension calls them -------------------------------------------------- */

#define PASS_ON(result, name, parameters, arguments, size_) \
    static result own_##name parameters                     \
    {                                                       \
        result got;                                         \
                                                            \
        own_size = (size_);                                 \
        got = name arguments;                               \
        own_size = 0;                                       \
        return got;                                         \
    }

PASS_ON(void *, ruby_xmalloc, (size_t n), (n), n)
PASS_ON(void *, ruby_xmalloc2, (size_t n, size_t size), (n, size), n * size)
PASS_ON(void *, ruby_xcalloc, (size_t n, size_t size), (n, size), n * size)
PASS_ON(void *, ruby_xrealloc, (void *p, size_t n), (p, n), n)
PASS_ON(void *, ruby_xrealloc2, (void *p, size_t n, size_t size), (p, n, size), n * size)
/*
 * By pointers, because 4.1 has a third argument here, which nobody looks at before, and no longer has the second
 * function, which nobody calls there.
 */
static void *
tmp_buffer(volatile VALUE *owner, long n, int mark)
{
    return ((void *(*)(volatile VALUE *, long, int))(void *)rb_alloc_tmp_buffer)(owner, n, mark);
}

static void *
tmp_buffer_with_count(volatile VALUE *owner, size_t n, size_t count)
{
    void *function = dlsym(RTLD_DEFAULT, "rb_alloc_tmp_buffer_with_count");

    return ((void *(*)(volatile VALUE *, size_t, size_t))function)(owner, n, count);
}

PASS_ON(void *, tmp_buffer, (volatile VALUE *owner, long n, int mark), (owner, n, mark), (size_t)n)
PASS_ON(void *, tmp_buffer_with_count, (volatile VALUE *owner, size_t n, size_t count), (owner, n, count), n)
PASS_ON(VALUE, rb_data_typed_object_zalloc, (VALUE klass, size_t n, const rb_data_type_t *type), (klass, n, type), n)

static const struct {
    const char *name;
    void *own;
} hooks[] = {
    {"ruby_xmalloc", own_ruby_xmalloc},
    {"ruby_xmalloc2", own_ruby_xmalloc2},
    {"ruby_xcalloc", own_ruby_xcalloc},
    {"ruby_xrealloc", own_ruby_xrealloc},
    {"ruby_xrealloc2", own_ruby_xrealloc2},
    {"rb_alloc_tmp_buffer", own_tmp_buffer},
    {"rb_alloc_tmp_buffer_with_count", own_tmp_buffer_with_count},
    {"rb_data_typed_object_zalloc", own_rb_data_typed_object_zalloc},
};

/* What of a library's dynamic section is needed to find the places where it keeps addresses of others' functions. */
typedef struct {
    const char *path;
    uintptr_t base;
    const ElfW(Sym) *symbols;
    const char *names;
    const char *relocations[2];
    size_t sizes[2];
    size_t step; /* ElfW(Rela) begins as ElfW(Rel) does; a CPU has one of the two */
    int hooked;
} library;

enum { SYMBOL_SHIFT = sizeof(void *) == 8 ? 32 : 8 };

static void
redirect(library *lib, const ElfW(Rel) *relocation)
{
    const char *name = lib->names + lib->symbols[relocation->r_info >> SYMBOL_SHIFT].st_name;
    void **place = (void **)(lib->base + relocation->r_offset);
    uintptr_t page = (uintptr_t)place & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    size_t i;

    for (i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        if (strcmp(name, hooks[i].name) != 0) continue;
        if (mprotect((void *)page, (uintptr_t)(place + 1) - page, PROT_READ | PROT_WRITE) != 0) continue;
        *place = hooks[i].own;
        lib->hooked++;
    }
}

static void
redirect_all(library *lib)
{
    int table;
    size_t i;

    for (table = 0; table < 2; table++) {
        for (i = 0; i < lib->sizes[table]; i += lib->step) redirect(lib, (const void *)(lib->relocations[table] + i));
    }
}

/* Some C libraries have made these addresses absolute. */
static const void *
address_of(const library *lib, uintptr_t address)
{
    return (const void *)(address < lib->base ? address + lib->base : address);
}

static int
watch_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    library *lib = arg;
    const ElfW(Dyn) *entry = NULL;
    int i;

    if (strcmp(info->dlpi_name, lib->path) != 0) return 0;
    lib->base = info->dlpi_addr;
    for (i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) entry = address_of(lib, info->dlpi_phdr[i].p_vaddr);
    }
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
          case DT_SYMTAB: lib->symbols = address_of(lib, entry->d_un.d_ptr); break;
          case DT_STRTAB: lib->names = address_of(lib, entry->d_un.d_ptr); break;
          case DT_RELA:
          case DT_REL: lib->relocations[0] = address_of(lib, entry->d_un.d_ptr); break;
          case DT_RELASZ:
          case DT_RELSZ: lib->sizes[0] = entry->d_un.d_val; break;
          case DT_RELAENT:
          case DT_RELENT: lib->step = entry->d_un.d_val; break;
          case DT_JMPREL: lib->relocations[1] = address_of(lib, entry->d_un.d_ptr); break;
          case DT_PLTRELSZ: lib->sizes[1] = entry->d_un.d_val; break;
        }
    }
    redirect_all(lib);
    return 1;
}

/* --- for Ruby --------------------------------------------------------------------------------------- */

/* watch(path): the loaded extension whose own allocations are told apart. How many functions it has for them. */
static VALUE
watch(VALUE self, VALUE path)
{
    library lib = {.path = StringValueCStr(path)};

    dl_iterate_phdr(watch_library, &lib);
    return INT2FIX(lib.hooked);
}

/* count { } -> [calls, bytes, own calls, own bytes] of malloc, calloc and realloc in the block, by this thread. */
static VALUE
count(VALUE self)
{
    counters counters = {0};

    counting = &counters;
    rb_yield(Qnil);
    counting = NULL;
    return rb_ary_new_from_args(4, SIZET2NUM(counters.calls), SIZET2NUM(counters.bytes), SIZET2NUM(counters.own_calls),
                                SIZET2NUM(counters.own_bytes));
}

/* held -> [blocks, bytes] that the extension has allocated since it is watched and not freed. */
static VALUE
what_is_held(VALUE self)
{
    size_t blocks = held_blocks, bytes = held_bytes;

    return rb_ary_new_from_args(2, SIZET2NUM(blocks), SIZET2NUM(bytes));
}

void
Init_malloc_count(void)
{
    VALUE module = rb_define_module("MallocCount");

    rb_define_module_function(module, "watch", watch, 1);
    rb_define_module_function(module, "count", count, 0);
    rb_define_module_function(module, "held", what_is_held, 0);
}
