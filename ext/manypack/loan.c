/* The state machine that says who may use a Buffer. Its diagram is in loan.h. */
#include "loan.h"

#include "error.h"

void
mp_loan_settle(mp_loan *loan, mp_bytes *bytes)
{
    if (MP_LIKELY(!loan->mark)) return;
    mp_bytes_truncate(bytes, loan->mark - 1);
    loan->mark = 0;
}

typedef struct {
    mp_loan *loan;
    uint32_t epoch;
} taken_call;

static VALUE
release_unbroken(VALUE arg)
{
    const taken_call *call = (const taken_call *)arg;

    if (call->loan->epoch == call->epoch) mp_loan_release(call->loan);
    return Qnil;
}

VALUE
mp_loan_call_taken(mp_loan *loan, VALUE (*call)(VALUE), VALUE arg)
{
    taken_call taken = {.loan = loan, .epoch = loan->epoch};
    VALUE result;

    mp_loan_take(loan);
    result = rb_ensure(call, arg, release_unbroken, (VALUE)&taken);
    if (MP_UNLIKELY(loan->epoch != taken.epoch)) mp_raise_in_use("Packer");
    return result;
}

mp_loan_saved
mp_loan_lend(mp_loan *loan, uint32_t depth)
{
    mp_loan_saved saved = {
        .mark = loan->mark, .thread = loan->thread, .epoch = loan->epoch, .outer_depth = loan->depth, .depth = depth};

    if (mp_loan_idle_p(loan)) loan->outer_mark = loan->mark;
    loan->mark = 0; /* the borrower's writes begin and end by themselves */
    loan->thread = rb_thread_current();
    loan->depth = depth;
    loan->state = MP_LENT;
    return saved;
}

/* Voids all nested loans. What was written since the outermost one goes when the Buffer is settled. */
static void
break_all(mp_loan *loan)
{
    loan->epoch++;
    loan->mark = loan->outer_mark;
    loan->thread = 0;
    loan->depth = 0;
    loan->state = MP_IDLE;
}

bool
mp_loan_return(mp_loan *loan, mp_bytes *bytes, mp_loan_saved saved)
{
    if (loan->epoch != saved.epoch) return false; /* others have the Buffer */
    mp_loan_settle(loan, bytes);
    if (loan->state != MP_LENT || loan->depth != saved.depth) {
        break_all(loan);
        return false;
    }
    loan->mark = saved.mark;
    loan->thread = saved.thread;
    loan->depth = saved.outer_depth;
    mp_loan_release(loan);
    return true;
}
