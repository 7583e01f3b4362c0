/* The options: their names, how a Hash of them is read. */
#include "codec.h"

#define MAX_MAX_DEPTH 100000

const mp_options mp_default_options = {.max_bytes = SIZE_MAX};

/* Flags by name; every other option has a line in set_option. */
static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"symbolize_keys", offsetof(mp_options, symbolize_keys)},
    {"freeze", offsetof(mp_options, freeze)},
    {"shareable", offsetof(mp_options, shareable)},
    {"allow_unknown_ext", offsetof(mp_options, allow_unknown_ext)},
    {"timestamp", offsetof(mp_options, timestamp)},
    {"compatibility_mode", offsetof(mp_options, compatibility_mode)},
};
enum { FLAGS = sizeof(flags) / sizeof(flags[0]) };

/* Static symbols: immortal, never moved. */
static VALUE flag_symbols[FLAGS], sym_max_depth, sym_max_bytes;

static uint32_t
max_depth_of(VALUE value)
{
    long depth = NUM2LONG(value);

    if (depth < 1 || depth > MAX_MAX_DEPTH) {
        rb_raise(rb_eArgError, "max_depth is 1 to %d, not %ld", MAX_MAX_DEPTH, depth);
    }
    return (uint32_t)depth;
}

static size_t
max_bytes_of(VALUE value)
{
    if (RB_INTEGER_TYPE_P(value) && RTEST(rb_funcall(value, '<', 1, INT2FIX(0)))) {
        rb_raise(rb_eArgError, "max_bytes is 0 or more, not %" PRIsVALUE, value);
    }
    return NUM2SIZET(value);
}

static int
set_option(VALUE key, VALUE value, VALUE arg)
{
    mp_options *options = (mp_options *)arg;
    size_t i;

    for (i = 0; i < FLAGS; i++) {
        if (key != flag_symbols[i]) continue;
        *(bool *)((char *)options + flags[i].offset) = RTEST(value);
        return ST_CONTINUE;
    }
    if (NIL_P(value)) return ST_CONTINUE;
    if (key == sym_max_depth) options->max_depth = max_depth_of(value);
    else if (key == sym_max_bytes) options->max_bytes = max_bytes_of(value);
    return ST_CONTINUE;
}

void
mp_options_init(mp_options *options, VALUE hash)
{
    *options = mp_default_options;
    if (NIL_P(hash)) return;
    Check_Type(hash, T_HASH);
    rb_hash_foreach(hash, set_option, (VALUE)options);
}

void
Init_manypack_codec(void)
{
    size_t i;

    for (i = 0; i < FLAGS; i++) flag_symbols[i] = ID2SYM(rb_intern(flags[i].name));
    sym_max_depth = ID2SYM(rb_intern("max_depth"));
    sym_max_bytes = ID2SYM(rb_intern("max_bytes"));
}
