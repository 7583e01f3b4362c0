/*
 * Who may use a Buffer. User code runs in the middle of three things that use one: a write of a Packer, a read of an
 * Unpacker, and the writing of its bytes to an io. It may come back to the Buffer then, by the same Thread or another.
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
 *   IDLE    anyone    anyone    anyone       nobody is in the middle of anything
 *   LENT    anyone    borrower  refused      user code writes an object to the Packer, which may lend again, nested
 *   TAKEN   refused   refused   refused      user code runs and a machine has bytes that do not count yet, or have gone
 *   TORN    anyone    refused   by clear     nobody knows which of its bytes have gone to an io, or come from one
 *
 *   event           fired by
 *   start           the encoder, when a write of the Packer starts; the outermost one begins an epoch
 *   begin           the encoder, before it commits part of a write that may still fail
 *   end             the Packer, when the whole write counts
 *   settle          whoever uses the Buffer next. A write that began and did not end has failed: its part goes
 *   lend, return    the encoder, around user code that writes to the Packer
 *   take, release   the encoder, around user code that does not write; an Unpacker that decodes; a Buffer and its io.
 *                   The Buffer of an Unpacker for the body of an ext is taken when it is made and never released
 *   tear, mend      an io whose write ends by an exception, and no memory for what an io gave; clear, which drops all
 *                   bytes
 *   break           a return that finds a write inside the loan unfinished
 *   close           a Packer, or an Unpacker for a body, whose block or handler ends. The state stays: only the epoch
 *                   changes, so that no loan or call from before returns
 *
 * The borrower is the Thread that the Packer was lent to. Its methods refuse other Threads; those of the Buffer, which
 * only append, do not. A refusal is a RuntimeError.
 *
 * A Fiber can stop inside a write for ever, or go on after the writes around it have returned. A break therefore voids
 * the nested loans all together: what was written since the outermost one is settled, the Buffer is IDLE, and a write
 * that goes on under an old epoch must not touch the Buffer.
 *
 * callcc can also make user code return again, when the write that called it has gone on or ended: it restores the C
 * stack, but not the Buffer. Each lend and take therefore has a number. A return or release with a number that is not
 * the current one is a break if the same outermost write is not over; otherwise it touches nothing. Either way the
 * write that it returns to raises. The epoch tells outermost writes apart.
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
    size_t mark;       /* after begin: the bytes that there were before, plus one; otherwise 0 */
    size_t outer_mark; /* that of the write which lent first */
    VALUE thread;      /* the borrower; alive as long as it has the loan, and only compared */
    uint32_t epoch;    /* counts outermost writes, writes to an io, breaks and closes */
    uint32_t holder;   /* the number of the innermost lend or take */
    uint32_t holders;  /* the last number that was given */
    uint32_t depth : 24, state : 7; /* levels of nesting open around the borrower's writes, 0 unless lent; the state */
    uint32_t broken : 1;            /* it was broken or closed before: a suspended Fiber may want to go on */
} mp_loan;

/* What a loan changes, for its return. */
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

/* True if the current Thread may write to the Packer, unless it is taken. */
MP_INLINE bool
mp_loan_writer_p(const mp_loan *loan)
{
    return MP_LIKELY(loan->state != MP_LENT) || loan->thread == rb_thread_current();
}

/* True if a new owner may have the Buffer: nobody is at work on it, and no Fiber is left that would go on. */
MP_INLINE bool
mp_loan_free_p(const mp_loan *loan)
{
    return mp_loan_idle_p(loan) && !loan->broken;
}

/* A write starts, in which user code may run. */
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

/* Take a Buffer that is not taken, and put it back, for callers that know by other means that they still hold it. */
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

/* A call with the Buffer taken, on the caller's C stack. */
typedef struct {
    mp_loan *loan;
    VALUE (*call)(VALUE);
    VALUE arg;
    uint32_t epoch, holder, outer_holder;
    bool may_tear; /* an exception makes the Buffer TORN */
    bool released;
} mp_taken_call;

/*
 * Calls a function that may run user code, with the Buffer taken. The struct is on the caller's stack. Qundef if the
 * Buffer belongs to others now: a loan around the caller broke meanwhile, or the call has returned before.
 */
VALUE mp_loan_call_taken(mp_taken_call *taken);

/* From IDLE. */
MP_INLINE void
mp_loan_tear(mp_loan *loan)
{
    loan->state = MP_TORN;
}

/* From TORN to IDLE. The caller drops all bytes. */
MP_INLINE void
mp_loan_mend(mp_loan *loan)
{
    loan->state = MP_IDLE;
}

/* Lends at that depth, above 0, a Buffer that is not taken, in a write that began. */
mp_loan_saved mp_loan_lend(mp_loan *loan, uint32_t depth);

/* Ends what mp_loan_lend began. false after a break or on a second return: the bytes belong to others. */
bool mp_loan_return(mp_loan *loan, mp_bytes *bytes, mp_loan_saved saved);

/* Voids all loans, when the use of the Buffer ends. */
MP_INLINE void
mp_loan_close(mp_loan *loan)
{
    loan->epoch++;
    loan->broken = true;
}

#endif
