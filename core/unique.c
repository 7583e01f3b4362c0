/*
 * Detects a duplicate key in a map by sorting its keys. tape.c puts the keys into entries of a tape: offset and end are
 * those of the key, next is its signature.
 */
#include "unique.h"

#include "key.h"

static MP_NOINLINE int
compare_bytes(const uint8_t *bytes, const mp_tape_entry *a, const mp_tape_entry *b)
{
    mp_key keys[2];

    keys[0] = mp_key_read(bytes + a->offset, bytes + a->end);
    keys[1] = mp_key_read(bytes + b->offset, bytes + b->end);
    return mp_key_compare(&keys[0], &keys[1]);
}

MP_INLINE int
compare(const uint8_t *bytes, const mp_tape_entry *a, const mp_tape_entry *b)
{
    if (MP_LIKELY(a->next != b->next)) return a->next < b->next ? -1 : 1;
    return compare_bytes(bytes, a, b);
}

/* Moves the key at index `at` in a heap of n down until no key below it is greater. */
static void
sift(const uint8_t *bytes, mp_tape_entry *heap, size_t at, size_t n)
{
    mp_tape_entry key = heap[at];
    size_t below;

    while ((below = 2 * at + 1) < n) {
        if (below + 1 < n && compare(bytes, &heap[below], &heap[below + 1]) < 0) below++;
        if (compare(bytes, &key, &heap[below]) >= 0) break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = key;
}

static void
sort(const uint8_t *bytes, mp_tape_entry *keys, size_t n)
{
    size_t i;

    for (i = n / 2; i--;) sift(bytes, keys, i, n);
    while (--n) {
        mp_tape_entry greatest = keys[0];

        keys[0] = keys[n];
        keys[n] = greatest;
        sift(bytes, keys, 0, n);
    }
}

bool
mp_unique_twice_p(const uint8_t *bytes, mp_tape_entry *keys, size_t n)
{
    size_t i;

    sort(bytes, keys, n);
    for (i = 1; i < n; i++) {
        if (!compare(bytes, &keys[i - 1], &keys[i])) return true;
    }
    return false;
}

mp_tape_entry
mp_unique_entry(const uint8_t *bytes, size_t from, size_t to)
{
    mp_key key = mp_key_read(bytes + from, bytes + to);

    return (mp_tape_entry){.offset = (uint32_t)from, .end = (uint32_t)to, .next = mp_key_signature(&key)};
}

/* --- noted keys -------------------------------------------------------------------------------------- */

void
mp_noted_keys_start(mp_noted_keys *noted, uint32_t n)
{
    uint32_t few = n < 64 ? n : 64;
    unsigned log2 = 8;

    noted->left = n;
    memset(noted->bits, 0, ((size_t)1 << log2) / 8);
    if (few > 4) {
        while (log2 < MP_NOTED_BITS_LOG2 && few * few * 16 > 1u << log2) log2++;
        memset(noted->bits, 0, ((size_t)1 << log2) / 8);
    }
    noted->shift = 32 - log2;
}
