/*
 * Finds the end of what stands for itself in JSON, 16 bytes at a time where the CPU can, and of white space. Each
 * function has a twin in plain C, which reads the last bytes of a text, and all bytes on other CPUs.
 */
#ifndef MP_SCAN_H
#define MP_SCAN_H

#include "core/platform.h"

#define MP_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Not 0 if a byte of the word is below n, which is at most 128. May be not 0 without such a byte, if one follows it. */
MP_INLINE uint64_t
mp_any_below(uint64_t word, uint8_t n)
{
    return (word - MP_EACH_BYTE(n)) & ~word & MP_EACH_BYTE(0x80);
}

/* The place in a block of the first byte that a mask names. */
MP_INLINE unsigned
mp_mask_first(uint64_t mask)
{
    return mp_zeros_below(mask) / MP_MASK_STEP;
}

/* Those bits of a mask that name bytes before that place. */
MP_INLINE uint64_t
mp_mask_before(uint64_t mask, unsigned place)
{
    return mask & ((UINT64_C(1) << place * MP_MASK_STEP) - 1);
}

/*
 * The first byte from p on that does not stand for itself in a string of JSON: a quote, a backslash, or one below a
 * space; or the end. *high becomes not 0 if a byte before it is not ASCII.
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
 * How many of the 16 bytes of a block precede the first that is no ASCII, or does not stand for itself in a string of
 * JSON, or is `also`; 0 adds none.
 */
MP_INLINE unsigned
mp_scan_block(mp_block block, uint8_t also)
{
    uint64_t mask = mp_block_unplain(block, also);

    return mask ? mp_mask_first(mask) : MP_SCAN_BLOCK;
}

#endif
