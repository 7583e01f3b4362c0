/*
 * The list of limits on what the heads of a message declare. A new row also needs its check in limit.h;
 * docs/internals.md lists its tests and documents. max_bytes and max_depth are not in the list: no head declares them.
 */
#ifndef MP_LIMIT_LIST_H
#define MP_LIMIT_LIST_H

/*
 * A row calls M with X, which only M uses, and
 *
 *   STATUS     MP_E_MAX_STATUS says that the limit is exceeded
 *   field      of mp_limits
 *   type       of the field; its largest value is no limit
 *   option     the name under which a user sets it
 *   untrusted  the limit for bytes that are not trusted
 *   unit       what is counted
 *   text       the sentence for the status
 */
#define MP_LIMITS_EACH(M, X)                                                                                           \
    /* of a whole message, keys and values counted apart */                                                            \
    M(X, OBJECTS, objects, uint64_t, "max_objects", 100000, "objects", "a message has too many objects")               \
    /* of one map */                                                                                                   \
    M(X, MAP, map, uint32_t, "max_map_size", 1000, "pairs", "a map is too large")                                      \
    /* of one array */                                                                                                 \
    M(X, ARRAY, array, uint32_t, "max_array_size", 10000, "elements", "an array is too large")                         \
    /* of one str or bin */                                                                                            \
    M(X, STRING, string, uint32_t, "max_string_bytes", 1 << 18, "bytes", "a str or bin is too long")                   \
    /* of one ext */                                                                                                   \
    M(X, EXT, ext, uint32_t, "max_ext_bytes", 1 << 12, "bytes", "an ext is too long")

#define MP_LIMIT_ONE(X, STATUS, field, type, option, untrusted, unit, text) +1
enum { MP_LIMITS = 0 MP_LIMITS_EACH(MP_LIMIT_ONE, ) };

#endif
