/*
 * Searches the messages of a stream for a Path, for the terminal. Returns values as bytes, so that nothing is built.
 * The messages are a part of a String: bytes, start, size.
 */
#include "base/options.h"
#include "path/condition.h"
#include "path/search.h"
#include "terminal/part.h"

/* Lives on the C stack. */
typedef struct {
    mp_part part;
    VALUE steps;
    uint64_t max_looks;
    size_t at, end; /* the next message, and the end of the last one */
    uint64_t count; /* how many values the last search has found */
    mp_peek peek;
    mp_program program;
    mp_search_shared shared;
} stream_search;

/* The arguments are those of Internal.search_bytes. */
static void
search_init(stream_search *s, const VALUE *argv)
{
    s->part = mp_part_of(argv[0], argv[1], argv[2]);
    s->at = (size_t)(s->part.start - (const uint8_t *)RSTRING_PTR(s->part.bytes));
    s->end = s->at + (size_t)(s->part.end - s->part.start);
    s->steps = argv[4];
    s->max_looks = mp_large(argv[5], "max_looks");
    mp_program_init(&s->program, s->steps);
    mp_peek_init(&s->peek, s->part.bytes, argv[3], 0);
    s->peek.in_turn = true;
}

static void
search_end(stream_search *s)
{
    mp_peek_end(&s->peek);
    mp_program_end(&s->program);
    RB_GC_GUARD(s->part.bytes);
    RB_GC_GUARD(s->steps);
}

/* A search in the next message. */
static mp_search
search_new(stream_search *s)
{
    if (s->program.remembers) {
        mp_program_end(&s->program);
        mp_program_init(&s->program, s->steps);
    }
    mp_peek_refresh(&s->peek);
    s->shared = (mp_search_shared){.looks = s->max_looks, .max_looks = s->max_looks};
    return mp_search_new(&s->peek, 0, s->at, &s->program, &s->shared);
}

/*
 * Searches the next message. sink, found and scalar: see mp_search. Returns true if the search was stopped before the
 * end of the message.
 */
static bool
search_next(stream_search *s, mp_sink sink, VALUE found, const mp_key *scalar)
{
    size_t start = s->at, end;
    mp_search search = search_new(s);

    search.sink = sink;
    search.found = found;
    search.scalar = scalar;
    end = mp_search_from(&search, start, 0, true, NULL);
    s->count = search.count;
    s->at = search.stopped ? mp_peek_over(&s->peek, start) : end;
    return search.stopped;
}

/* True if the condition of the program's filter is true of the next message. */
static bool
true_of_next_p(stream_search *s)
{
    mp_search search = search_new(s); /* it may make the program, and so the filter, again */
    mp_row row;
    bool result = mp_condition_true_over_p(&search, mp_program_filter(&s->program), s->at, &row);

    s->at = row.end;
    return result;
}

/* The head of an array with a 32-bit count, and its size. */
enum { GROUP_HEAD = 0xdd, GROUP_HEAD_SIZE = 5 };

/* Writes the count of the array whose head is at `start`. Removes the array if it is empty. */
static void
close_group(VALUE found, long start, uint64_t n)
{
    if (n) mp_put_head32((uint8_t *)RSTRING_PTR(found) + start, GROUP_HEAD, (uint32_t)n);
    else rb_str_set_len(found, start);
}

/* True if a query ends in names and indices, so that its values are rows. */
static bool
rows_p(const mp_query *query)
{
    const mp_segment *last = query->segments + query->count - 1;
    uint32_t i;

    if (!query->count || last->descendant) return false;
    for (i = 0; i < last->count; i++) {
        if (last->selectors[i].kind > MP_SELECT_INDEX) return false;
    }
    return true;
}

/*
 * call-seq: Internal.search_bytes(bytes, start, size, codec, steps, max_looks, grouped = false) -> String
 *
 * Returns the bytes of all values that the steps of a Path find in the messages, one after the other. If grouped, they
 * are in an array for each message that has some; if grouped is :rows, in an array for each container: the value, or
 * nil, that each name and index of the last segment finds. Raises a DecodeError for bytes that are no messages.
 */
static VALUE
rb_internal_search_bytes(int argc, VALUE *argv, VALUE self)
{
    static const char head[GROUP_HEAD_SIZE]; /* close_group fills it in */
    VALUE found = rb_str_buf_new(0);
    stream_search s;
    bool grouped, rows;

    rb_check_arity(argc, 6, 7);
    rows = argc > 6 && RB_SYMBOL_P(argv[6]);
    grouped = argc > 6 && RTEST(argv[6]) && !rows;
    search_init(&s, argv);
    if (rows && !rows_p(&s.program.query)) rb_raise(rb_eArgError, "the path ends in no names");
    while (s.at < s.end) {
        long start = RSTRING_LEN(found);

        if (grouped) rb_str_cat(found, head, GROUP_HEAD_SIZE);
        search_next(&s, rows ? MP_SINK_ROWS : MP_SINK_BYTES, found, NULL);
        if (grouped) close_group(found, start, s.count);
    }
    search_end(&s);
    return found;
}

/* Reads a frozen String as a key, which refers to its bytes. ArgumentError unless it is one packed scalar. */
static mp_key
scalar_key(VALUE scalar)
{
    const uint8_t *start = (const uint8_t *)RSTRING_PTR(scalar), *end = start + RSTRING_LEN(scalar), *p;
    mp_head head;

    if (mp_head_over(start, end, &head, &p) != MP_OK || p != end) rb_raise(rb_eArgError, "expected a packed scalar");
    return mp_key_read(start, end);
}

/*
 * call-seq: Internal.search_messages(bytes, start, size, codec, steps, max_looks, wanted) -> String
 *
 * Returns the bytes of the messages in which the steps of a Path find a value that is equal to the packed scalar
 * `wanted` or, for nil, is neither nil nor false. Numbers of any width are equal. For true, the steps are one filter,
 * whose @ is the message: returns the messages of which it is true. Raises a DecodeError for bytes that are no message.
 */
static VALUE
rb_internal_search_messages(int argc, VALUE *argv, VALUE self)
{
    VALUE found = rb_str_buf_new(0), wanted;
    stream_search s;
    bool filter;
    mp_key key;

    rb_check_arity(argc, 7, 7);
    wanted = argv[6];
    filter = wanted == Qtrue;
    if (!filter && !NIL_P(wanted)) key = scalar_key(wanted = rb_str_new_frozen(StringValue(wanted)));
    search_init(&s, argv);
    if (filter && !mp_program_filter(&s.program)) rb_raise(rb_eTypeError, "these are not the steps of one filter");
    while (s.at < s.end) {
        size_t start = s.at;
        bool chosen = filter ? true_of_next_p(&s)
                             : search_next(&s, MP_SINK_WANTED, 0, NIL_P(wanted) ? NULL : &key);

        if (chosen) rb_str_cat(found, RSTRING_PTR(s.part.bytes) + start, (long)(s.at - start));
    }
    search_end(&s);
    RB_GC_GUARD(wanted);
    return found;
}

void
Init_manypack_stream_search(void)
{
    MP_DEFINE_INTERNAL("search_bytes", rb_internal_search_bytes, -1);
    MP_DEFINE_INTERNAL("search_messages", rb_internal_search_messages, -1);
}
