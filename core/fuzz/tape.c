/*
 * A tape: its walk must end where and how mp_skip does. Its entries must be the containers that the reference finds.
 * With unique_keys it must refuse what comparing all keys with each other finds.
 */
#include "target.h"

#include "key.h"
#include "tape.h"

/* Grows by one entry at a time, in a block of exactly that size. */
static bool
grow_by_one(mp_tape *tape)
{
    size_t size = (tape->capacity + 1) * sizeof(mp_tape_entry);
    mp_tape_entry *entries = malloc(size);

    if (!entries) abort();
    if (tape->capacity) memcpy(entries, tape->entries, size - sizeof(mp_tape_entry));
    free(tape->entries);
    tape->entries = entries;
    tape->capacity++;
    return true;
}

static mp_tape
fresh(const uint8_t *bytes, size_t n, uint32_t max_depth, uint32_t keep)
{
    mp_tape tape;
    mp_status status = mp_tape_init(&tape, bytes, n, max_depth, keep);

    ENSURE(status == MP_OK, "%d", (int)status);
    tape.grow = grow_by_one;
    return tape;
}

static mp_reference
object_at(const uint8_t *bytes, size_t n, size_t at)
{
    return mp_reference_walk(bytes + at, bytes + n, MP_FUZZ_MAX, false);
}

static bool
container_p(const mp_plain_head *head)
{
    return (head->kind == MP_ARRAY || head->kind == MP_MAP) && head->n;
}

/* The places after the head at a place and after its payload. */
static size_t
next_head(const uint8_t *bytes, size_t n, size_t at, mp_plain_head *head)
{
    *head = mp_reference_head(bytes + at, bytes + n);
    at += head->size;
    return head->kind == MP_STR || head->kind == MP_BIN || head->kind == MP_EXT ? at + (size_t)head->n : at;
}

/* Checks every container in the part that was walked over. */
static void
entries_are_right(const mp_tape *tape, const uint8_t *bytes, size_t n)
{
    uint32_t entry = 0, behind;
    mp_plain_head head;
    size_t at, next;

    for (at = 0; at < tape->at; at = next) {
        mp_reference object;
        size_t end;

        next = next_head(bytes, n, at, &head);
        if (!container_p(&head)) continue;
        object = object_at(bytes, n, at);
        end = (size_t)(object.at - bytes);
        if (object.status == MP_OK && end <= tape->at && end - at < tape->keep) continue;
        ENSURE(entry < tape->count && tape->entries[entry].offset == at, "no entry of %zu", at);
        if (object.status == MP_OK && end <= tape->at) {
            ENSURE(tape->entries[entry].end == end, "%" PRIu32 " of %zu", tape->entries[entry].end, end);
            behind = tape->entries[entry].next;
            ENSURE(behind > entry && behind <= tape->count, "%" PRIu32, behind);
            ENSURE(behind == tape->count || tape->entries[behind].offset >= end, "%" PRIu32, behind);
            ENSURE(tape->entries[behind - 1].offset < end, "%" PRIu32, behind);
        } else {
            ENSURE(tape->entries[entry].end <= at, "%zu is open", at);
        }
        entry++;
    }
    ENSURE(entry == tape->count, "%" PRIu32 " of %" PRIu32 " entries", entry, tape->count);
}

static void
ends_as_skip(mp_tape *tape, const uint8_t *bytes, size_t n, bool valid)
{
    mp_reference expected = mp_reference_walk(bytes, bytes + n, tape->max_depth, valid);

    if (tape->status == MP_E_UNDECIDED) return;
    ENSURE(tape->status == expected.status, "%d, reference %d", (int)tape->status, (int)expected.status);
    if (expected.status == MP_E_TRUNCATED) return;
    ENSURE(tape->at == (size_t)(expected.at - bytes), "%" PRIu32, tape->at);
    ENSURE(expected.status != MP_OK || mp_tape_complete_p(tape), "%" PRIu32, tape->depth);
}

