/* An output window on memory that the collector owns: an exception leaves nothing to free. */
#ifndef MANYPACK_WINDOW_H
#define MANYPACK_WINDOW_H

#include "base/support.h"
#include "core/out.h"

/* A window starts with this many words of C stack, enough for most messages. */
enum { MP_WINDOW_FIRST_WORDS = 128 };

/*
 * A window that starts on its own words and moves to a hidden String. After an exception the collector frees the
 * String.
 */
typedef struct {
    mp_out out;   /* first, because window_grow casts it to the window */
    VALUE string; /* 0 while there is none */
    uint64_t words[MP_WINDOW_FIRST_WORDS];
} mp_window;

MP_STATIC_ASSERT(window_begins_with_its_out, offsetof(mp_window, out) == 0);

void mp_window_init(mp_window *w);

/* Starts with room for n bytes: on the words if they are enough, otherwise on the String that becomes the result. */
void mp_window_init_result(mp_window *w, size_t n);

/* Makes a binary String of the bytes, and ends the window. */
VALUE mp_window_result(mp_window *w);

#endif
