/* Tapes that suites share: in blocks of exactly their size, so that a sanitizer notices any over-read. */
#include "tapes.h"

bool
mp_grow_by_one(mp_tape *tape)
{
    mp_tape_entry *entries = malloc((tape->capacity + 1) * sizeof(mp_tape_entry));

    if (!entries) abort();
    if (tape->capacity) memcpy(entries, tape->entries, tape->capacity * sizeof(mp_tape_entry));
    free(tape->entries);
    tape->entries = entries;
    tape->capacity++;
    return true;
}

bool
mp_grow_by_many(mp_tape *tape)
{
    uint32_t capacity = tape->capacity * 2 + 1000;
    mp_tape_entry *entries = realloc(tape->entries, capacity * sizeof(mp_tape_entry));

    if (!entries) abort();
    tape->entries = entries;
    tape->capacity = capacity;
    return true;
}

bool
mp_refuse_to_grow(mp_tape *tape)
{
    (void)tape;
    return false;
}

mp_tape
mp_fresh_tape(const uint8_t *bytes, size_t n, uint32_t max_depth, uint32_t keep)
{
    mp_tape tape;

    CHECK(mp_tape_init(&tape, bytes, n, max_depth, keep) == MP_OK, "%zu", n);
    tape.grow = mp_grow_by_one;
    return tape;
}

/* Over a copy of the bytes that ends where a heap block ends. */
static mp_status
status_with_room(const uint8_t *bytes, size_t n, const mp_check *checks, bool room, size_t *blame)
{
    uint8_t *block = mp_exact(bytes, n);
    mp_tape tape = mp_fresh_tape(block, n, 8, MP_TAPE_KEEP);
    mp_status status;
    uint32_t at;

    if (room) tape.grow = mp_grow_by_many;
    tape.checks = checks;
    status = mp_tape_finish(&tape);
    at = tape.at;
    CHECK(mp_tape_finish(&tape) == status && tape.at == at, "it stays so");
    *blame = mp_tape_blame(&tape);
    free(tape.entries);
    free(block);
    return status;
}

mp_status
mp_status_of_tape(const uint8_t *bytes, size_t n, const mp_check *checks, size_t *blame)
{
    size_t strided;
    mp_status status = status_with_room(bytes, n, checks, false, blame);

    CHECK(status_with_room(bytes, n, checks, true, &strided) == status, "%d", (int)status);
    CHECK(strided == *blame, "%zu and %zu", strided, *blame);
    return status;
}
