/* The errors of packing. */
#ifndef MANYPACK_PACK_ERROR_H
#define MANYPACK_PACK_ERROR_H

#include "base/support.h"

/*
 * Errors of packing remember their message and the path in it, so that an outer write can prepend its own path. An
 * error without a path has "$". With of_gem they keep their class, as in the msgpack gem; otherwise they are
 * EncodeErrors, too.
 */
NORETURN(void mp_raise_pack_error(VALUE error, VALUE words, VALUE path, bool of_gem));

/* Raises a new error of packing: of klass or, unless of_gem, of the subclass of it that is an EncodeError. */
NORETURN(void mp_raise_encode_error(VALUE klass, VALUE words, VALUE path, bool of_gem));
VALUE mp_encode_error_class(VALUE klass, bool of_gem);

bool mp_pack_error_p(VALUE error);

/* Raises a copy of an error of packing, with the path of an outer place prepended to its own. */
NORETURN(void mp_raise_pack_error_below(VALUE error, VALUE place, bool of_gem));

/* Raises a new error of packing without a path of its own. */
NORETURN(void mp_raise_unplaced(VALUE klass, VALUE words));

/* Calls a function of Ruby. An exception that it raises becomes an error of packing. */
VALUE mp_pack_call(VALUE (*call)(VALUE), VALUE arg);

/*
 * Calls a function that checks packed bytes by reading them. A DecodeError becomes an error of packing, with its own
 * path.
 */
void mp_pack_check(VALUE (*check)(VALUE), VALUE arg);

/* NestingError of packing, or SystemStackError with of_gem; path is a String such as "$.a[3]". */
NORETURN(void mp_raise_nesting(unsigned long max_depth, VALUE path, bool of_gem));

#endif
