/* All conditionals on compiler, CPU and byte order. No other file of core/ has any. */
#ifndef MP_PLATFORM_H
#define MP_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* MP_PLAIN_C omits everything that needs GNU C, to test the code for other compilers. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(MP_PLAIN_C)
#define MP_LIKELY(x) __builtin_expect(!!(x), 1)
#define MP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MP_INLINE static inline __attribute__((always_inline, unused))
#define MP_NOINLINE __attribute__((noinline))
#define MP_COLD __attribute__((noinline, cold))
#define MP_SWAP16(x) __builtin_bswap16(x)
#define MP_SWAP32(x) __builtin_bswap32(x)
#define MP_SWAP64(x) __builtin_bswap64(x)
#else
#define MP_LIKELY(x) (x)
#define MP_UNLIKELY(x) (x)
#define MP_INLINE static inline
#define MP_NOINLINE
#define MP_COLD
#define MP_SWAP16(x) ((uint16_t)((uint16_t)(x) << 8 | (uint16_t)(x) >> 8))
#define MP_SWAP32(x) \
    ((uint32_t)(x) << 24 | ((uint32_t)(x) & 0xff00u) << 8 | ((uint32_t)(x) >> 8 & 0xff00u) | (uint32_t)(x) >> 24)
#define MP_SWAP64(x) \
    ((uint64_t)MP_SWAP32((uint32_t)((uint64_t)(x) & 0xffffffffu)) << 32 | MP_SWAP32((uint32_t)((uint64_t)(x) >> 32)))
#endif

/* Little-endian if the compiler does not tell: all targets of MSVC are. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MP_BE16(x) (x)
#define MP_BE32(x) (x)
#define MP_BE64(x) (x)
#else
#define MP_BE16(x) MP_SWAP16(x)
#define MP_BE32(x) MP_SWAP32(x)
#define MP_BE64(x) MP_SWAP64(x)
#endif

/*
 * For a word that one thread stores and others load: a thread that sees the new word also sees everything that was
 * written before it. Without compiler atomics, volatile must suffice, as it does with MSVC.
 */
#if defined(__ATOMIC_ACQUIRE) && defined(__ATOMIC_RELEASE)
#define MP_LOAD_ACQUIRE(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define MP_STORE_RELEASE(place, word) __atomic_store_n(place, word, __ATOMIC_RELEASE)
#else
#define MP_LOAD_ACQUIRE(place) (*(volatile uintptr_t *)(place))
#define MP_STORE_RELEASE(place, word) (*(volatile uintptr_t *)(place) = (word))
#endif

/* 1 in a build whose tests look for stale bytes: see mp_poison. */
#ifndef MP_CANARIES
#define MP_CANARIES 0
#endif

#define MP_STATIC_ASSERT(name, condition) typedef char mp_assert_##name[(condition) ? 1 : -1]

/*
 * Declares that n bytes are uninitialized or no longer needed. With MP_CANARIES they become 0xc1, which is never a
 * head, so that a test notices if they appear in output; otherwise this does nothing.
 */
MP_INLINE void
mp_poison(void *bytes, size_t n)
{
    if (MP_CANARIES && n) memset(bytes, 0xc1, n);
}

/* Big-endian integers, the only byte order of the format, at addresses of any alignment. */

MP_INLINE uint16_t
mp_load16(const uint8_t *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof(x));
    return MP_BE16(x);
}

MP_INLINE uint32_t
mp_load32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return MP_BE32(x);
}

MP_INLINE uint64_t
mp_load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return MP_BE64(x);
}

/* Bytes in the order of the machine, to compare them. */

MP_INLINE uint32_t
mp_word32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

MP_INLINE uint64_t
mp_word64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

MP_INLINE void
mp_store16(uint8_t *p, uint16_t x)
{
    x = MP_BE16(x);
    memcpy(p, &x, sizeof(x));
}

MP_INLINE void
mp_store32(uint8_t *p, uint32_t x)
{
    x = MP_BE32(x);
    memcpy(p, &x, sizeof(x));
}

MP_INLINE void
mp_store64(uint8_t *p, uint64_t x)
{
    x = MP_BE64(x);
    memcpy(p, &x, sizeof(x));
}

MP_INLINE float
mp_float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

MP_INLINE double
mp_double_of_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof(d));
    return d;
}

MP_INLINE uint32_t
mp_bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

MP_INLINE uint64_t
mp_bits_of_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

/*
 * Copies n bytes. Most payloads are strings of up to 32 bytes, for which overlapping blocks of a fixed size are faster
 * than a call of memcpy.
 */
