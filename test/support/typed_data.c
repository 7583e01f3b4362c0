/* For typed_data_test.rb: the tables by which the collector knows the extension's objects, as the running program has them. */
#include <string.h>

#include "ruby.h"

extern void rb_objspace_each_objects(int (*callback)(void *, void *, size_t, void *), void *data);

enum { MOST = 100 };

static const rb_data_type_t *tables[MOST];
static long count;

static void
note(const rb_data_type_t *table)
{
    long i;

    if (strncmp(table->wrap_struct_name, "Manypack::", 10)) return;
    for (i = 0; i < count; i++) {
        if (tables[i] == table) return;
    }
    if (count < MOST) tables[count++] = table;
}

static int
note_all(void *start, void *end, size_t stride, void *data)
{
    VALUE object = (VALUE)start;

    for (; object != (VALUE)end; object += stride) {
        if (RBASIC(object)->flags && RB_BUILTIN_TYPE(object) == T_DATA && RTYPEDDATA_P(object)) {
            note(RTYPEDDATA_TYPE(object));
        }
    }
    return 0;
}

static void
add(VALUE names, const char *name, int present)
{
    if (present) rb_ary_push(names, ID2SYM(rb_intern(name)));
}

static VALUE
names_of(const rb_data_type_t *table)
{
    VALUE names = rb_ary_new();

    add(names, "dmark", table->function.dmark != NULL);
    add(names, "dfree", table->function.dfree != NULL);
    add(names, "dsize", table->function.dsize != NULL);
    add(names, "dcompact", table->function.dcompact != NULL);
    add(names, "free_immediately", (table->flags & RUBY_TYPED_FREE_IMMEDIATELY) != 0);
    add(names, "wb_protected", (table->flags & RUBY_TYPED_WB_PROTECTED) != 0);
    add(names, "shareable", (table->flags & RUBY_TYPED_FROZEN_SHAREABLE) != 0);
    add(names, "embeddable", (table->flags & EMBEDDABLE) != 0); /* 0 before Ruby 3.3 */
    return names;
}

/* By the name of each table of which an object is alive, the functions and flags that it has. */
static VALUE
all(VALUE self)
{
    VALUE found = rb_hash_new();
    long i;

    count = 0;
    rb_objspace_each_objects(note_all, NULL);
    for (i = 0; i < count; i++) rb_hash_aset(found, rb_str_new_cstr(tables[i]->wrap_struct_name), names_of(tables[i]));
    return found;
}

void
Init_typed_data(void)
{
    rb_define_module_function(rb_define_module("TypedDataTables"), "all", all, 0);
}
