/*
 * For no_memory_test.rb: makes the nth of the extension's calls into Ruby that may allocate raise NoMemoryError. Only
 * the extension's own table of functions is changed, so that Ruby itself never runs out of memory: it does not survive
 * that everywhere.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ruby.h"

/* Those whose arguments are at most six words. */
#define ALLOCATING(F) \
    F(ruby_xcalloc) F(ruby_xmalloc) F(ruby_xmalloc2) F(ruby_xrealloc) F(ruby_xrealloc2) \
    F(rb_alloc_tmp_buffer_with_count) F(rb_ary_dup) F(rb_ary_new) F(rb_ary_new_capa) F(rb_ary_new_from_values) \
    F(rb_ary_push) F(rb_ary_store) F(rb_assoc_new) F(rb_check_funcall) F(rb_class_new_instance_kw) \
    F(rb_data_typed_object_zalloc) F(rb_enc_interned_str) F(rb_enc_str_new) F(rb_enc_str_new_static) \
    F(rb_enumeratorize_with_size) F(rb_exc_new) F(rb_exc_new_str) F(rb_funcallv) F(rb_funcallv_kw) F(rb_hash_aset) \
    F(rb_hash_bulk_insert) F(rb_hash_dup) F(rb_hash_new) F(rb_hash_new_capa) F(rb_id2str) F(rb_inspect) F(rb_int2big) \
    F(rb_integer_unpack) F(rb_io_write) F(rb_ivar_set) F(rb_ll2inum) F(rb_obj_alloc) F(rb_obj_as_string) \
    F(rb_proc_call_with_block) F(rb_str_append) F(rb_str_buf_new) F(rb_str_cat) F(rb_str_conv_enc) F(rb_str_dup) \
    F(rb_str_encode) F(rb_str_intern) F(rb_str_modify_expand) F(rb_str_new) F(rb_str_new_cstr) F(rb_str_new_frozen) \
    F(rb_str_new_static) F(rb_str_replace) F(rb_str_resize) F(rb_str_scrub) F(rb_str_subseq) F(rb_str_substr) \
    F(rb_struct_alloc_noinit) F(rb_time_timespec_new) F(rb_ull2inum) F(rb_utf8_str_new) F(rb_utf8_str_new_static) \
    F(rb_yield)

typedef VALUE (*function)(VALUE, VALUE, VALUE, VALUE, VALUE, VALUE);

static long left; /* calls until the one that fails; 0: none does */
static int failed;

static void
count_call(void)
{
    if (!left || --left) return;
    failed = 1;
    rb_raise(rb_eNoMemError, "failed to allocate memory");
}

#define WRAPPER(name) \
    static function original_##name; \
    static VALUE failing_##name(VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f) \
    { \
        count_call(); \
        return original_##name(a, b, c, d, e, f); \
    }
ALLOCATING(WRAPPER)

#define ROW(name) {#name, failing_##name, &original_##name},
static const struct {
    const char *name;
    function failing, *original;
} rows[] = {ALLOCATING(ROW)};

static int
replace(const char *name, ElfW(Addr) address)
{
    size_t i, page = (size_t)sysconf(_SC_PAGESIZE);
    function *slot = (function *)address;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) || *slot == rows[i].failing) continue;
        if (mprotect((void *)(address & ~(page - 1)), page, PROT_READ | PROT_WRITE)) rb_sys_fail("mprotect");
        *rows[i].original = (function)dlsym(RTLD_DEFAULT, name); /* the slot may not be bound yet */
        *slot = rows[i].failing;
        return 1;
    }
    return 0;
}

static int
replace_all(struct dl_phdr_info *library, size_t size, void *replaced)
{
    const char *name = strrchr(library->dlpi_name, '/'), *strings = NULL;
    const ElfW(Phdr) *segment = library->dlpi_phdr;
    const ElfW(Dyn) *entry;
    const ElfW(Sym) *symbols = NULL;
    const ElfW(Rela) *tables[2] = {NULL, NULL}, *row;
    size_t sizes[2] = {0, 0}, i;

    if (!name || strcmp(name, "/manypack.so")) return 0; /* to the next library */
    while (segment->p_type != PT_DYNAMIC) segment++;
    for (entry = (const ElfW(Dyn) *)(library->dlpi_addr + segment->p_vaddr); entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELA) tables[0] = (const ElfW(Rela) *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELASZ) sizes[0] = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) tables[1] = (const ElfW(Rela) *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_PLTRELSZ) sizes[1] = entry->d_un.d_val;
    }
    for (i = 0; i < 2; i++) {
        for (row = tables[i]; row < tables[i] + sizes[i] / sizeof(*row); row++) {
            const char *function = strings + symbols[row->r_info >> 32].st_name;
            *(long *)replaced += replace(function, library->dlpi_addr + row->r_offset);
        }
    }
    return 1;
}

/* Returns how many functions were found. */
static VALUE
install(VALUE self)
{
    long replaced = 0;

    dl_iterate_phdr(replace_all, &replaced);
    return LONG2NUM(replaced);
}

/* The nth call from now on fails; none if n is 0. Returns true if one has failed since the previous arming. */
static VALUE
arm(VALUE self, VALUE n)
{
    int was = failed;

    failed = 0;
    left = NUM2LONG(n);
    return was ? Qtrue : Qfalse;
}

void
Init_failing_calls(void)
{
    VALUE module = rb_define_module("FailingCalls");

    rb_define_module_function(module, "install", install, 0);
    rb_define_module_function(module, "arm", arm, 1);
}
