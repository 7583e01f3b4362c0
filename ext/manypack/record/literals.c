/* Finds the literal of an enum that an object in a message is. */
#include "record/literals.h"

#include "core/utf8.h"

/* Up to this many literals are compared one by one: that takes less time than a hash. */
enum { LITERALS_FEW = 8 };

/* --- hashes ----------------------------------------------------------------------------------------- */

static uint64_t
hash_of_bytes(const void *p, size_t n)
{
    return (uint64_t)rb_memhash(p, (long)n);
}

static uint64_t
hash_of_real(double real)
{
    if (real == 0) real = 0; /* -0.0 equals it */
    return hash_of_bytes(&real, sizeof(real));
}

/*
 * Hashes a literal. Objects that mp_literals_same calls the same have the same hash, as have texts of the same bytes.
 */
static uint64_t
hash_of(VALUE object)
{
    VALUE string = RB_SYMBOL_P(object) ? rb_sym2str(object) : object;
    uint64_t bits = object;

    if (RB_TYPE_P(string, T_STRING)) return hash_of_bytes(RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    if (RB_FLOAT_TYPE_P(object)) return hash_of_real(RFLOAT_VALUE(object));
    if (RB_TYPE_P(object, T_BIGNUM)) rb_integer_pack(object, &bits, 1, sizeof(bits), 0, INTEGER_PACK_NATIVE_BYTE_ORDER);
    return hash_of_bytes(&bits, sizeof(bits));
}

/* --- the table -------------------------------------------------------------------------------------- */

void
mp_literals_init(mp_literals *table, VALUE literals)
{
    size_t buckets = 4, count = (size_t)RARRAY_LEN(literals), i;

    if (count <= LITERALS_FEW) return;
    while (buckets < count * 2) buckets *= 2;
    table->buckets = ALLOC_N(uint32_t, buckets);
    memset(table->buckets, 0xff, buckets * sizeof(uint32_t));
    table->mask = (uint32_t)buckets - 1;
    for (i = 0; i < count; i++) {
        uint32_t bucket = (uint32_t)hash_of(RARRAY_AREF(literals, (long)i)) & table->mask;

        while (table->buckets[bucket] != UINT32_MAX) bucket = (bucket + 1) & table->mask;
        table->buckets[bucket] = (uint32_t)i;
    }
}

void
mp_literals_free(mp_literals *table)
{
    xfree(table->buckets);
}

size_t
mp_literals_memsize(const mp_literals *table)
{
    return table->buckets ? (table->mask + (size_t)1) * sizeof(uint32_t) : 0;
}

/* Iterates over the literals that may have a hash, in the order of the enum. */
typedef struct {
    const mp_literals *table;
    VALUE literals;
    uint32_t next; /* bucket in the table, or index of a literal */
} candidates;

static candidates
candidates_of(const mp_literals *table, VALUE literals, uint64_t hash)
{
    return (candidates){table, literals, table->buckets ? (uint32_t)hash & table->mask : 0};
}

/* The next candidate; Qundef after the last. */
static VALUE
next_candidate(candidates *c)
{
    uint32_t i = c->next++;

    if (c->table->buckets) {
        i = c->table->buckets[i];
        c->next &= c->table->mask;
    }
    return i < (uint32_t)RARRAY_LEN(c->literals) ? RARRAY_AREF(c->literals, i) : Qundef;
}

/* --- searching -------------------------------------------------------------------------------------- */

VALUE
mp_literals_text(const mp_literals *table, VALUE literals, const uint8_t *p, uint32_t n, bool text)
{
    candidates c = candidates_of(table, literals, table->buckets ? hash_of_bytes(p, n) : 0);
    VALUE literal;

    while ((literal = next_candidate(&c)) != Qundef) {
        VALUE string = RB_SYMBOL_P(literal) ? rb_sym2str(literal) : literal;

        if (!RB_TYPE_P(string, T_STRING) || RSTRING_LEN(string) != (long)n) continue;
        if (memcmp(RSTRING_PTR(string), p, n) != 0) continue;
        if ((ENCODING_GET(string) == mp_binary_index) != text || mp_ascii_p(p, n)) return literal;
    }
    return Qundef;
}

VALUE
mp_literals_same(const mp_literals *table, VALUE literals, VALUE object)
{
    candidates c = candidates_of(table, literals, table->buckets ? hash_of(object) : 0);
    VALUE literal;

    while ((literal = next_candidate(&c)) != Qundef) {
        if (literal == object) return literal;
        if (RB_TYPE_P(literal, T_BIGNUM) && RB_TYPE_P(object, T_BIGNUM) && rb_big_cmp(literal, object) == INT2FIX(0)) {
            return literal;
        }
    }
    return Qundef;
}

VALUE
mp_literals_real(const mp_literals *table, VALUE literals, VALUE number)
{
    candidates c;
    VALUE literal;

    if (!RB_FLOAT_TYPE_P(number) && !RB_INTEGER_TYPE_P(number)) return Qundef;
    c = candidates_of(table, literals, table->buckets ? hash_of_real(NUM2DBL(number)) : 0);
    while ((literal = next_candidate(&c)) != Qundef) {
        if (RB_FLOAT_TYPE_P(literal) && RTEST(rb_equal(literal, number))) return literal;
    }
    return Qundef;
}
