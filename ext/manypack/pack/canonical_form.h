/* The canonical form of MessagePack in a String: docs/canonical.md has the rules. */
#ifndef MANYPACK_CANONICAL_FORM_H
#define MANYPACK_CANONICAL_FORM_H

#include "base/support.h"

/* True if the bytes of a String from offset to end are one object, in its canonical form and not nested deeper. */
bool mp_canonical_p(VALUE string, size_t offset, size_t end, uint32_t max_depth);

/* A new String with the canonical form of that object. DecodeErrors with offsets in the String. */
VALUE mp_canonical_string(VALUE string, size_t offset, size_t end, uint32_t max_depth);

/* The same of what was just packed, or the String itself if it is canonical. ArgumentError and EncodingError. */
VALUE mp_canonical_packed(VALUE packed);

#endif