MP_INLINE void
mp_copy(uint8_t *to, const void *from_, size_t n)
{
    const uint8_t *from = (const uint8_t *)from_;

    if (n > 32) {
        memcpy(to, from, n);
    } else if (n > 16) {
        uint64_t first[2], last[2];
        memcpy(first, from, 16);
        memcpy(last, from + n - 16, 16);
        memcpy(to, first, 16);
        memcpy(to + n - 16, last, 16);
    } else if (n >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + n - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + n - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + n - 4, &last, 4);
    } else if (n != 0) {
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

/*
 * Blocks of 16 bytes that are examined together: by SSE2, which every x86-64 has, or NEON, which every ARM64 has.
 * Without them MP_HAS_BLOCKS is false, and most of these functions are stubs. A mask has MP_MASK_STEP bits for each
 * byte, the lowest for the first one.
 */
#if defined(__SSE2__) && !defined(MP_PLAIN_C)
#include <emmintrin.h>
#define MP_HAS_BLOCKS true
#define MP_MASK_STEP 1
typedef __m128i mp_block;

MP_INLINE mp_block
mp_block_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

MP_INLINE void
mp_block_store(uint8_t *p, mp_block block)
{
    _mm_storeu_si128((__m128i *)(void *)p, block);
}

/* The bytes that do not stand for themselves in a string of JSON: a quote, a backslash, and those below a space. */
MP_INLINE uint64_t
mp_block_special(mp_block block)
{
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
    __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"')), back = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));

    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, back)));
}

/* The bytes that are not ASCII. */
MP_INLINE uint64_t
mp_block_high(mp_block block)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(block);
}

/* Both kinds, and the bytes that equal `also`. */
MP_INLINE uint64_t
mp_block_unplain(mp_block block, uint8_t also)
{
    __m128i other = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20)), same = _mm_cmpeq_epi8(block, _mm_set1_epi8((char)also));
    __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"')), back = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));

    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(other, same), _mm_or_si128(quote, back)));
}

/* The bytes that are no white space of JSON. */
MP_INLINE uint64_t
mp_block_ink(mp_block block)
{
    __m128i space = _mm_cmpeq_epi8(block, _mm_set1_epi8(' ')), tab = _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'));
    __m128i feed = _mm_cmpeq_epi8(block, _mm_set1_epi8('\n')), back = _mm_cmpeq_epi8(block, _mm_set1_epi8('\r'));
    __m128i white = _mm_or_si128(_mm_or_si128(space, tab), _mm_or_si128(feed, back));

    return (uint64_t)(unsigned)_mm_movemask_epi8(white) ^ 0xffff;
}

/* The bytes that are no digits. */
MP_INLINE uint64_t
mp_block_other_than_digits(mp_block block)
{
    __m128i value = _mm_xor_si128(block, _mm_set1_epi8('0'));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);

    return (uint64_t)(unsigned)_mm_movemask_epi8(digit) ^ 0xffff;
}

/* Marks the first n bytes, n at most 16. */
MP_INLINE mp_block
mp_block_first(unsigned n)
{
    static const uint8_t marks[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

    return mp_block_load(marks + 16 - n);
}

/* The first n bytes of one block, n at most 16, then the bytes of another one. */
MP_INLINE mp_block
mp_block_join(mp_block first, unsigned n, mp_block then)
{
    return _mm_or_si128(_mm_and_si128(mp_block_first(n), first), _mm_andnot_si128(mp_block_first(n), then));
}

/* The number with the first n digits, at most 16, followed by zeros. Joins pairs, then fours, then eights. */
MP_INLINE uint64_t
mp_block_number(mp_block digits, unsigned n)
{
    __m128i value = _mm_and_si128(mp_block_first(n), _mm_xor_si128(digits, _mm_set1_epi8('0')));
    __m128i tens = _mm_mullo_epi16(_mm_and_si128(value, _mm_set1_epi16(0xff)), _mm_set1_epi16(10));
    __m128i pairs = _mm_add_epi16(tens, _mm_srli_epi16(value, 8));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both;

    _mm_storel_epi64((__m128i *)(void *)&both, eights);
    return (both & UINT32_MAX) * 100000000 + (both >> 32);
}
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(MP_PLAIN_C) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#define MP_HAS_BLOCKS true
#define MP_MASK_STEP 4
typedef uint8x16_t mp_block;

MP_INLINE mp_block
mp_block_load(const uint8_t *p)
{
    return vld1q_u8(p);
}

MP_INLINE void
mp_block_store(uint8_t *p, mp_block block)
{
    vst1q_u8(p, block);
}

/* NEON has no mask of one bit for each byte: keeps four of each. */
MP_INLINE uint64_t
mp_block_mask(uint8x16_t bytes)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);
}

