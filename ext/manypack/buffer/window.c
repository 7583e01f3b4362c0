/* An output window on memory that the collector owns. */
#include "buffer/window.h"

/* More bytes than Ruby embeds in a String, so that malloc aligns them as a window needs it. */
enum { LEAST_CAPACITY = 2048 };

static void
window_on_string(mp_window *w, size_t size)
{
    w->out.start = (uint8_t *)RSTRING_PTR(w->string);
    w->out.pos = w->out.start + size;
    w->out.end = w->out.start + rb_str_capacity(w->string);
    mp_poison(w->out.pos, (size_t)(w->out.end - w->out.pos));
}

static VALUE
hidden_string(size_t capacity)
{
    if (capacity > LONG_MAX) rb_raise(rb_eNoMemError, "the result needs more than %ld bytes", LONG_MAX);
    return rb_obj_hide(rb_str_buf_new((long)(capacity > LEAST_CAPACITY ? capacity : LEAST_CAPACITY)));
}

static void
window_grow(mp_out *out, size_t n)
{
    mp_window *w = (mp_window *)(void *)out;
    size_t size = mp_out_size(out);
    VALUE before = w->string, string = hidden_string(size * 2 + n);

    mp_copy((uint8_t *)RSTRING_PTR(string), out->start, size);
    w->string = string;
    window_on_string(w, size);
    if (before) rb_str_resize(before, 0); /* frees its memory at once */
}

void
mp_window_init(mp_window *w)
{
    w->string = 0;
    mp_out_init(&w->out, (uint8_t *)w->words, sizeof(w->words), window_grow);
}

void
mp_window_init_result(mp_window *w, size_t n)
{
    mp_window_init(w);
    if (n <= sizeof(w->words)) return;
    w->string = hidden_string(n);
    window_on_string(w, 0);
}

VALUE
mp_window_result(mp_window *w)
{
    size_t size = mp_out_size(&w->out);

    if (!w->string) return rb_str_new((const char *)w->out.start, (long)size);
    rb_str_set_len(w->string, (long)size);
    if (rb_str_capacity(w->string) / 2 > size) rb_str_resize(w->string, (long)size);
    return rb_obj_reveal(w->string, rb_cString);
}
