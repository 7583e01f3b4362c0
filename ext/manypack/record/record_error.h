/* Manypack::RecordError: an object is well-formed but not of its type. */
#ifndef MANYPACK_RECORD_ERROR_H
#define MANYPACK_RECORD_ERROR_H

#include "record/loader.h"

/*
 * Each function raises a RecordError for the object whose head is at `at`. If errors are collected, it keeps the error
 * instead, up to 1,000 of them, and returns; the caller then skips the object. For Ruby objects (from.c), l->given is
 * the wrong one, and `at` is ignored.
 */

/* Two keys of a Ruby object are equal as text. */
void mp_record_duplicate(mp_loader *l, const char *reason);

/* "expected WORDS, got ..." followed by a description of the object. */
void mp_record_wrong_type(mp_loader *l, const mp_shape *shape, const uint8_t *at);

/* The tag at `at` is unknown, or, if it was not found, the map at `at` has no tag. */
void mp_record_wrong_tag(mp_loader *l, const mp_shape *shape, bool found, const uint8_t *at);

/* The object breaks a rule. error is the StandardError that user code raised, or 0. */
void mp_record_broken(mp_loader *l, const mp_rule *rule, VALUE error, const uint8_t *at);

/* The map or array at `at` lacks a required field. In an array, `element` is the index of that field. */
void mp_record_missing(mp_loader *l, uint32_t field, uint32_t element, const uint8_t *at);

/* A Ruby object is beyond a limit; the reason says which. Raises at once. */
NORETURN(void mp_record_beyond(mp_loader *l, VALUE reason));

/* No field has the key at `at`, or the index of the element at `at`. */
void mp_record_unknown_key(mp_loader *l, const uint8_t *at);
void mp_record_unknown_element(mp_loader *l, uint32_t element, const uint8_t *at);

/* User code raised the exception `error`: the code is "constructor" or "conversion". */
void mp_record_refused(mp_loader *l, const char *code, VALUE error, const uint8_t *at);

/* Raises an error of packing for the exception of a VIA that dumps the object at a place. */
NORETURN(void mp_record_unconverted(const mp_rule *via, VALUE error, const mp_place *place, bool of_gem));

/* Raises one error for all kept errors, if there are any. */
void mp_record_raise_kept(mp_loader *l);

#endif
