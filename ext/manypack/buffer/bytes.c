/* The queue of bytes. Its chunks are in an array as soon as there are two. */
#include "buffer/bytes.h"

/*
 * FIRST_BLOCK is the size of the first block, which doubles as it fills. An empty block of up to KEEP_BLOCK is kept for
 * the next bytes. The first array has room for FIRST_CHUNKS.
 */
enum { FIRST_BLOCK = 256, KEEP_BLOCK = 16384, FIRST_CHUNKS = 4 };

/* The size of the ith chunk's block. It is known exactly only for the last block; for others this is a lower bound. */
static size_t
block_size(mp_bytes *bytes, size_t i)
{
    const mp_chunk *chunk = mp_bytes_chunk(bytes, i);

    if (!chunk->block) return 0;
    return i == bytes->count - 1 && bytes->block_size ? bytes->block_size : chunk->at + chunk->len;
}

static void
block_free(mp_bytes *bytes, size_t i)
{
    uint8_t *block = mp_bytes_chunk(bytes, i)->block;

    mp_poison(block, block_size(bytes, i));
    xfree(block);
}

/* --- appending -------------------------------------------------------------------------------------- */

/* Moves the only chunk to an array. */
static void
reserve_array(mp_bytes *bytes)
{
    mp_chunk *all = ALLOC_N(mp_chunk, FIRST_CHUNKS);

    all[0] = bytes->chunks.one;
    bytes->chunks.many.all = all;
    bytes->chunks.many.first = 0;
    bytes->capacity = FIRST_CHUNKS;
}

/* Makes room for one more chunk. If the start of the array is free, the queue moves there before the array grows. */
static void
reserve_chunk(mp_bytes *bytes)
{
    mp_chunk *all = bytes->chunks.many.all;
    size_t first = bytes->chunks.many.first;

    if (!bytes->capacity) {
        if (bytes->count) reserve_array(bytes);
        return;
    }
    if (first + bytes->count < bytes->capacity) return;
    if (first > bytes->count) {
        memcpy(all, all + first, bytes->count * sizeof(mp_chunk));
        bytes->chunks.many.first = 0;
        return;
    }
    if (bytes->capacity > UINT32_MAX / 2) rb_raise(rb_eNoMemError, "a Buffer cannot have that many chunks");
    REALLOC_N(bytes->chunks.many.all, mp_chunk, (size_t)bytes->capacity * 2);
    bytes->capacity *= 2;
}

/* Drops the last chunk if it is empty and was kept only for its block. */
static void
drop_empty_tail(mp_bytes *bytes)
{
    if (!bytes->count || mp_bytes_last(bytes)->len) return;
    block_free(bytes, bytes->count - 1);
    bytes->count--;
    bytes->block_size = 0;
}

/* Shrinks the last chunk's block to its bytes. Nothing can be appended to it any more. */
static void
seal_block(mp_bytes *bytes)
{
    mp_chunk *tail;

    if (!bytes->block_size) return;
    tail = mp_bytes_last(bytes);
    mp_poison(mp_bytes_end(bytes), mp_bytes_room(bytes));
    REALLOC_N(tail->block, uint8_t, tail->at + tail->len);
    bytes->block_size = 0;
}

void
mp_bytes_refer(VALUE owner, mp_bytes *bytes, VALUE str, size_t at, size_t len)
{
    if (!len) return;
    drop_empty_tail(bytes);
    seal_block(bytes);
    reserve_chunk(bytes);
    bytes->count++;
    *mp_bytes_last(bytes) = (mp_chunk){.str = str, .at = at, .len = len};
    RB_OBJ_WRITTEN(owner, Qundef, str);
    bytes->size += len;
    RB_GC_GUARD(owner);
}

/* The last chunk, if it has a block to append to; otherwise a new chunk with a new block. */
static mp_chunk *
own_tail(mp_bytes *bytes)
{
    if (!bytes->block_size) {
        uint8_t *block;

        reserve_chunk(bytes);
        block = ALLOC_N(uint8_t, FIRST_BLOCK);
        mp_poison(block, FIRST_BLOCK);
        bytes->count++;
        *mp_bytes_last(bytes) = (mp_chunk){.block = block};
        bytes->block_size = FIRST_BLOCK;
    }
    return mp_bytes_last(bytes);
}

void
mp_bytes_expand(VALUE owner, mp_bytes *bytes, size_t written, size_t n)
{
    mp_chunk *tail = own_tail(bytes);
    size_t used = tail->len + written, size = bytes->block_size;

    if (tail->at > used) {
        /* More bytes were consumed than are left, so copying the rest pays. */
        memmove(tail->block, tail->block + tail->at, used);
        tail->at = 0;
    }
    used += tail->at;
    if (n > SIZE_MAX / 4 - used) rb_raise(rb_eNoMemError, "a Buffer cannot have that many bytes");
    while (size - used < n) size *= 2;
    if (size != bytes->block_size) {
        REALLOC_N(tail->block, uint8_t, size);
        bytes->block_size = size;
    }
    mp_poison(tail->block + used, size - used);
    RB_GC_GUARD(owner);
}

/* --- removing --------------------------------------------------------------------------------------- */

/* Drops the first chunk, but keeps a small block if it is the only one. */
static void
drop_first_chunk(mp_bytes *bytes)
{
    mp_chunk *chunk = mp_bytes_chunk(bytes, 0);

    if (bytes->count == 1 && bytes->block_size && bytes->block_size <= KEEP_BLOCK) {
        mp_poison(chunk->block, bytes->block_size);
        chunk->at = chunk->len = 0;
        return;
    }
    block_free(bytes, 0);
    if (bytes->count == 1) bytes->block_size = 0;
    bytes->count--;
    if (bytes->capacity) bytes->chunks.many.first = bytes->count ? bytes->chunks.many.first + 1 : 0;
}

