/* The Ruby object of a Buffer: bytes on their way to an Unpacker or from a Packer, optionally through an io. */
#ifndef MANYPACK_BUFFER_OBJECT_H
#define MANYPACK_BUFFER_OBJECT_H

#include "base/io.h"
#include "base/lenient.h"
#include "buffer/loan.h"

typedef struct {
    mp_bytes bytes;
    mp_loan loan;
    VALUE io;               /* nil without one; 0 before initialize and after close */
    VALUE unpacker;         /* the Unpacker that reads from the Buffer; 0 without one */
    mp_io_way way;          /* how the io is read */
    bool reads_exactly : 1; /* ask the io for no more than needed: it has no readpartial, or takes no bytes back */
    bool end_near : 1;      /* a File gave fewer bytes than it was asked for */
    bool writable : 1;      /* the first flush found that the io has write */
    bool shown : 1;         /* user code has it: no other owner gets it */
    bool flush_due : 1;     /* user code has called flush in the middle of a write of the Packer */
    uint8_t owner;          /* an mp_owner, for errors that name the object whose method was called */
    uint32_t io_buffer_size, read_reference_threshold, write_reference_threshold; /* at most UINT32_MAX */
} mp_buffer;

typedef enum {
    MP_OF_USER,
    MP_OF_PACKER,
    MP_OF_UNPACKER
} mp_owner;

extern mp_classes mp_cBuffer;

VALUE mp_buffer_allocate(VALUE klass);

/* Sets the io, which may be nil, and the sizes from a Hash of options or nil. RuntimeError the second time. */
void mp_buffer_init(VALUE self, VALUE io, VALUE options);

/* Makes a Buffer for a Packer or an Unpacker, of MessagePack's class or Manypack's, as mp_buffer_init does. */
VALUE mp_buffer_new(VALUE io, VALUE options, bool of_gem);

/* The struct of a Buffer. It is embedded in the object, so it is valid while the caller has the object on its stack. */
MP_INLINE mp_buffer *
mp_buffer_get(VALUE self)
{
    return mp_typed_data(self);
}

/* The name of the class whose method was called, for errors. */
const char *mp_buffer_name(const mp_buffer *buffer);

/* The flags with which the Buffer checks an io: see mp_api_of_object. A Packer has already checked its own io. */
int mp_buffer_api(VALUE self);

/* Appends the current bytes of a String: by reference from reference_threshold bytes on, otherwise as a copy. */
void mp_buffer_append(VALUE self, VALUE string, size_t reference_threshold);

/* mp_buffer_append with the Buffer's own read_reference_threshold. */
void mp_buffer_feed(VALUE self, VALUE str);

/* Shorter Strings are always copied, even if the threshold is smaller. */
#define MP_WRITE_REFERENCE_MIN 256

/* Settles a failed write. RuntimeError unless reading and appending are allowed now. */
void mp_buffer_check(VALUE self);

/*
 * The struct of a Buffer, checked for use: mp_buffer_checked allows reading and appending, mp_buffer_for_change also
 * removing bytes. RuntimeError if the Buffer's state refuses that now.
 */
MP_INLINE mp_buffer *
mp_buffer_checked(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (MP_UNLIKELY(!buffer->io || mp_loan_closed_p(&buffer->loan) || buffer->loan.mark || OBJ_FROZEN(self))) {
        mp_buffer_check(self);
    }
    return buffer;
}

/* True if there is nothing to check: anybody may look at the Buffer, append to it and remove bytes. */
MP_INLINE bool
mp_buffer_ready_p(VALUE self, const mp_buffer *buffer)
{
    return buffer->io && mp_loan_idle_p(&buffer->loan) && !buffer->loan.mark && !OBJ_FROZEN_RAW(self);
}

/* Checks a Buffer to remove bytes of it. */
void mp_buffer_check_for_change(VALUE self);

MP_INLINE mp_buffer *
mp_buffer_for_change(VALUE self)
{
    mp_buffer *buffer = mp_buffer_get(self);

    if (MP_UNLIKELY(!mp_buffer_ready_p(self, buffer))) mp_buffer_check_for_change(self);
    return buffer;
}

/*
 * mp_buffer_for_change for every caller except the Buffer's Unpacker. The caller must call mp_buffer_before_removal
 * before it removes n bytes.
 */
mp_buffer *mp_buffer_for_removal(VALUE self);
void mp_buffer_before_removal(VALUE self, size_t n);

/* The struct of a Buffer, to look at only; it may be TORN. */
mp_buffer *mp_buffer_to_look_at(VALUE self);

/*
 * mp_buffer_set_unpacker sets the Unpacker that reads from the Buffer. mp_buffer_on_removal sets, once, the functions
 * to call before anybody else removes n bytes: check_idle raises while a method of the Unpacker reads; forget makes the
 * Unpacker forget an object that it has read in part.
 */
void mp_buffer_set_unpacker(VALUE self, VALUE unpacker);
void mp_buffer_on_removal(void (*check_idle)(VALUE unpacker), void (*forget)(VALUE unpacker, size_t n));

/*
 * All bytes as one binary String, or as an Array with a String for each chunk, which does not copy long Strings.
 * RuntimeError if nobody may look at the Buffer now.
 */
VALUE mp_buffer_to_s(VALUE self);
VALUE mp_buffer_to_a(VALUE self);

/* Drops all bytes, and mends a TORN Buffer. RuntimeError if bytes may not be removed now. */
void mp_buffer_clear(VALUE self);

/* Removes all bytes and returns them as one binary String. */
VALUE mp_buffer_take_all(VALUE self);

/* The Buffer for user code. */
MP_INLINE VALUE
mp_buffer_show(VALUE self)
{
    mp_buffer_get(self)->shown = true;
    return self;
}

/*
 * Closes an idle Buffer, but keeps a small block for the next owner, who calls mp_buffer_reopen. False if it must have
 * no next owner: a suspended Fiber may still use it, so it stays open, or user code has seen it.
 */
bool mp_buffer_set_aside(VALUE self);
void mp_buffer_reopen(VALUE self, VALUE io);

/* Drops all bytes; every later use raises RuntimeError. */
void mp_buffer_close(VALUE self);

#endif
