/*
 * Finds the end of plain text (bytes that need no escape in JSON) and of white space, 16 bytes at a time where the CPU
 * can. Each function has a twin in plain C, which reads the last bytes of a text, and all bytes on other CPUs.
 */
#ifndef MP_SCAN_H
#define MP_SCAN_H

#include "core/platform.h"

#define MP_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0 if a byte of the word is below n, at most 128. Only the lowest set bit is certain to mark such a byte. */
MP_INLINE uint64_t
mp_any_below(uint64_t word, uint8_t n)
{
    return (word - MP_EACH_BYTE(n)) & ~word & MP_EACH_BYTE(0x80);
}

/* The index in a block of the first byte that a mask marks. */
MP_INLINE unsigned
mp_mask_first(uint64_t mask)
{
    return mp_zeros_below(mask) / MP_MASK_STEP;
}

/* The bits of a mask that mark bytes before an index. */
MP_INLINE uint64_t
mp_mask_before(uint64_t mask, unsigned place)
{
    return mask & ((UINT64_C(1) << place * MP_MASK_STEP) - 1);
}

/*
 * The first byte from p on that needs an escape in a JSON string: a quote, a backslash, or one below a space; or the
 * end. Sets *high to non-zero if a byte before it is not ASCII.
 */
MP_INLINE const uint8_t *
mp_scan_plain_text(const uint8_t *p, const uint8_t *end, uint64_t *high)
{
    while (end - p >= 8) {
        uint64_t word = mp_word64(p);

        if (mp_any_below(word, 0x20) || mp_any_below(word ^ MP_EACH_BYTE('"'), 1) ||
            mp_any_below(word ^ MP_EACH_BYTE('\\'), 1)) break;
        *high |= word & MP_EACH_BYTE(0x80);
        p += 8;
    }
    for (; p < end && *p >= 0x20 && *p != '"' && *p != '\\'; p++) *high |= *p & 0x80;
    return p;
}

MP_INLINE const uint8_t *
mp_scan_text(const uint8_t *p, const uint8_t *end, uint64_t *high)
{
    while (MP_HAS_BLOCKS && end - p >= 16) {
        mp_block block = mp_block_load(p);
        uint64_t special = mp_block_special(block);

        if (special) {
            unsigned place = mp_mask_first(special);
            *high |= mp_mask_before(mp_block_high(block), place);
            return p + place;
        }
        *high |= mp_block_high(block);
        p += 16;
    }
    return mp_scan_plain_text(p, end, high);
}

/* The first byte from p on that is not white space, or the end. */
MP_INLINE const uint8_t *
mp_scan_plain_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    return p;
}

MP_INLINE const uint8_t *
mp_scan_space(const uint8_t *p, const uint8_t *end)
{
    while (MP_HAS_BLOCKS && end - p >= 16) {
        uint64_t ink = mp_block_ink(mp_block_load(p));

        if (ink) return p + mp_mask_first(ink);
        p += 16;
    }
    return mp_scan_plain_space(p, end);
}

#define MP_SCAN_BLOCK 16

/*
 * How many bytes of a block precede the first one that is not ASCII, needs an escape in a JSON string, or equals
 * `also`; 0 adds none.
 */
MP_INLINE unsigned
mp_scan_block(mp_block block, uint8_t also)
{
    uint64_t mask = mp_block_unplain(block, also);

    return mask ? mp_mask_first(mask) : MP_SCAN_BLOCK;
}

#endif
