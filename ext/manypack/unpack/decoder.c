/* The slow paths of a decoder: grows the value stack, protects the source from user code, and raises errors. */
#include "unpack/decoder.h"

MP_NOINLINE void
mp_decoder_grow_stack(mp_decoder *d, size_t count)
{
    mp_value_stack_move(&d->stack, count, d->stack.capacity * 2);
}

const uint8_t *
mp_decoder_own_source(mp_decoder *d, const uint8_t *p)
{
    const uint8_t *old = d->start;
    size_t at;

    d->may_call = true;
    if (d->source_own || OBJ_FROZEN(d->source)) return p;
    at = (size_t)(old - (const uint8_t *)RSTRING_PTR(d->source));
    d->source = rb_str_new_frozen(d->source);
    d->start = (const uint8_t *)RSTRING_PTR(d->source) + at;
    d->end = d->start + (d->end - old);
    d->at = d->start + (d->at - old);
    return d->start + (p - old);
}

mp_message
mp_decoder_message(const mp_decoder *d)
{
    if (d->in_body) return MP_NO_MESSAGE;
    return mp_message_of(d->source, d->start, d->end, d->before, d->origin, d->message);
}

mp_blame
mp_decoder_blame(const mp_decoder *d, const uint8_t *at)
{
    mp_blame blame = mp_blame_of(d->start, at, d->end, d->origin);

    blame.message = mp_decoder_message(d);
    blame.limits = &d->codec->options.limits;
    blame.objects = d->tree.objects;
    blame.of_gem = d->codec->options.of_gem;
    return blame;
}

void
mp_decoder_raise(mp_decoder *d, mp_status status, const uint8_t *at)
{
    bool unknown = status == MP_E_BAD_HEAD || status == MP_E_DEPTH || status == MP_E_KEY_DEPTH;

    /* Decoding cannot continue above a limit, or if the start of the next object is unknown. */
    if (unknown || mp_limit_p(status)) d->committed = false;
    mp_raise_status(status, mp_decoder_blame(d, at));
}
