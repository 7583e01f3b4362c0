/* The state machine that says who may use a Buffer. Its diagram is in loan.h. */
#include "buffer/loan.h"

#include "base/error.h"
#include "base/user_code.h"

void
mp_loan_settle(mp_loan *loan, mp_bytes *bytes)
{
    if (MP_LIKELY(!loan->mark)) return;
    mp_bytes_truncate(bytes, loan->mark - 1);
    loan->mark = 0;
    loan->holders++; /* a paused write is settled, even if the next one has begun at the same mark */
}

/* True if the write of that epoch is still running. */
static bool
same_write_p(const mp_loan *loan, uint32_t epoch)
{
    return loan->epoch == epoch && (loan->state == MP_LENT || mp_loan_taken_p(loan));
}

/* Voids all nested loans. The next settle then drops all bytes that were written since the outermost loan. */
static void
break_all(mp_loan *loan)
{
    mp_loan_close(loan);
    if (loan->depth) loan->mark = loan->outer_mark;
    loan->thread = 0;
    loan->depth = 0;
    loan->state = MP_IDLE;
}

/* True if an exception ended the call, and what it did to the bytes is unknown. */
static bool
torn_p(const mp_taken_call *taken)
{
    if (MP_LIKELY(!taken->may_tear)) return false;
    return !taken->refusal || !RTEST(rb_obj_is_kind_of(mp_user_error(), taken->refusal));
}

static VALUE
release_own(VALUE arg)
{
    mp_taken_call *taken = (mp_taken_call *)arg;
    mp_loan *loan = taken->loan;

    if (!same_write_p(loan, taken->epoch)) return Qnil;
    mp_loan_release(loan);
    if (torn_p(taken)) loan->state = MP_TORN;
    taken->released = true;
    return Qnil;
}

static VALUE
call_and_return(VALUE arg)
{
    mp_taken_call *taken = (mp_taken_call *)arg;
    VALUE result = taken->call(taken->arg);

    taken->may_tear = false;
    return result;
}

/*
 * rb_ensure costs a tenth of flushing a short message, but nothing else distinguishes an io that raised from one that
 * is still writing.
 */
VALUE
mp_loan_call_taken(mp_taken_call *taken)
{
    VALUE result;

    if (taken->may_tear) taken->loan->epoch++;
    taken->epoch = taken->loan->epoch;
    mp_loan_take(taken->loan);
    taken->released = false;
    result = rb_ensure(call_and_return, (VALUE)taken, release_own, (VALUE)taken);
    return MP_LIKELY(taken->released) ? result : Qundef;
}

mp_loan_saved
mp_loan_lend(mp_loan *loan, uint32_t depth)
{
    mp_loan_saved saved = {
        .mark = loan->mark, .thread = loan->thread, .epoch = loan->epoch, .outer_depth = loan->depth};

    if (mp_loan_idle_p(loan)) loan->outer_mark = loan->mark;
    loan->mark = 0; /* the borrower's writes have their own begin and end */
    loan->thread = rb_thread_current();
    loan->depth = depth;
    saved.outer_holder = loan->holder;
    saved.holder = loan->holder = ++loan->holders;
    loan->state = MP_LENT;
    return saved;
}

bool
mp_loan_return(mp_loan *loan, mp_bytes *bytes, mp_loan_saved saved)
{
    if (!same_write_p(loan, saved.epoch)) return false; /* another write owns the Buffer now */
    if (loan->holder != saved.holder || mp_loan_taken_p(loan)) {
        break_all(loan);
        return false;
    }
    mp_loan_settle(loan, bytes);
    loan->mark = saved.mark;
    loan->thread = saved.thread;
    loan->depth = saved.outer_depth;
    loan->holder = saved.outer_holder;
    mp_loan_release(loan);
    return true;
}
