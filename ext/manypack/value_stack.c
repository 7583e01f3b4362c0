/* The cold half of the value stack: the move to a block. */
#include "value_stack.h"

void
mp_value_stack_move(mp_value_stack *stack, size_t count, size_t capacity)
{
    volatile VALUE owner = 0;
    /* The collector marks every word conservatively, so unused ones must be zero. */
    VALUE *values = rb_alloc_tmp_buffer2(&owner, (long)capacity, sizeof(VALUE));

    memcpy(values, stack->values, count * sizeof(VALUE));
    memset(values + count, 0, (capacity - count) * sizeof(VALUE));
    mp_poison(stack->values, stack->capacity * sizeof(VALUE));
    if (stack->owner) rb_free_tmp_buffer(&stack->owner);
    stack->values = values;
    stack->capacity = capacity;
    stack->owner = owner;
}
