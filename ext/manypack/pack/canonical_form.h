/* Checks and writes the canonical form of MessagePack in a String. docs/canonical.md has the rules. */
#ifndef MANYPACK_CANONICAL_FORM_H
#define MANYPACK_CANONICAL_FORM_H

#include "base/support.h"

/* True if the bytes from offset to end are one object in canonical form that is not nested deeper than max_depth. */
bool mp_canonical_p(VALUE string, size_t offset, size_t end, uint32_t max_depth);

/*
 * Returns the canonical form of the object from offset to end as a new String. Raises DecodeErrors with offsets in the
 * String.
 */
VALUE mp_canonical_string(VALUE string, size_t offset, size_t end, uint32_t max_depth);

/*
 * The same for bytes that we packed. Returns the String itself if it is canonical. Raises ArgumentError and
 * EncodingError.
 */
VALUE mp_canonical_packed(VALUE packed);

#endif
