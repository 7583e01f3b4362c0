/*
 * Makes the nth allocation of a Ruby thread fail once, wherever it is made: in the extension, in Ruby or in a library. One
 * library twice: it is preloaded, so that its malloc stands before the C library's, and required, for Ruby to reach it.
 * Ruby collects garbage and asks again before it raises NoMemoryError, so the same question fails twice. glibc.
 */
#include <stdlib.h>

#include "ruby.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

/* Of this thread: allocations until the one that fails, and its size until it was asked for again. */
static __thread size_t left __attribute__((tls_model("initial-exec")));
static __thread size_t refused __attribute__((tls_model("initial-exec")));
static int failed;

static int
fails(size_t size)
{
    if (refused && refused == size) {
        refused = 0;
        return 1;
    }
    if (!left || --left) return 0;
    refused = size;
    failed = 1;
    return 1;
}

void *
malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(old, size);
}

/* nth(n) { }: the nth allocation of the block fails; none does if n is 0. Returns the block's value. */
static VALUE
disarm(VALUE unused)
{
    left = refused = 0;
    return Qnil;
}

static VALUE
nth(VALUE self, VALUE n)
{
    failed = 0;
    left = NUM2SIZET(n);
    return rb_ensure(rb_yield, Qnil, disarm, Qnil);
}

/* Whether an allocation has failed in the last block. */
static VALUE
failed_p(VALUE self)
{
    return failed ? Qtrue : Qfalse;
}

void
Init_failing_malloc(void)
{
    VALUE module = rb_define_module("FailingMalloc");

    rb_define_module_function(module, "nth", nth, 1);
    rb_define_module_function(module, "failed?", failed_p, 0);
}