void
mp_bytes_consume_chunks(mp_bytes *bytes, size_t n)
{
    bytes->size -= n;
    while (n) {
        mp_chunk *chunk = mp_bytes_chunk(bytes, 0);
        if (n < chunk->len) {
            chunk->at += n;
            chunk->len -= n;
            return;
        }
        n -= chunk->len;
        drop_first_chunk(bytes);
    }
}

void
mp_bytes_truncate(mp_bytes *bytes, size_t size)
{
    while (bytes->size > size) {
        mp_chunk *chunk = mp_bytes_last(bytes);
        size_t part = bytes->size - size;

        if (part < chunk->len) {
            chunk->len -= part;
            bytes->size -= part;
            if (chunk->block) mp_poison(chunk->block + chunk->at + chunk->len, part);
        } else {
            bytes->size -= chunk->len;
            block_free(bytes, bytes->count - 1);
            bytes->count--;
            bytes->block_size = 0; /* the size of the previous block is unknown */
        }
    }
}

void
mp_bytes_drop(mp_bytes *bytes)
{
    size_t i;

    for (i = 0; i < bytes->count; i++) block_free(bytes, i);
    if (bytes->capacity) xfree(bytes->chunks.many.all);
    *bytes = (mp_bytes){.size = 0};
}

void
mp_bytes_clear(mp_bytes *bytes)
{
    if (bytes->block_size && !bytes->capacity) drop_first_chunk(bytes);
    else mp_bytes_drop(bytes);
    bytes->size = 0;
}

/* --- as Strings ------------------------------------------------------------------------------------- */

VALUE
mp_chunk_to_s(const mp_chunk *chunk)
{
    VALUE str = chunk->str;

    if (!str) return rb_str_new((const char *)chunk->block + chunk->at, (long)chunk->len);
    if (chunk->at || chunk->len != (size_t)RSTRING_LEN(str)) {
        VALUE copy = rb_str_buf_new((long)chunk->len);
        return rb_str_cat(copy, (const char *)mp_chunk_bytes(chunk), (long)chunk->len);
    }
    if (rb_enc_get_index(str) != mp_binary_index) {
        str = rb_str_subseq(str, 0, (long)chunk->len);
        rb_enc_associate_index(str, mp_binary_index);
    }
    return str;
}

VALUE
mp_binary_of_size(size_t n)
{
    /* Ruby treats a negative capacity as a small one. */
    if (n > (size_t)LONG_MAX) rb_raise(rb_eNoMemError, "a String cannot have that many bytes");
    return rb_str_buf_new((long)n);
}

VALUE
mp_bytes_to_s(VALUE owner, mp_bytes *bytes, size_t n)
{
    VALUE string = mp_binary_of_size(n);
    const mp_chunk *chunk = mp_bytes_chunk(bytes, 0);
    char *to = RSTRING_PTR(string);
    size_t left, part;

    mp_poison(to, n);
    for (left = n; left; left -= part, chunk++) {
        part = left < chunk->len ? left : chunk->len;
        memcpy(to, mp_chunk_bytes(chunk), part);
        to += part;
    }
    rb_str_set_len(string, (long)n);
    RB_GC_GUARD(owner);
    return string;
}

VALUE
mp_bytes_to_a(VALUE owner, mp_bytes *bytes)
{
    VALUE strings = rb_ary_new_capa((long)bytes->count);
    size_t i;

    for (i = 0; i < bytes->count; i++) {
        const mp_chunk *chunk = mp_bytes_chunk(bytes, i);
        if (chunk->len) rb_ary_push(strings, mp_chunk_to_s(chunk));
    }
    if (!bytes->size) rb_ary_push(strings, rb_str_new(NULL, 0)); /* as the msgpack gem does */
    RB_GC_GUARD(owner);
    return strings;
}

void
mp_bytes_gather(VALUE owner, mp_bytes *bytes, size_t n)
{
    VALUE bridge;

    if (n == 0 || mp_bytes_chunk(bytes, 0)->len >= n) return;
    bridge = rb_obj_freeze(mp_bytes_to_s(owner, bytes, n));
    mp_bytes_consume(bytes, n);
    if (bytes->size == 0) {
        mp_bytes_refer(owner, bytes, bridge, 0, n);
        return;
    }
    /* The front of the array has a free place, because chunks were just dropped there. */
    bytes->chunks.many.first--;
    bytes->count++;
    *mp_bytes_chunk(bytes, 0) = (mp_chunk){.str = bridge, .len = n};
    RB_OBJ_WRITTEN(owner, Qundef, bridge);
    bytes->size += n;
    RB_GC_GUARD(owner);
}

/* --- to the collector ------------------------------------------------------------------------------- */

void
mp_bytes_mark(mp_bytes *bytes)
{
    size_t i;

    for (i = 0; i < bytes->count; i++) {
        const mp_chunk *chunk = mp_bytes_chunk(bytes, i);
        if (chunk->str) rb_gc_mark_movable(chunk->str);
    }
}

void
mp_bytes_compact(mp_bytes *bytes)
{
    size_t i;

    for (i = 0; i < bytes->count; i++) {
        mp_chunk *chunk = mp_bytes_chunk(bytes, i);
        if (chunk->str) chunk->str = rb_gc_location(chunk->str);
    }
}

size_t
mp_bytes_memsize(mp_bytes *bytes)
{
    size_t i, size = bytes->capacity * sizeof(mp_chunk);

    for (i = 0; i < bytes->count; i++) size += block_size(bytes, i);
    return size;
}