/* Asks for the ends of some of the containers, chosen by the bytes. */
static void
knows_ends(const uint8_t *bytes, size_t n, uint32_t max_depth, uint32_t keep, unsigned choice)
{
    mp_tape tape = fresh(bytes, n, max_depth, keep);
    size_t at, next, end;
    uint32_t near = 0;
    mp_plain_head head;

    mp_tape_finish(&tape);
    ends_as_skip(&tape, bytes, n, false);
    entries_are_right(&tape, bytes, n);
    for (at = 0; at < tape.at; at = next) {
        mp_reference object;
        mp_status status;

        next = next_head(bytes, n, at, &head);
        if (!container_p(&head) || (bytes[at] + at + choice) % 4 > choice) continue;
        object = object_at(bytes, n, at);
        if (object.status == MP_OK && (size_t)(object.at - bytes) > tape.at) object.status = tape.status;
        status = mp_tape_over(&tape, at, &near, &end);
        ENSURE((status == MP_OK) == (object.status == MP_OK), "%d, reference %d", (int)status, (int)object.status);
        if (status != MP_OK) continue;
        ENSURE(end == (size_t)(object.at - bytes), "%zu", end);
        if (choice % 2) next = end;
    }
    free(tape.entries);
}

/* The open containers must be those around the place where it ended, with the right counts of objects. */
static void
knows_the_way_to(const uint8_t *bytes, size_t n)
{
    mp_tape tape = fresh(bytes, n, MP_FUZZ_MAX, MP_TAPE_KEEP_NONE);
    uint32_t i, place;

    mp_tape_finish(&tape);
    for (i = 0; i < tape.depth; i++) {
        mp_plain_head head = mp_reference_head(bytes + tape.entries[i].offset, bytes + n);
        size_t at = tape.entries[i].offset + head.size;

        for (place = mp_tape_place(&tape, i); place; place--) at = (size_t)(object_at(bytes, n, at).at - bytes);
        ENSURE(at == (i + 1 < tape.depth ? tape.entries[i + 1].offset : tape.at), "%zu", at);
    }
    free(tape.entries);
}

/* Checks UTF-8 and timestamps, then limits that the bytes choose. */
static void
checks_as_walks_do(const uint8_t *bytes, size_t n, uint32_t max_depth)
{
    static uint64_t left[MP_FUZZ_MAX];
    mp_check checks = {.limits = MP_LIMITS_NONE, .utf8 = true, .timestamps = true};
    mp_tape tape = fresh(bytes, n, max_depth, MP_TAPE_KEEP);
    const uint8_t *p = bytes;
    mp_status status;
    mp_walk walk;

    tape.checks = &checks;
    mp_tape_finish(&tape);
    ends_as_skip(&tape, bytes, n, true);
    free(tape.entries);

    checks = MP_CHECK_NONE;
    checks.limits = (mp_limits){bytes[0], bytes[n / 5] % 16, bytes[n / 4] % 16, bytes[n / 3] % 64, bytes[n / 2] % 32};
    tape = fresh(bytes, n, MP_FUZZ_MAX, MP_TAPE_KEEP);
    tape.checks = &checks;
    mp_walk_init(&walk, left, MP_FUZZ_MAX);
    walk.objects = 1;
    status = mp_skip_limited(&walk, &p, bytes + n, &checks.limits);
    if (mp_tape_finish(&tape) != MP_E_UNDECIDED) ENSURE(tape.status == status, "%d, skip %d", tape.status, status);
    if (tape.status == status && status != MP_E_TRUNCATED) ENSURE(tape.at == (size_t)(p - bytes), "%" PRIu32, tape.at);
    free(tape.entries);
}

/* True if two strs or two bins have the same bytes, or a str and a bin the same ASCII bytes. */
static bool
same_strings_p(const mp_plain_head *a, const uint8_t *p, const mp_plain_head *b, const uint8_t *q)
{
    size_t i;

    if (a->n != b->n) return false;
    for (i = 0; i < a->n; i++) {
        if (p[a->size + i] != q[b->size + i]) return false;
        if (a->kind != b->kind && p[a->size + i] > 0x7f) return false;
    }
    return true;
}

static double
float_at(const mp_plain_head *head)
{
    return head->kind == MP_FLOAT32 ? (double)mp_float_of_bits((uint32_t)head->n) : mp_double_of_bits(head->n);
}

static bool
string_p(const mp_plain_head *head)
{
    return head->kind == MP_STR || head->kind == MP_BIN;
}

static bool
float_p(const mp_plain_head *head)
{
    return head->kind == MP_FLOAT32 || head->kind == MP_FLOAT64;
}

static bool
integer_p(const mp_plain_head *head)
{
    return head->kind == MP_FIXINT || head->kind == MP_INT || head->kind == MP_UINT;
}

