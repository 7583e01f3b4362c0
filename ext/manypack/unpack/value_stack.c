/* The slow path of the value stack: the move to a block. */
#include "unpack/value_stack.h"

void
mp_value_stack_free(mp_value_stack *stack)
{
    mp_poison(stack->values, stack->capacity * sizeof(VALUE));
    rb_free_tmp_buffer(&stack->owner);
}

void
mp_value_stack_move(mp_value_stack *stack, size_t count, size_t capacity)
{
    volatile VALUE owner = 0;
    /* The collector marks every word conservatively, so unused words must be zero. */
    VALUE *values = rb_alloc_tmp_buffer2(&owner, (long)capacity, sizeof(VALUE));

    memcpy(values, stack->values, count * sizeof(VALUE));
    memset(values + count, 0, (capacity - count) * sizeof(VALUE));
    if (stack->owner) mp_value_stack_free(stack);
    else mp_poison(stack->values, stack->capacity * sizeof(VALUE));
    stack->values = values;
    stack->capacity = capacity;
    stack->owner = owner;
}
