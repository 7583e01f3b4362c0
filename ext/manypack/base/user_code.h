/* Why user code did not return, after rb_protect. */
#ifndef MANYPACK_USER_CODE_H
#define MANYPACK_USER_CODE_H

#include "base/support.h"

/* Levels of nesting from which on a SystemStackError of user code means that they are too many. */
enum { MP_DEEP = 64 };

/* The exception by which it ended; nil after a throw or Thread#kill. */
MP_INLINE VALUE
mp_user_error(void)
{
    VALUE error = rb_errinfo();

    return RB_SPECIAL_CONST_P(error) || RB_BUILTIN_TYPE(error) == T_IMEMO ? Qnil : error;
}

/* True if a call at that depth of nesting ended with that exception because the depth is too much. */
MP_INLINE bool
mp_user_error_of_depth_p(VALUE error, uint32_t depth)
{
    return depth >= MP_DEEP && RTEST(rb_obj_is_kind_of(error, rb_eSysStackError));
}

#endif
