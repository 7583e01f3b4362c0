/* The paths that a Ractor has parsed last: programs give the same few Strings again and again. */
#include "caches/ractor.h"

/* How many paths are kept, and their greatest length: so a stranger's paths take little memory. */
enum { PATHS_MAX = 64, TEXT_MAX = 256 };

/* False for a String whose class may have methods of its own. */
static bool
plain_string_p(VALUE text)
{
    Check_Type(text, T_STRING);
    return RBASIC_CLASS(text) == rb_cString && RSTRING_LEN(text) <= TEXT_MAX;
}

/* call-seq: Internal.parsed_path(text) -> object or nil: the path kept for an equal String */
static VALUE
rb_internal_parsed_path(VALUE self, VALUE text)
{
    VALUE paths = plain_string_p(text) ? mp_ractor_seldom()->paths : 0;

    return paths ? rb_hash_lookup(paths, text) : Qnil;
}

/* call-seq: Internal.keep_parsed_path(text, path) -> path: keeps it until others replace it */
static VALUE
rb_internal_keep_parsed_path(VALUE self, VALUE text, VALUE path)
{
    mp_seldom *seldom;

    if (!plain_string_p(text)) return path;
    seldom = mp_ractor_seldom();
    if (!seldom->paths) seldom->paths = rb_obj_hide(rb_hash_new());
    if (RHASH_SIZE(seldom->paths) >= PATHS_MAX) rb_hash_clear(seldom->paths);
    rb_hash_aset(seldom->paths, text, path);
    return path;
}

void
Init_manypack_parsed_paths(void)
{
    MP_DEFINE_INTERNAL("parsed_path", rb_internal_parsed_path, 1);
    MP_DEFINE_INTERNAL("keep_parsed_path", rb_internal_keep_parsed_path, 2);
}
