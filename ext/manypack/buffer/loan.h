/*
 * Who may use a Buffer. User code runs in the middle of a write of a Packer, of a read of an Unpacker, and of a flush
 * to an io. It may then come back to the Buffer, in the same Thread or in another.
 *
 *              lend                take                tear
 *         ──────────────►     ──────────────►     ──────────────►
 *    IDLE                 LENT                TAKEN               TORN     take, release and tear go from and to IDLE,
 *         ◄──────────────     ◄──────────────                      │       too
 *    ▲     return, break          release                          │
 *    └─────────────────────────────────────────────────────────────┘
 *                                  mend
 *
 *   state   look      append    remove       while
 *   IDLE    anyone    anyone    anyone       no write, read or flush is running
 *   LENT    anyone    borrower  refused      user code writes an object to the Packer, which may lend again, nested.
 *                                            The borrower's flush follows when the outermost write ends
 *   TAKEN   refused   refused   refused      user code runs while some bytes do not count yet or are already gone
 *   TORN    anyone    refused   by clear     nobody knows which of its bytes an io has taken or given
 *
 *   event           fired by
 *   start           the encoder, when a write of the Packer starts; the outermost one begins an epoch
 *   begin           the encoder, before it commits bytes of a write that may still fail
 *   pause, go on    the encoder, around the comparisons of keys in a walk over a Hash, which may run user code. They
 *                   change no state: whoever uses the Buffer meanwhile settles the write, which cannot go on then
 *   end             the Packer, when a write is complete
 *   settle          the next user of the Buffer. A write that began and did not end has failed: its bytes are discarded
 *   lend, return    the encoder, around user code that writes to the Packer
 *   take, release   the encoder, around user code that does not write; an Unpacker that decodes; a Buffer and its io.
 *                   The Buffer of an Unpacker for the body of an ext is taken from the start and never released
 *   tear            an io whose write ends by an exception; NoMemoryError for bytes that an io gave. A StringIO tears
 *                   the Buffer before it writes
 *   mend            clear, which drops all bytes; the end of what tore the Buffer beforehand
 *   break           a return that finds an unfinished write inside the loan
 *   close           a Packer, or an Unpacker for a body, whose block or handler ends. The state stays, but the epoch
 *                   changes, so that no earlier loan or call can return
 *
 * The borrower is the Thread that the Packer was lent to. While LENT, the Packer's methods refuse other Threads; the
 * Buffer's own write and << do not, because they only append. A refusal is a RuntimeError.
 *
 * A Fiber can stop inside a write for ever, or go on after the writes around it have returned. Therefore a break voids
 * all nested loans together: the bytes that were written since the outermost loan are settled, the Buffer is IDLE, and
 * a write that goes on under an old epoch must not touch the Buffer.
 *
 * Each lend has a number. A return that is not of the innermost lend, or finds the Buffer TAKEN, is a break if the same
 * outermost write is still running; otherwise it touches nothing. In both cases the write that it returns to raises.
 * The epoch tells outermost writes apart.
 */
#ifndef MANYPACK_LOAN_H
#define MANYPACK_LOAN_H

#include "buffer/bytes.h"

typedef enum {
    MP_IDLE,
    MP_LENT,
    MP_TAKEN,
    MP_TORN
} mp_loan_state;

typedef struct {
    size_t mark;       /* after begin: the size before it, plus 1; otherwise 0 */
    size_t outer_mark; /* the mark of the outermost write that lent */
    VALUE thread;      /* the borrower; only compared, and alive as long as it has the loan */
    uint32_t epoch;    /* counts outermost writes, writes to an io, breaks and closes */
    uint32_t holder;   /* the number of the innermost lend */
    uint32_t holders;  /* the last number given to a lend, pause, settle or close */
    uint32_t depth : 24, state : 7; /* levels open around the borrower's writes, 0 unless LENT; an mp_loan_state */
    uint32_t broken : 1;            /* there was a break or close: a suspended Fiber may go on */
} mp_loan;

/* The fields that a lend changes, for the return to restore. */
typedef struct {
    size_t mark;
    VALUE thread;
    uint32_t epoch, holder, outer_holder, outer_depth;
} mp_loan_saved;

MP_INLINE bool
mp_loan_idle_p(const mp_loan *loan)
{
    return loan->state == MP_IDLE;
}

MP_INLINE bool
mp_loan_taken_p(const mp_loan *loan)
{
    return loan->state == MP_TAKEN;
}

MP_INLINE bool
mp_loan_torn_p(const mp_loan *loan)
{
    return loan->state == MP_TORN;
}

