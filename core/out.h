/*
 * The append-only output window: reserve, write through the pointer, commit. Only the callback that runs when the
 * window is full knows who owns the bytes.
 */
#ifndef MP_OUT_H
#define MP_OUT_H

#include "platform.h"

typedef struct mp_out mp_out;

struct mp_out {
    uint8_t *start, *pos, *end;
    /*
     * Makes room for n more bytes by moving the window: start, pos and end may change, the bytes from
     * start to pos are kept. If it cannot, it does not return, and leaves the window as it was.
     */
    void (*grow)(mp_out *out, size_t n);
};

MP_INLINE void
mp_out_init(mp_out *out, uint8_t *block, size_t size, void (*grow)(mp_out *, size_t))
{
    out->start = out->pos = block;
    out->end = block + size;
    out->grow = grow;
}

/* Bytes written so far. */
MP_INLINE size_t
mp_out_size(const mp_out *out)
{
    return (size_t)(out->pos - out->start);
}

/* Room for n bytes; what is written there counts from mp_out_commit on. */
MP_INLINE uint8_t *
mp_out_reserve(mp_out *out, size_t n)
{
    if (MP_UNLIKELY((size_t)(out->end - out->pos) < n)) out->grow(out, n);
    return out->pos;
}

MP_INLINE void
mp_out_commit(mp_out *out, uint8_t *pos)
{
    out->pos = pos;
}

/* Appends n bytes. */
MP_INLINE void
mp_out_write(mp_out *out, const void *bytes, size_t n)
{
    uint8_t *p = mp_out_reserve(out, n);

    mp_copy(p, bytes, n);
    mp_out_commit(out, p + n);
}

#endif
