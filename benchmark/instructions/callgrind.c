/* What a program says to Valgrind's callgrind from the inside: from where to where to count. */
#include <ruby.h>
#include <valgrind/callgrind.h>

/* Callgrind.start: before it, the program runs faster and is not counted */
static VALUE callgrind_start(VALUE module) {
    CALLGRIND_START_INSTRUMENTATION;
    return Qnil;
}

/* Callgrind.zero: counts from here */
static VALUE callgrind_zero(VALUE module) {
    CALLGRIND_ZERO_STATS;
    return Qnil;
}

/* Callgrind.dump(name): writes what was counted to a file of that description */
static VALUE callgrind_dump(VALUE module, VALUE name) {
    CALLGRIND_DUMP_STATS_AT(StringValueCStr(name));
    return Qnil;
}

void Init_callgrind(void) {
    VALUE module = rb_define_module("Callgrind");

    rb_define_singleton_method(module, "start", callgrind_start, 0);
    rb_define_singleton_method(module, "zero", callgrind_zero, 0);
    rb_define_singleton_method(module, "dump", callgrind_dump, 1);
}