MP_INLINE uint64_t
mp_block_special(mp_block block)
{
    uint8x16_t control = vcltq_u8(block, vdupq_n_u8(0x20));
    uint8x16_t quote = vceqq_u8(block, vdupq_n_u8('"')), back = vceqq_u8(block, vdupq_n_u8('\\'));

    return mp_block_mask(vorrq_u8(control, vorrq_u8(quote, back)));
}

MP_INLINE uint64_t
mp_block_high(mp_block block)
{
    return mp_block_mask(vcgeq_u8(block, vdupq_n_u8(0x80)));
}

MP_INLINE uint64_t
mp_block_unplain(mp_block block, uint8_t also)
{
    uint8x16_t other = vcltq_s8(vreinterpretq_s8_u8(block), vdupq_n_s8(0x20)), same = vceqq_u8(block, vdupq_n_u8(also));
    uint8x16_t quote = vceqq_u8(block, vdupq_n_u8('"')), back = vceqq_u8(block, vdupq_n_u8('\\'));

    return mp_block_mask(vorrq_u8(vorrq_u8(other, same), vorrq_u8(quote, back)));
}

MP_INLINE uint64_t
mp_block_ink(mp_block block)
{
    uint8x16_t space = vceqq_u8(block, vdupq_n_u8(' ')), tab = vceqq_u8(block, vdupq_n_u8('\t'));
    uint8x16_t feed = vceqq_u8(block, vdupq_n_u8('\n')), back = vceqq_u8(block, vdupq_n_u8('\r'));

    return ~mp_block_mask(vorrq_u8(vorrq_u8(space, tab), vorrq_u8(feed, back)));
}

MP_INLINE uint64_t
mp_block_other_than_digits(mp_block block)
{
    return mp_block_mask(vcgtq_u8(veorq_u8(block, vdupq_n_u8('0')), vdupq_n_u8(9)));
}
#define mp_block_join(first, n, then) ((void)(first), (void)(n), then)
#define mp_block_number(digits, n) ((void)(digits), (void)(n), UINT64_C(0))
#else
#define MP_HAS_BLOCKS false
#define MP_MASK_STEP 1
typedef struct {
    uint8_t byte[16];
} mp_block;
#define mp_block_special(block) ((void)(block), UINT64_C(0))
#define mp_block_high(block) ((void)(block), UINT64_C(0))
#define mp_block_ink(block) ((void)(block), UINT64_C(0))
#define mp_block_other_than_digits(block) ((void)(block), UINT64_C(0))
#define mp_block_join(first, n, then) ((void)(first), (void)(n), then)
#define mp_block_number(digits, n) ((void)(digits), (void)(n), UINT64_C(0))

MP_INLINE mp_block
mp_block_load(const uint8_t *p)
{
    mp_block block;
    memcpy(&block, p, sizeof(block));
    return block;
}

MP_INLINE void
mp_block_store(uint8_t *p, mp_block block)
{
    memcpy(p, &block, sizeof(block));
}

MP_INLINE uint64_t
mp_block_unplain(mp_block block, uint8_t also)
{
    uint64_t mask = 0;
    unsigned i;

    for (i = 0; i < sizeof(block.byte); i++) {
        uint8_t byte = block.byte[i];
        mask |= (uint64_t)(byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\' || byte == also) << i;
    }
    return mask;
}
#endif

/* The number of zero bits below the lowest bit that is set, and above the highest. x is not 0. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(MP_PLAIN_C)
#define mp_zeros_below(x) ((unsigned)__builtin_ctzll(x))
#define mp_zeros_above(x) ((unsigned)__builtin_clzll(x))
#else
MP_INLINE unsigned
mp_zeros_below(uint64_t x)
{
    unsigned n = 0;
    for (; !(x & 1); x >>= 1) n++;
    return n;
}

MP_INLINE unsigned
mp_zeros_above(uint64_t x)
{
    unsigned n = 0;
    for (; !(x >> 63); x <<= 1) n++;
    return n;
}
#endif

/* The high 64 bits of a product; sets *low to the others. */
MP_INLINE uint64_t
mp_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__SIZEOF_INT128__) && !defined(MP_PLAIN_C)
    __extension__ typedef unsigned __int128 uint128;
    uint128 product = (uint128)a * b;

    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
    uint64_t lowest = a_low * b_low, middle = a_high * b_low + (lowest >> 32);
    uint64_t other = a_low * b_high + (middle & UINT32_MAX);

    *low = other << 32 | (lowest & UINT32_MAX);
    return a_high * b_high + (middle >> 32) + (other >> 32);
#endif
}

/* How many bits a number has. */
MP_INLINE unsigned
mp_bit_length(uint64_t n)
{
    return n ? 64 - mp_zeros_above(n) : 0;
}

#endif
