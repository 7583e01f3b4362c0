/* Manypack::RecordError: an object is well-formed but not of its type. */
#ifndef MANYPACK_RECORD_ERROR_H
#define MANYPACK_RECORD_ERROR_H

#include "record/loader.h"

/*
 * Each function raises a RecordError for the object whose head is at `at`. If all errors are wanted, the function keeps
 * the error, up to 1,000 of them, and returns; the caller then skips the object.
 */

/* "expected WORDS, got ..." followed by a description of the object. */
void mp_record_wrong_type(mp_loader *l, VALUE words, const uint8_t *at);

/* A required field is missing in the map or array whose head is at `at`. */
void mp_record_missing(mp_loader *l, uint32_t field, const uint8_t *at);

/* No field has the key at `at`, or the index of the element at `at`. */
void mp_record_unknown_key(mp_loader *l, const uint8_t *at);
void mp_record_unknown_element(mp_loader *l, uint32_t element, const uint8_t *at);

/* The constructor of a Record's class raised the exception `error`. */
void mp_record_refused(mp_loader *l, VALUE error, const uint8_t *at);

/* Raises one error for all kept errors, if there are any. */
void mp_record_raise_kept(mp_loader *l);

#endif
