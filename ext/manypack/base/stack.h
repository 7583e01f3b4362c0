/* How much of the C stack is left. */
#ifndef MANYPACK_STACK_H
#define MANYPACK_STACK_H

#include "base/support.h"

/*
 * Within the last 2048 words of the stack, its margin, Ruby raises only SystemStackError. mp_stack_low_p looks ahead in
 * steps smaller than the margin, because only that much is known to be free before a step.
 */
enum { MP_STACK_STEP = 1536 * sizeof(VALUE), MP_STACK_STEPS = 36 * 1024 / MP_STACK_STEP };

/*
 * True if the C stack that is left is too small to make and raise an exception. ruby_stack_check asks about Ruby's
 * margin; calling it from deeper frames widens the margin.
 */
static MP_NOINLINE bool
mp_stack_low_p(int steps)
{
    volatile char step[MP_STACK_STEP];
    bool low;

    step[0] = 0; /* keeps the frame, and prevents a tail call */
    low = ruby_stack_check() || (steps > 1 && mp_stack_low_p(steps - 1));
    return low || step[0];
}

/* True if the C stack is too full to call user code or to open another level. */
MP_INLINE bool
mp_stack_used_up_p(void)
{
    return ruby_stack_check() || mp_stack_low_p(MP_STACK_STEPS);
}

/* This many levels of a recursive walk take half of the stack that mp_stack_used_up_p keeps free. */
enum { MP_STACK_CHECK_LEVELS = 16 };

/* True if a recursive walk must not open a level. Checks the C stack only at every 16th level. */
MP_INLINE bool
mp_stack_too_deep_p(uint32_t depth)
{
    return MP_UNLIKELY(depth % MP_STACK_CHECK_LEVELS == 0) && mp_stack_used_up_p();
}

#endif
