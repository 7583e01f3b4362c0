/* How much of the C stack is left. */
#ifndef MANYPACK_STACK_H
#define MANYPACK_STACK_H

#include "base/support.h"

/*
 * Ruby raises only SystemStackError within its own margin of 2048 words. A step down has to be smaller than that: it is
 * taken when all that is known is that the margin is free.
 */
enum { MP_STACK_STEP = 1536 * sizeof(VALUE), MP_STACK_STEPS = 36 * 1024 / MP_STACK_STEP };

/*
 * True if the C stack has less left than it takes to make and raise an exception. ruby_stack_check answers for Ruby's
 * margin; asking it from further down widens the margin.
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

/* True if it is too late to call user code or to open another level. */
MP_INLINE bool
mp_stack_used_up_p(void)
{
    return ruby_stack_check() || mp_stack_low_p(MP_STACK_STEPS);
}

/* Levels of a recursive walk that take half of what mp_stack_used_up_p keeps free; few documents have as many. */
enum { MP_STACK_CHECK_LEVELS = 16 };

/* True if a recursive walk must not open a level: the C stack is asked at one level of many. */
MP_INLINE bool
mp_stack_too_deep_p(uint32_t depth)
{
    return MP_UNLIKELY(depth % MP_STACK_CHECK_LEVELS == 0) && mp_stack_used_up_p();
}

#endif
