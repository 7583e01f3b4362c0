/* The errors of unpacking, most of which come from a status of the core. pack_error.h has those of packing. */
#ifndef MANYPACK_ERROR_H
#define MANYPACK_ERROR_H

#include "base/support.h"
#include "core/limit.h"
#include "core/status.h"
#include "core/wire.h"

/* The message with the error. The error's #path is computed from it. */
typedef struct {
    VALUE source;  /* the String with its bytes, which errors keep; 0 if the bytes are gone: no path */
    size_t start;  /* where the message starts in source */
    size_t offset; /* where it starts in the whole input */
} mp_message;

#define MP_NO_MESSAGE ((mp_message){.source = 0})

MP_INLINE mp_message
mp_message_whole(VALUE string)
{
    return (mp_message){.source = string};
}

/*
 * The message at `offset` in the whole input. The bytes from start to end begin at `origin` in the input; `before`
 * bytes precede them in the same memory: in source or, if that is 0, in a block, which is copied.
 */
mp_message mp_message_of(VALUE source, const uint8_t *start, const uint8_t *end, size_t before, size_t origin,
                         size_t offset);

/* The head to blame and the bytes around it, from which the error message says what is wrong, and where. */
typedef struct {
    const uint8_t *start, *at, *end;
    size_t origin;           /* offset of start in the whole input */
    size_t bytes_after;      /* bytes of the input that follow end */
    size_t complete;         /* offset in the whole input where the last complete object ends */
    mp_message message;
    const mp_limits *limits; /* only for a status of mp_limits_pass */
    uint64_t objects;        /* objects of the message up to the head; only with limits */
    bool of_gem;             /* called by the name MessagePack: raises errors of the msgpack gem's classes */
    VALUE eof;               /* the EOFError that the io raised at its end; 0 or nil without one */
} mp_blame;

MP_INLINE mp_blame
mp_blame_of(const uint8_t *start, const uint8_t *at, const uint8_t *end, size_t origin)
{
    return (mp_blame){.start = start, .at = at, .end = end, .origin = origin};
}

/* Raises the exception for a status, with its #offset. Reads the bytes of the blame first: allocating may move them. */
NORETURN(void mp_raise_status(mp_status status, mp_blame blame));

/* The errors of decoding for which the core has no status. */
NORETURN(void mp_raise_unknown_ext(int type, size_t offset, mp_message message));

/* input is the String that starts with the object, or 0. If it looks like another format, the error says so. */
NORETURN(void mp_raise_extra_bytes(size_t extra, size_t offset, VALUE input));

/*
 * Returns the end of an error message, which names the format that the input looks like; empty if it looks like
 * MessagePack.
 */
VALUE mp_likeness(VALUE input);

NORETURN(void mp_raise_malformed(const char *what, size_t offset, mp_message message));
NORETURN(void mp_raise_max_bytes(size_t allowed, size_t found, size_t offset, mp_message message));
NORETURN(void mp_raise_same_hash(size_t allowed, size_t offset));

/* LimitError: the conditions of a Path look at too many values. `found` ends the sentence "but the input has". */
NORETURN(void mp_raise_max_looks(uint64_t allowed, const char *found, size_t offset, mp_message message));

/* The paths to the values of a message may take this many times as many bytes as max_bytes allows the message. */
enum { MP_PATHS_PER_BYTE = 16 };

NORETURN(void mp_raise_max_path_bytes(size_t allowed, uint64_t found, mp_message message));

NORETURN(void mp_raise_malformed_symbol(const uint8_t *p, size_t len, size_t offset, mp_message message));
NORETURN(void mp_raise_unexpected(mp_kind expected, mp_kind found, size_t offset, mp_message message));
NORETURN(void mp_raise_past_body(int type, size_t offset, mp_message message));
NORETURN(void mp_raise_unread_body(int type, size_t left, size_t offset, mp_message message));

/* ShapeError for the object at an offset of a message. expected is a text such as "a map". */
NORETURN(void mp_raise_shape(const char *expected, VALUE found, size_t offset, mp_message message));

/* UnexpectedTypeError for the object at an offset of a message, which JSON cannot express. Changes words. */
NORETURN(void mp_raise_not_in_json(VALUE words, size_t offset, mp_message message));

NORETURN(void mp_raise_no_data(void));

/* Raises for the body of a timestamp outside of any input: the error has no offset. size is the body's. */
NORETURN(void mp_raise_timestamp(mp_status status, size_t size));

/* A new DecodeError of a class. Its message already says where. */
VALUE mp_error_at(VALUE klass, VALUE message, size_t offset);

bool mp_decode_error_p(VALUE error);

/* An exception with these words. */
VALUE mp_error_new(VALUE klass, VALUE words);

/* A copy of an exception with other words, also of a frozen one. */
VALUE mp_error_with_words(VALUE error, VALUE words);

/* The message of an exception, in an ASCII-compatible encoding. */
VALUE mp_error_message(VALUE error);

/* Replaces the path of a DecodeError. */
void mp_error_set_path(VALUE error, VALUE path);

/*
 * Raises a DecodeError that came out of the handler of an ext, with an #offset in the input that contains the ext. An
 * error from `body`, the Unpacker that the handler got, already has such an offset. Any other error gets the offset of
 * the ext, because its own, if any, belongs to another message that the handler unpacked.
 */
NORETURN(void mp_raise_handler_error(VALUE error, int type, VALUE body, size_t offset, mp_message message));

/*
 * Raises a DecodeError that came out of loading one message of a stream. The message starts at `start`. The #offset
 * becomes the offset in the stream, also in each of a RecordError's #errors.
 */
NORETURN(void mp_raise_message_error(VALUE error, size_t start));

/* Gives another RecordError all that a RecordError says, except the message and the offset. */
void mp_error_copy_record(VALUE error, VALUE copy);

/* RuntimeError: a Packer, Unpacker or Buffer is used while another of its methods is running. */
NORETURN(void mp_raise_in_use(const char *what));

/* RuntimeError: an exception interrupted the io's read or write. what is Packer, Unpacker or Buffer. */
NORETURN(void mp_raise_torn(const char *what));

/* True for an error with an offset in the input of this reader, such as an Unpacker. */
bool mp_error_of_p(VALUE error, VALUE reader);

/* EOFError: a stream has ended after a whole object. Uses only of_gem and eof of the blame. */
NORETURN(void mp_raise_no_more_objects(mp_blame blame, size_t offset));

#endif
