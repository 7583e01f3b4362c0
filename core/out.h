/*
 * The append-only output window: reserve room, write through the pointer, commit. Only the callback that runs when the
 * window is full knows who owns the bytes.
 */
#ifndef MP_OUT_H
#define MP_OUT_H

#include "platform.h"

typedef struct mp_out mp_out;

struct mp_out {
    uint8_t *start, *pos, *end;
    /*
     * Makes room for n more bytes: start, pos and end may change, the bytes from start to pos are kept. If it cannot,
     * it leaves the window as it was and does not return.
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

/* How many bytes are committed. */
MP_INLINE size_t
mp_out_size(const mp_out *out)
{
    return (size_t)(out->pos - out->start);
}

/* Makes room for n bytes and returns the place. Bytes written there count after mp_out_commit. */
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
