/*
 * Objects that are decoded and not yet in their container. On the C stack at first, where the collector
 * sees them; what outgrows it goes into a block that the collector owns, so that a raise leaks nothing.
 */
#ifndef MANYPACK_VALUE_STACK_H
#define MANYPACK_VALUE_STACK_H

#include "support.h"

#define MP_VALUES_INLINE 512

typedef struct {
    VALUE *values;
    size_t capacity;
    volatile VALUE owner; /* of a block that is not inline; 0 before */
    VALUE inlined[MP_VALUES_INLINE];
} mp_value_stack;

MP_INLINE void
mp_value_stack_init(mp_value_stack *stack)
{
    stack->values = stack->inlined;
    stack->capacity = MP_VALUES_INLINE;
    stack->owner = 0;
    mp_spoil(stack->inlined, sizeof(stack->inlined)); /* the words are Integers to the collector */
}

/* Moves to a block of the collector's for so many; count are in use. */
void mp_value_stack_move(mp_value_stack *stack, size_t count, size_t capacity);

/* Frees the block early, which the collector would do later. The stack is empty then. */
MP_INLINE void
mp_value_stack_cleanup(mp_value_stack *stack)
{
    if (MP_LIKELY(stack->owner == 0)) return;
    mp_spoil(stack->values, stack->capacity * sizeof(VALUE));
    rb_free_tmp_buffer(&stack->owner);
    mp_value_stack_init(stack);
}

#endif
