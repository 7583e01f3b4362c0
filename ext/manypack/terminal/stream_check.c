/*
 * Internal.check_stream: walks over a stream in pieces and keeps none of them, so that even a single message may be
 * huge. Uses mp_split like parallel/splitter.c, which has to keep the bytes, because it hands them out in batches.
 */
#include "codec/codec.h"
#include "core/skip.h"

/*
 * call-seq: Internal.check_stream(codec) { |offset| bytes or nil } -> [messages, whole, passed, fine]
 *
 * Yields the offset at which the next piece has to start, until the block returns nil, or a piece that has no whole
 * head. Returns the number of complete messages, the offset of the end of the last one, the offset of the head to blame
 * or of the next byte to come, and true if nil came at the end of a message. The max_depth is that of the Codec.
 */
static VALUE
rb_internal_check_stream(VALUE self, VALUE codec)
{
    size_t max_depth = mp_unpack_max_depth(&mp_codec_get(codec)->options);
    uint64_t messages = 0, whole = 0, passed = 0, before;
    VALUE memory, piece;
    mp_status status;
    mp_walk walk;
    bool fine;

    mp_walk_init(&walk, ALLOCV_N(uint64_t, memory, max_depth), max_depth);
    do {
        const uint8_t *start;
        mp_run run;

        piece = rb_yield(ULL2NUM(before = passed));
        fine = NIL_P(piece) && whole == passed;
        if (NIL_P(piece)) break;
        StringValue(piece);
        start = (const uint8_t *)RSTRING_PTR(piece);
        run = (mp_run){.at = start, .cut = start};
        status = mp_split(&walk, &run, start + RSTRING_LEN(piece), UINT64_MAX, UINT64_MAX);
        messages += run.objects;
        if (run.objects) whole = passed + (uint64_t)(run.cut - start);
        passed += (uint64_t)(run.at - start);
        RB_GC_GUARD(piece);
    } while (status == MP_E_TRUNCATED && passed > before);
    ALLOCV_END(memory);
    return rb_ary_new_from_args(4, ULL2NUM(messages), ULL2NUM(whole), ULL2NUM(passed), fine ? Qtrue : Qfalse);
}

void
Init_manypack_stream_check(void)
{
    MP_DEFINE_INTERNAL("check_stream", rb_internal_check_stream, 1);
}
