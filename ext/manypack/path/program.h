/*
 * The program of a Path: the steps from lib/manypack/path/parser.rb, as structs for one search.
 *
 *   mp_program program;
 *   mp_program_init(&program, steps);          // raises TypeError for what no parser returns
 *   program.query.segments[0].selectors[0]     // ...
 *   mp_program_end(&program);                  // keeps the objects alive up to here
 *
 * Names and numbers are copied: objects, which compaction can move, are referred to only by their index in `objects`.
 */
#ifndef MANYPACK_PROGRAM_H
#define MANYPACK_PROGRAM_H

#include "base/support.h"
#include "core/find.h"

typedef struct mp_condition mp_condition;

/* The order matters: KEY and INDEX find at most one value, ALL takes every value, and the rest choose. */
typedef enum {
    MP_SELECT_KEY,    /* a name, or another key of a map */
    MP_SELECT_INDEX,  /* an element of an array; in a map, the Integer key */
    MP_SELECT_ALL,
    MP_SELECT_SLICE,
    MP_SELECT_FILTER,
} mp_selector_kind;

typedef struct {
    mp_selector_kind kind;
    mp_key key;                    /* KEY, INDEX */
    long object;                   /* KEY, INDEX: index of the key in the program's objects */
    int64_t first, last, step;     /* SLICE; INDEX: first */
    bool from_end, to_end;         /* SLICE: without a first, without a last */
    const mp_condition *condition; /* FILTER */
    mp_wanted *wanted;             /* FILTER: the keys that the condition and the next segment read from each value */
    int next_slot;                 /* FILTER: index in `wanted` of the next segment's key; or MP_NO_SLOT */
} mp_selector;

#define MP_NO_SLOT (-1)

/* A filter finds at most this many keys of a value in one walk. */
enum { MP_ROW_KEYS = 8 };

/* The index of the element that an INDEX selects in an array of n; below 0 or at least n if there is none. */
MP_INLINE int64_t
mp_selector_index(const mp_selector *selector, uint64_t n)
{
    return selector->first < 0 ? selector->first + (int64_t)n : selector->first;
}

typedef struct {
    bool descendant;
    uint32_t count;
    mp_selector *selectors;
} mp_segment;

typedef struct {
    bool absolute;   /* starts at the message, not at the current value */
    bool singular;   /* finds one value at most */
    int slot;        /* in a condition: index in the filter's `wanted` of the first key; or MP_NO_SLOT */
    long count;
    const mp_segment *segments;
    /* The result of a query in a condition. */
    bool known;      /* it is absolute, so its result is the same for each value */
    uint64_t found;  /* how many values */
    size_t first;    /* the offset of the first */
} mp_query;

typedef enum {
    MP_OR, MP_AND, MP_NOT, MP_COMPARE, MP_EXISTS, /* conditions */
    MP_LITERAL, MP_QUERY,                         /* operands */
    MP_CALL_LENGTH, MP_CALL_COUNT, MP_CALL_VALUE, MP_CALL_MATCH, MP_CALL_SEARCH, MP_CALL_USER,
} mp_condition_kind;

typedef enum { MP_EQUAL, MP_UNEQUAL, MP_LESS, MP_LESS_EQUAL, MP_GREATER, MP_GREATER_EQUAL } mp_operator;

/* The kinds of operands of a comparison. The order matters: STR to EXT have a payload. */
typedef enum {
    MP_VALUE_NOTHING, MP_VALUE_NIL, MP_VALUE_FALSE, MP_VALUE_TRUE, MP_VALUE_INT, /* below 0 */ MP_VALUE_UINT,
    MP_VALUE_REAL, MP_VALUE_STR, MP_VALUE_BIN, MP_VALUE_EXT, MP_VALUE_CONTAINER, MP_VALUE_OBJECT,
} mp_value_kind;

typedef struct {
    mp_value_kind kind;
    int8_t ext_type;
    uint64_t bits;        /* of an INT, UINT or REAL */
    const uint8_t *bytes; /* of a literal STR; NULL for a value in the message, or an object */
    size_t head;          /* of a value of the message: its offset */
    size_t at, n;         /* STR, BIN, EXT: the payload */
    VALUE object;         /* an OBJECT, or a STR or BIN that is a Ruby String; else 0 */
} mp_value;

struct mp_condition {
    mp_condition_kind kind;
    mp_operator operator;
    bool logical;           /* MP_CALL_USER: the result is a condition */
    bool quick;             /* COMPARE: compares the value of a wanted key with a literal */
    uint32_t count;
    mp_condition **parts;   /* the conditions inside a condition, or the operands of a comparison or call */
    mp_query *query;        /* EXISTS, QUERY */
    mp_value literal;       /* LITERAL */
    const uint8_t *takes;   /* MP_CALL_USER: for each operand an mp_argument */
    long object;            /* the Function, or the Pattern of a match; -1 for none */
};

typedef enum { MP_TAKES_VALUE, MP_TAKES_LOGICAL, MP_TAKES_NODES } mp_argument;

/* Memory that is released as a whole: first on the C stack, then in Strings that the collector owns. */
typedef struct {
    char *at, *end;
    VALUE blocks; /* a hidden Array; 0 for none */
    uint64_t first[320];
} mp_arena;

typedef struct {
    mp_query query;
    VALUE steps, objects; /* Arrays; objects is hidden */
    bool remembers;       /* a condition has an absolute query, which keeps what it found in one message */
    bool descends;        /* a segment `..` is followed by other segments, has several selectors or a condition */
    bool calls;           /* a condition calls a function of the user */
    int nesting;
    mp_wanted *wanted;    /* while a filter is read: its keys */
    mp_arena arena;
} mp_program;

/* Lives on the C stack. TypeError for an Array that the parser of Path does not return. */
void mp_program_init(mp_program *program, VALUE steps);

MP_INLINE VALUE
mp_program_object(const mp_program *program, long i)
{
    return RARRAY_AREF(program->objects, i);
}

/* The filter, if the program consists of one filter alone; else NULL. */
MP_INLINE const mp_selector *
mp_program_filter(const mp_program *program)
{
    const mp_segment *segment = program->query.segments;

    if (program->query.count != 1 || segment->descendant || segment->count != 1) return NULL;
    return segment->selectors->kind == MP_SELECT_FILTER ? segment->selectors : NULL;
}

MP_INLINE void
mp_program_end(mp_program *program)
{
    RB_GC_GUARD(program->steps);
    RB_GC_GUARD(program->objects);
    RB_GC_GUARD(program->arena.blocks);
}

#endif
