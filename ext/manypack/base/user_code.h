/* After rb_protect: why user code did not return. */
#ifndef MANYPACK_USER_CODE_H
#define MANYPACK_USER_CODE_H

#include "base/support.h"

/* From this depth on, a SystemStackError of user code means that the object is nested too deep. */
enum { MP_DEEP = 64 };

/* The exception that ended user code; nil after a throw or Thread#kill. */
MP_INLINE VALUE
mp_user_error(void)
{
    VALUE error = rb_errinfo();

    return RB_SPECIAL_CONST_P(error) || RB_BUILTIN_TYPE(error) == T_IMEMO ? Qnil : error;
}

/* True if a call at this depth of nesting ended with an exception because the object is nested too deep. */
MP_INLINE bool
mp_user_error_of_depth_p(VALUE error, uint32_t depth)
{
    return depth >= MP_DEEP && RTEST(rb_obj_is_kind_of(error, rb_eSysStackError));
}

#endif
