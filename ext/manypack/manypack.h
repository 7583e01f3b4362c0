/* What the files of the extension share: the names of Ruby things, set once in Init and never again. */
#ifndef MANYPACK_H
#define MANYPACK_H

#include "compat.h"
#include "platform.h"

extern VALUE mp_mManypack;
extern VALUE mp_cExtensionValue, mp_cTimestamp;

extern rb_encoding *mp_utf8;
extern int mp_utf8_index, mp_usascii_index, mp_binary_index;

/* Whether the bytes of text in an encoding are UTF-8 as they are. */
MP_INLINE bool
mp_utf8_index_p(int index)
{
    return index == mp_utf8_index || index == mp_usascii_index;
}

void Init_manypack_error(void);
void Init_manypack_io(void);
void Init_manypack_options(void);
void Init_manypack_ractor(void);
void Init_manypack_types(void);
void Init_manypack_codec(void);
void Init_manypack_encode(void);
void Init_manypack_decode(void);
void Init_manypack_buffer(void);
void Init_manypack_packer(void);
void Init_manypack_unpacker(void);
void Init_manypack_factory(void);
void Init_manypack_bigint(void);
void Init_manypack_split(void);
void Init_manypack_batch(void);
void Init_manypack_outbox(void);
void Init_manypack_isolate(void);

/* A size that a user gave: RangeError below 0 and above SIZE_MAX, TypeError for what is no Integer. */
size_t mp_size(VALUE integer, const char *what);

/* A class or module that lib/manypack defined before it loaded the extension; kept for ever. */
VALUE mp_const(const char *name);

#endif
