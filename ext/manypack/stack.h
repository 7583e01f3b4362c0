/* How much of the C stack is left. */
#ifndef MANYPACK_STACK_H
#define MANYPACK_STACK_H

#include "support.h"

/*
 * Whether the C stack has less left than an exception needs to be made and raised. Ruby answers for its own
 * margin of 16 KB, within which it raises nothing but SystemStackError; asking from further down widens it.
 */
static MP_NOINLINE bool
mp_stack_low_p(int steps)
{
    volatile char step[12 * 1024];
    bool low;

    step[0] = 0; /* keeps the frame, and this call from becoming a jump */
    low = ruby_stack_check() || (steps > 1 && mp_stack_low_p(steps - 1));
    return low || step[0];
}

/* Whether user code should not be called any more, nor another level be opened. */
MP_INLINE bool
mp_stack_used_up_p(void)
{
    return ruby_stack_check() || mp_stack_low_p(3);
}

#endif
