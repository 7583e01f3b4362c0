/* What is wrong with an object that is well-formed but not of its type: Manypack::RecordError. */
#ifndef MANYPACK_RECORD_ERROR_H
#define MANYPACK_RECORD_ERROR_H

#include "record/loader.h"

/*
 * Each raises a RecordError at an object's head. If all errors are wanted, it is kept and the call returns, up to 1,000
 * of them; then the caller passes over the object.
 */

/* "expected WORDS, got WHAT IS THERE" */
void mp_record_mismatch(mp_loader *l, VALUE words, const uint8_t *at);

/* A required field is not in the map or array whose head is at that place. */
void mp_record_missing(mp_loader *l, uint32_t field, const uint8_t *at);

/* No field has the key at that place, or the element of that number. */
void mp_record_unknown_key(mp_loader *l, const uint8_t *at);
void mp_record_unknown_element(mp_loader *l, uint32_t element, const uint8_t *at);

/* The class of a Record raised that exception when it was given the fields. */
void mp_record_refused(mp_loader *l, VALUE error, const uint8_t *at);

/* Raises one error for all that were kept, if there are any. */
void mp_record_raise_kept(mp_loader *l);

#endif