static bool
same_keys_p(const uint8_t *bytes, size_t n, size_t x, size_t y)
{
    mp_plain_head a = mp_reference_head(bytes + x, bytes + n), b = mp_reference_head(bytes + y, bytes + n);

    if (string_p(&a) && string_p(&b)) return same_strings_p(&a, bytes + x, &b, bytes + y);
    if (float_p(&a) && float_p(&b)) return !(float_at(&a) < float_at(&b)) && !(float_at(&a) > float_at(&b));
    if (integer_p(&a) && integer_p(&b)) {
        return a.n == b.n && ((a.kind == MP_UINT) == (b.kind == MP_UINT) || a.n <= INT64_MAX);
    }
    return a.kind == b.kind;
}

typedef struct {
    mp_status status;
    size_t blame;
} refusal;

/* The status of a key by itself. */
static mp_status
odd_key(const uint8_t *bytes, size_t n, size_t at)
{
    mp_plain_head head = mp_reference_head(bytes + at, bytes + n);

    if (head.kind == MP_EXT || head.kind == MP_ARRAY || head.kind == MP_MAP) return MP_E_UNDECIDED;
    return float_p(&head) && float_at(&head) != float_at(&head) ? MP_E_NAN_KEY : MP_OK;
}

/* True if one of n keys from a place on equals the key at another place. */
static bool
among_p(const uint8_t *bytes, size_t n, size_t from, uint64_t count, size_t key)
{
    while (count--) {
        if (same_keys_p(bytes, n, from, key)) return true;
        from = (size_t)(object_at(bytes, n, from).at - bytes);
        from = (size_t)(object_at(bytes, n, from).at - bytes);
    }
    return false;
}

/* The first error of the keys in the object at a place. A duplicate key is found where its map ends. */
static refusal
keys_in(const uint8_t *bytes, size_t n, size_t *at)
{
    size_t start = *at, first;
    refusal inside = {MP_OK, 0};
    bool twice = false;
    mp_plain_head head;
    uint64_t i;

    *at = next_head(bytes, n, *at, &head);
    if (!container_p(&head)) return inside;
    first = *at;
    for (i = 0; i < head.n * (head.kind == MP_MAP ? 2 : 1); i++) {
        if (head.kind == MP_MAP && i % 2 == 0) {
            inside = (refusal){odd_key(bytes, n, *at), *at};
            if (inside.status != MP_OK) return inside;
            twice = twice || among_p(bytes, n, first, i / 2, *at);
        }
        inside = keys_in(bytes, n, at);
        if (inside.status != MP_OK) return inside;
    }
    return twice ? (refusal){MP_E_DUPLICATE_KEY, start} : inside;
}

static void
refuses_keys(const uint8_t *bytes, size_t n, mp_noted_keys *noted)
{
    mp_tape tape = fresh(bytes, n, MP_FUZZ_MAX, MP_TAPE_KEEP);
    mp_check checks = MP_CHECK_NONE;
    refusal expected;
    size_t at = 0;

    checks.unique_keys = true;
    checks.noted = noted;
    tape.checks = &checks;
    mp_tape_finish(&tape);
    if (mp_reference_walk(bytes, bytes + n, MP_FUZZ_MAX, false).status == MP_OK) {
        expected = keys_in(bytes, n, &at);
        ENSURE(tape.status == expected.status, "%d, reference %d", (int)tape.status, (int)expected.status);
        if (tape.status != MP_OK) ENSURE(mp_tape_blame(&tape) == expected.blame, "%zu", mp_tape_blame(&tape));
        else entries_are_right(&tape, bytes, n);
    }
    free(tape.entries);
}

void
mp_fuzz_tape(const uint8_t *input, size_t n)
{
    static mp_noted_keys noted[MP_CHECK_NOTED];
    const uint8_t *bytes;
    uint32_t max_depth, keep;
    unsigned choice;

    if (n == 0 || n > 1024) return;
    bytes = mp_at_the_edge(input, n);
    max_depth = bytes[n - 1] % 64u;
    keep = 1 + bytes[n / 2] % MP_TAPE_KEEP;
    for (choice = 0; choice < 4; choice++) knows_ends(bytes, n, max_depth, keep, choice);
    knows_the_way_to(bytes, n);
    checks_as_walks_do(bytes, n, max_depth);
    refuses_keys(bytes, n, NULL);
    refuses_keys(bytes, n, noted);
}