/* True if nobody may append. */
MP_INLINE bool
mp_loan_closed_p(const mp_loan *loan)
{
    return loan->state >= MP_TAKEN;
}

/* True if the Buffer is lent to the current Thread. */
MP_INLINE bool
mp_loan_borrower_p(const mp_loan *loan)
{
    return loan->state == MP_LENT && loan->thread == rb_thread_current();
}

/* True if the current Thread may write to the Packer, unless it is taken. */
MP_INLINE bool
mp_loan_writer_p(const mp_loan *loan)
{
    return MP_LIKELY(loan->state != MP_LENT) || mp_loan_borrower_p(loan);
}

/* True if a new owner may have the Buffer: nobody uses it, and no suspended Fiber could resume a use. */
MP_INLINE bool
mp_loan_free_p(const mp_loan *loan)
{
    return mp_loan_idle_p(loan) && !loan->broken;
}

/* Starts a write in which user code may run. */
MP_INLINE void
mp_loan_start(mp_loan *loan)
{
    if (MP_LIKELY(!loan->depth)) loan->epoch++;
}

MP_INLINE void
mp_loan_begin(mp_loan *loan, const mp_bytes *bytes)
{
    if (!loan->mark) loan->mark = bytes->size + 1;
}

MP_INLINE void
mp_loan_end(mp_loan *loan)
{
    loan->mark = 0;
}

void mp_loan_settle(mp_loan *loan, mp_bytes *bytes);

/* Take a Buffer that is not taken, and release it. For callers that cannot lose it in between. */
MP_INLINE void
mp_loan_take(mp_loan *loan)
{
    loan->state = MP_TAKEN;
}

MP_INLINE void
mp_loan_release(mp_loan *loan)
{
    loan->state = loan->depth ? MP_LENT : MP_IDLE;
}

/* A call with the Buffer taken. Lives on the caller's C stack. */
typedef struct {
    mp_loan *loan;
    VALUE (*call)(VALUE);
    VALUE arg;
    uint32_t epoch;
    bool may_tear; /* an exception makes the Buffer TORN, unless it is of the module `refusal` */
    VALUE refusal; /* 0 without one */
    bool released;
} mp_taken_call;

/*
 * Calls a function that may run user code, with the Buffer taken. Returns Qundef if the caller lost the Buffer, because
 * a loan around it broke meanwhile.
 */
VALUE mp_loan_call_taken(mp_taken_call *taken);

/* From IDLE. */
MP_INLINE void
mp_loan_tear(mp_loan *loan)
{
    loan->state = MP_TORN;
}

/*
 * mp_loan_tear_for_write tears a Buffer before the write of an io (StringIO) during which nobody can use it, and
 * returns the epoch. If the io raises, the Buffer stays TORN, as after mp_loan_call_taken, but without rb_ensure.
 * mp_loan_written ends the write of that epoch. False if the caller lost the Buffer, by a redefined write.
 */
MP_INLINE uint32_t
mp_loan_tear_for_write(mp_loan *loan)
{
    mp_loan_tear(loan);
    return ++loan->epoch;
}

MP_INLINE bool
mp_loan_written(mp_loan *loan, uint32_t epoch)
{
    if (MP_UNLIKELY(!mp_loan_torn_p(loan) || loan->epoch != epoch)) return false;
    loan->state = MP_IDLE;
    return true;
}

/* From TORN to IDLE. The caller drops all bytes. */
MP_INLINE void
mp_loan_mend(mp_loan *loan)
{
    loan->state = MP_IDLE;
}

/* Pauses a begun write while user code may run. Returns the number of the pause. */
MP_INLINE uint32_t
mp_loan_pause_write(mp_loan *loan)
{
    return ++loan->holders;
}

/* True if nobody has used the Buffer since the pause with that number: every use settles or voids the write. */
MP_INLINE bool
mp_loan_goes_on_p(const mp_loan *loan, uint32_t pause)
{
    return loan->mark && loan->holders == pause;
}

/* Lends a Buffer that is not taken, in a write that has begun. depth is above 0. */
mp_loan_saved mp_loan_lend(mp_loan *loan, uint32_t depth);

/* Ends a loan. False after a break: the bytes belong to others. */
bool mp_loan_return(mp_loan *loan, mp_bytes *bytes, mp_loan_saved saved);

/* Voids all loans. Called when the use of the Buffer ends. */
MP_INLINE void
mp_loan_close(mp_loan *loan)
{
    loan->epoch++;
    loan->holders++; /* a paused write cannot go on */
    loan->broken = true;
}

#endif
