/* Writes the path of a value, such as "$.users[3].avatar". */
#include "path.h"

/* A longer path is shown without its middle: this many steps from its start and from its end. */
enum { PATH_HEAD = 8, PATH_TAIL = 8 };

static bool
identifier_p(VALUE name)
{
    const char *p = RSTRING_PTR(name);
    long i, n = RSTRING_LEN(name);

    for (i = 0; i < n; i++) {
        bool letter = p[i] == '_' || (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z');
        if (!letter && !(i > 0 && p[i] >= '0' && p[i] <= '9')) return false;
    }
    return n > 0;
}

/* Appends ".name", "[3]", "[\"other string\"]", or, for any other key, its class in brackets. */
static void
append_step(VALUE path, const mp_place *place)
{
    VALUE key = place->key;

    if (key == Qundef) {
        rb_str_catf(path, "[%ld]", place->index);
        return;
    }
    if (RB_SYMBOL_P(key)) key = rb_sym2str(key);
    if (RB_FIXNUM_P(key)) rb_str_catf(path, "[%ld]", FIX2LONG(key));
    else if (!RB_TYPE_P(key, T_STRING)) rb_str_catf(path, "[%" PRIsVALUE "]", rb_obj_class(key));
    else if (identifier_p(key)) rb_str_catf(path, ".%" PRIsVALUE, key);
    else rb_str_catf(path, "[%" PRIsVALUE "]", rb_str_dump(key));
}

/* Iterative, because the C stack may be nearly used up. */
VALUE
mp_path(const mp_place *innermost)
{
    VALUE path = rb_utf8_str_new_cstr("$");
    const mp_place *place;
    unsigned long depth = 0, step, up;

    for (place = innermost; place; place = place->up) depth++;
    for (step = 0; step < depth; step++) {
        if (step == PATH_HEAD && depth > PATH_HEAD + PATH_TAIL) {
            rb_str_cat_cstr(path, "...");
            step = depth - PATH_TAIL;
        }
        for (place = innermost, up = depth - 1 - step; up; up--) place = place->up;
        append_step(path, place);
    }
    return path;
}
