/*
 * The value stack: decoded objects whose container is not built yet. It starts on the C stack, where the collector sees
 * it. If it outgrows that, it moves to a block that the collector owns, so that an exception leaks nothing.
 */
#ifndef MANYPACK_VALUE_STACK_H
#define MANYPACK_VALUE_STACK_H

#include "base/support.h"

#define MP_VALUES_INLINE 512

typedef struct {
    VALUE *values;
    size_t capacity;
    volatile VALUE owner; /* the object that owns the block; 0 while the values are on the C stack */
} mp_value_stack;

/* Words of the C stack that a call lends to a value stack until the call ends or the stack outgrows them. */
typedef struct {
    VALUE words[MP_VALUES_INLINE];
} mp_value_words;

MP_INLINE void
mp_value_stack_lend(mp_value_stack *stack, mp_value_words *inlined)
{
    stack->values = inlined->words;
    stack->capacity = MP_VALUES_INLINE;
    stack->owner = 0;
    mp_poison(inlined->words, sizeof(inlined->words)); /* the collector takes poisoned words for Integers */
}

/* Moves the stack, which has count words in use, to a block of capacity words. */
void mp_value_stack_move(mp_value_stack *stack, size_t count, size_t capacity);

/* The size of the block in bytes. */
MP_INLINE size_t
mp_value_stack_memsize(const mp_value_stack *stack)
{
    return stack->owner ? stack->capacity * sizeof(VALUE) : 0;
}

/* The slow path of mp_value_stack_cleanup. */
void mp_value_stack_free(mp_value_stack *stack);

/* Frees the block now instead of leaving it to the collector. Afterwards the stack has no words. */
MP_INLINE void
mp_value_stack_cleanup(mp_value_stack *stack)
{
    if (MP_LIKELY(stack->owner == 0)) return;
    mp_value_stack_free(stack);
    stack->values = NULL;
    stack->capacity = 0;
}

#endif
