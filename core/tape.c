/*
 * The walk that writes a tape. The entries of open containers are its stack; when a container is closed, its stack
 * entry becomes its tape entry. Walks like skip.c, but keeps an entry for each container that is not small, so that no
 * reader walks over one twice. For that it needs all bytes in one block, and memory for the entries.
 */
#include "tape.h"

#include "skip.h"
#include "unique.h"
#include "utf8.h"
#include "wire.h"

mp_status
mp_tape_init(mp_tape *tape, const uint8_t *bytes, size_t size, uint32_t max_depth, uint32_t keep)
{
    *tape = (mp_tape){.bytes = bytes, .size = (uint32_t)size, .max_depth = max_depth, .keep = keep, .objects = 1};
    if (tape->size != size) tape->status = MP_E_TAPE_RANGE;
    return tape->status;
}

/* More objects than a message with a tape can have bytes. Even, so that keys and values alternate. */
#define ENDLESS (UINT32_MAX - 1)

/* The number of objects as an entry holds it, at most ENDLESS: no container with so many ends inside the message. */
MP_INLINE uint32_t
held_objects(uint64_t held)
{
    return held < ENDLESS ? (uint32_t)held : ENDLESS;
}

/* Closes the innermost container at the offset where the walk is. Its entry stays if it is large enough. */
static void
container_close(mp_tape *tape)
{
    mp_tape_entry *entry = &tape->entries[tape->innermost];

    tape->innermost = entry->end;
    tape->depth--;
    if (tape->at - entry->offset < tape->keep) {
        tape->count--;
    } else {
        entry->end = tape->at;
        entry->next = tape->count;
    }
}

/*
 * Makes room for n unused entries, or returns MP_E_NO_ROOM. MP_E_NO_ROOM is also the status while grow runs, because
 * grow may not return.
 */
static mp_status
make_room(mp_tape *tape, uint32_t n)
{
    mp_status status = tape->status;

    if (MP_LIKELY(tape->capacity - tape->count >= n)) return MP_OK;
    tape->status = MP_E_NO_ROOM;
    while (tape->capacity - tape->count < n) {
        if (!tape->grow(tape)) return MP_E_NO_ROOM;
    }
    tape->status = status;
    return MP_OK;
}

static mp_kind
kind_at(const mp_tape *tape, uint32_t offset)
{
    return (mp_kind)MP_WIRE[tape->bytes[offset]].kind;
}

/* True if the innermost container is a map and a key comes next. */
static bool
key_next_p(const mp_tape *tape)
{
    const mp_tape_entry *entry = &tape->entries[tape->innermost];

    return tape->depth && entry->next % 2 == 0 && kind_at(tape, entry->offset) == MP_MAP;
}

/* Moves *at past an object that the walk has passed. */
static mp_status
skip_passed(mp_tape *tape, size_t *at, uint32_t *near)
{
    const uint8_t *p = tape->bytes + *at, *end = tape->bytes + tape->at;
    mp_head head = {.kind = MP_NEVER};
    uint64_t held;

    if (mp_ahead_p(p, end) && mp_step_over(&p, end, &held) == MP_STEP_LEAF) {
        *at = (size_t)(p - tape->bytes);
        return MP_OK;
    }
    mp_head_read(tape->bytes + *at, end, &head);
    if (mp_declared_objects(head.kind, head.n)) return mp_tape_over(tape, *at, near, at);
    *at = (size_t)(head.payload - tape->bytes) + mp_payload_size(&head);
    return MP_OK;
}

/* Makes entries for the keys of a map with n pairs, whose first object is at `at`. */
static mp_status
collect_keys(mp_tape *tape, mp_tape_entry *keys, size_t at, uint32_t n)
{
    uint32_t near = tape->innermost + 1;
    mp_status status = MP_OK;

    while (n-- && status == MP_OK) {
        size_t from = at;

        status = skip_passed(tape, &at, &near);
        if (status != MP_OK) break;
        *keys++ = mp_unique_entry(tape->bytes, from, at);
        status = skip_passed(tape, &at, &near);
    }
    return status;
}

/* MP_E_DUPLICATE_KEY if the innermost container, which is complete, is a map with the same key twice. */
static MP_NOINLINE mp_status
check_unique_keys(mp_tape *tape)
{
    mp_head head = {.kind = MP_NEVER};
    mp_status status;
    size_t first;

    mp_head_read(tape->bytes + tape->entries[tape->innermost].offset, tape->bytes + tape->at, &head);
    if (head.kind != MP_MAP || head.n < 2) return MP_OK;
    first = (size_t)(head.payload - tape->bytes);
    status = make_room(tape, head.n);
    if (status == MP_OK) status = collect_keys(tape, tape->entries + tape->count, first, head.n);
    if (status != MP_OK) return status;
    return mp_unique_twice_p(tape->bytes, tape->entries + tape->count, head.n) ? MP_E_DUPLICATE_KEY : MP_OK;
}

/* Takes one object from the objects still to come, and closes containers that are complete. */
static mp_status
object_passed(mp_tape *tape)
{
    mp_status status = MP_OK;

    while (status == MP_OK && tape->depth && !--tape->entries[tape->innermost].next) {
        if (tape->checks && tape->checks->unique_keys) status = check_unique_keys(tape);
        if (status == MP_OK) container_close(tape);
    }
    return status;
}

/* The notes on the keys of a map at a depth, its own level included; NULL if keys are not noted there. */
MP_INLINE mp_noted_keys *
noted_keys(const mp_tape *tape, uint32_t depth)
{
    mp_noted_keys *noted = tape->checks ? tape->checks->noted : NULL;

    return noted && depth <= MP_CHECK_NOTED ? &noted[depth - 1] : NULL;
}

/* Opens a container. There must be room for its entry. */
static mp_status
container_open(mp_tape *tape, const mp_head *head)
{
    uint32_t outer = tape->depth ? tape->innermost : 0;

    if (tape->depth == tape->max_depth) return MP_E_DEPTH;
    tape->entries[tape->count] = (mp_tape_entry){
        .offset = tape->at,
        .end = outer,
        .next = held_objects(mp_declared_objects(head->kind, head->n)),
    };
    tape->innermost = tape->count++;
    tape->depth++;
    tape->at = (uint32_t)(head->payload - tape->bytes);
    if (noted_keys(tape, tape->depth)) mp_noted_keys_start(noted_keys(tape, tape->depth), head->n);
    return MP_OK;
}

/* Moves past one head and its payload, if any. */
static mp_status
head_passed(mp_tape *tape)
{
    const uint8_t *end = tape->bytes + tape->size;
    mp_head head = {.kind = MP_NEVER};
    mp_status status = make_room(tape, 1);

    if (status == MP_OK) status = mp_head_read(tape->bytes + tape->at, end, &head);
    if (status == MP_OK && tape->checks) {
        status = mp_check_head(tape->checks, &head, end, key_next_p(tape), &tape->objects);
    }
    if (status != MP_OK) return status;
    if (mp_declared_objects(head.kind, head.n)) return container_open(tape, &head);
    if (!mp_payload_present_p(head.payload, head.n, end)) return MP_E_TRUNCATED;
    tape->at = (uint32_t)(head.payload - tape->bytes) + head.n;
    return object_passed(tape);
}

/* The state of a stride. Has few fields, because a step would wait for those that do not fit in registers. */
typedef struct {
    const uint8_t *p;
    mp_tape_entry *entry, *unused; /* of the innermost container; the first free */
    uint32_t left, depth_left;
    bool map;                      /* only in a checked stride: the innermost container is a map */
    mp_noted_keys *noted;          /* only in a checked stride: notes on its keys; or NULL */
} strider;

/* Sets `map` and `noted` for the innermost container. */
MP_INLINE void
strider_look(strider *s, const mp_tape *tape)
{
    s->map = kind_at(tape, s->entry->offset) == MP_MAP;
    s->noted = s->map ? noted_keys(tape, tape->max_depth - s->depth_left) : NULL;
}

MP_INLINE strider
strider_of(const mp_tape *tape)
{
    return (strider){.p = tape->bytes + tape->at,
                     .entry = tape->entries + tape->innermost,
                     .unused = tape->entries + tape->count,
                     .left = tape->entries[tape->innermost].next,
                     .depth_left = tape->max_depth - tape->depth};
}

/* Stores the state of the stride in the tape, except `left`, which belongs in the innermost entry. */
MP_INLINE void
strider_settle(const strider *s, mp_tape *tape)
{
    tape->innermost = (uint32_t)(s->entry - tape->entries);
    tape->at = (uint32_t)(s->p - tape->bytes);
    tape->count = (uint32_t)(s->unused - tape->entries);
    tape->depth = tape->max_depth - s->depth_left;
}

/* Like container_open. */
MP_INLINE void
strider_open(strider *s, const mp_tape *tape, const uint8_t *head, uint32_t left)
{
    s->entry->next = s->left;
    *s->unused = (mp_tape_entry){.offset = (uint32_t)(head - tape->bytes),
                                 .end = (uint32_t)(s->entry - tape->entries)};
    s->entry = s->unused++;
    s->depth_left--;
    s->left = left;
}

/* Like container_close, but returns the entry of the container around it, which becomes the innermost. */
MP_INLINE mp_tape_entry *
strider_close(strider *s, const mp_tape *tape)
{
    mp_tape_entry *entry = s->entry, *outer = tape->entries + entry->end;

    s->depth_left++;
    if ((uint32_t)(s->p - tape->bytes) - entry->offset < tape->keep) {
        s->unused--;
    } else {
        entry->end = (uint32_t)(s->p - tape->bytes);
        entry->next = (uint32_t)(s->unused - tape->entries);
    }
    return outer;
}

/* True if the innermost container is a map and the next object is a key. */
MP_INLINE bool
strider_key_p(const strider *s)
{
    return s->map && s->left % 2 == 0;
}

/* True for the head of a leaf that no check can refuse as a value, except for the length and the UTF-8 of a str. */
MP_INLINE bool
plain_value_p(uint8_t head)
{
    if ((head & 0xe0) == 0x80) return !(head & 0x0f); /* fixmap, fixarray */
    return (head & 0xe0) != 0xc0 || head <= 0xc3 || (head >= 0xca && head <= 0xd3) || head == 0xd9;
}

/* Notes a key, from head to end, if it is a str. */
MP_INLINE void
key_note(mp_noted_keys *noted, const uint8_t *head, const uint8_t *end)
{
    mp_wire_row row = MP_WIRE[*head];

    if (row.kind == MP_STR) mp_noted_keys_add(noted, head + row.head, (size_t)(end - head) - row.head);
}

/* Skips objects of the innermost container, up to a container or an object that has to be checked. */
MP_INLINE void
skip_plain_leaves(strider *s, const uint8_t *end)
{
    const uint8_t *p = s->p;
    uint32_t left = s->left;
    const bool map = s->map;
    mp_noted_keys *noted = s->noted;

    while (left && mp_ahead_p(p, end)) {
        const uint8_t *head = p;
        uint64_t held;
        uint32_t n;

        if (map && left % 2 == 0) {
            if (!mp_fixstr_ahead_p(p, &n)) break;
            if (noted) mp_noted_keys_add(noted, p + 1, n);
            p += 1 + n;
        } else if (!plain_value_p(*p) || mp_step_over(&p, end, &held) != MP_STEP_LEAF) {
            p = head;
            break;
        }
        left--;
    }
    s->p = p;
    s->left = left;
}

/* True if no check can refuse a leaf for which plain_value_p is true. */
static bool
plain_checks_p(const mp_check *checks)
{
    return !checks->utf8 && !checks->utf8_keys && checks->limits.string >= UINT8_MAX;
}

/* True if no check refuses the leaf from head to end. False also if mp_check_head has to decide. */
static MP_NOINLINE bool
leaf_accepted_p(const mp_check *checks, const uint8_t *head, const uint8_t *end, bool key)
{
    mp_wire_row row = MP_WIRE[*head];
    const uint8_t *payload = head + row.head;
    size_t n = (size_t)(end - payload);

    switch ((mp_kind)row.kind) {
      case MP_STR:
        if (n > checks->limits.string) return false;
        return !(checks->utf8 || (key && checks->utf8_keys)) || mp_utf8_valid_p(payload, n);
      case MP_BIN:
        return n <= checks->limits.string;
      case MP_FLOAT32:
      case MP_FLOAT64:
      case MP_ARRAY:
      case MP_MAP:
        return !key;
      default:
        return row.kind != MP_EXT;
    }
}

/* True if no check refuses a container that holds `held` objects. False also if mp_check_head has to decide. */
MP_INLINE bool
container_accepted_p(const strider *s, const uint8_t *head, uint64_t held, const mp_tape *tape)
{
    const mp_limits *limits = &tape->checks->limits;
    bool map = MP_WIRE[*head].kind == MP_MAP;

    if (held > (map ? (uint64_t)limits->map * 2 : limits->array)) return false;
    return tape->objects + held <= limits->objects && !strider_key_p(s);
}

MP_INLINE bool
step_accepted_p(const strider *s, const uint8_t *head, mp_step step, uint64_t held, const mp_tape *tape)
{
    if (step == MP_STEP_CONTAINER) return container_accepted_p(s, head, held, tape);
    return leaf_accepted_p(tape->checks, head, s->p, strider_key_p(s));
}

/* True if the keys of the innermost container, which is complete, are unique. */
MP_INLINE bool
strider_keys_unique_p(strider *s, mp_tape *tape)
{
    s->entry->next = 0;
    strider_settle(s, tape);
    tape->status = check_unique_keys(tape);
    *s = strider_of(tape);
    return tape->status == MP_OK;
}

/* True if the keys of the innermost container are known to be unique, or need not be. */
MP_INLINE bool
strider_keys_differ_p(const strider *s, const mp_tape *tape)
{
    return !s->map || !tape->checks->unique_keys || (s->noted && !s->noted->left);
}

/*
 * Fast path (looks/check all of it) inside containers while many bytes are ahead, with the innermost container's state
 * in registers. Ends with the outermost container, and where head_passed must take over. checked is a constant in each
 * caller.
 */
MP_INLINE void
stride(mp_tape *tape, const bool checked)
{
    const uint8_t *const end = tape->bytes + tape->size;
    const bool plain = checked && plain_checks_p(tape->checks);
    strider s = strider_of(tape);

    if (checked) strider_look(&s, tape);
    while (true) {
        if (plain) skip_plain_leaves(&s, end);
        if (!plain || s.left) {
            const uint8_t *head = s.p;
            uint64_t held = 0;
            mp_step step;

            if (!mp_ahead_p(s.p, end)) break;
            step = mp_step_over(&s.p, end, &held);
            if (checked && step != MP_STEP_NONE && !step_accepted_p(&s, head, step, held, tape)) step = MP_STEP_NONE;
            if (step != MP_STEP_LEAF) {
                if (step == MP_STEP_NONE || MP_UNLIKELY(s.unused == tape->entries + tape->capacity) ||
                    MP_UNLIKELY(!s.depth_left)) {
                    s.p = head;
                    break;
                }
                strider_open(&s, tape, head, held_objects(held));
                if (checked) {
                    tape->objects += held;
                    strider_look(&s, tape);
                    if (s.noted) mp_noted_keys_start(s.noted, s.left / 2);
                }
                continue;
            }
            if (checked && s.noted && s.left % 2 == 0) key_note(s.noted, head, s.p);
            s.left--;
        }
        while (MP_UNLIKELY(!s.left)) {
            bool outermost = s.entry == tape->entries;

            if (checked && !strider_keys_differ_p(&s, tape) && !strider_keys_unique_p(&s, tape)) return;
            s.entry = strider_close(&s, tape);
            if (checked) strider_look(&s, tape);
            if (outermost) {
                strider_settle(&s, tape);
                return;
            }
            s.left = s.entry->next - 1;
        }
    }
    s.entry->next = s.left;
    strider_settle(&s, tape);
}

static void
stride_unchecked(mp_tape *tape)
{
    stride(tape, false);
}

static void
stride_checked(mp_tape *tape)
{
    stride(tape, true);
}

mp_status
mp_tape_finish(mp_tape *tape)
{
    const uint8_t *const end = tape->bytes + tape->size;

    while (tape->status == MP_OK && !mp_tape_complete_p(tape)) {
        bool ahead = tape->depth && mp_ahead_p(tape->bytes + tape->at, end);

        if (ahead && tape->checks) stride_checked(tape);
        else if (ahead) stride_unchecked(tape);
        if (tape->status != MP_OK || mp_tape_complete_p(tape)) break;
        tape->status = tape->at < tape->size ? head_passed(tape) : MP_E_TRUNCATED;
    }
    return tape->status;
}

/* The first entry at or after an offset. Doubling steps from the start find the outermost ones quickly. */
static uint32_t
entry_from(const mp_tape *tape, uint32_t offset)
{
    uint32_t from = 0, to = 1;

    while (to < tape->count && tape->entries[to - 1].offset < offset) {
        from = to;
        to = to < tape->count / 2 ? to * 2 : tape->count;
    }
    if (to > tape->count) to = tape->count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (tape->entries[middle].offset < offset) from = middle + 1;
        else to = middle;
    }
    return from;
}

/* Skips a container in the indexed part that is too small for an entry. */
static mp_status
skip_small(const mp_tape *tape, uint32_t offset, size_t *end)
{
    uint64_t left[MP_TAPE_KEEP];
    const uint8_t *p = tape->bytes + offset;
    mp_walk walk;
    mp_status status;

    mp_walk_init(&walk, left, MP_TAPE_KEEP);
    status = mp_skip(&walk, &p, tape->bytes + tape->at);
    *end = (size_t)(p - tape->bytes);
    return status;
}

/* True if an entry is the first at or after an offset. */
MP_INLINE bool
entry_from_p(const mp_tape *tape, uint32_t entry, uint32_t offset)
{
    if (entry > tape->count || (entry < tape->count && tape->entries[entry].offset < offset)) return false;
    return !entry || tape->entries[entry - 1].offset < offset;
}

mp_status
mp_tape_over(const mp_tape *tape, size_t offset_, uint32_t *near, size_t *end)
{
    uint32_t offset = (uint32_t)offset_;
    const mp_tape_entry *entry;

    if (offset >= tape->at) return tape->status == MP_OK ? MP_E_TRUNCATED : tape->status;
    if (!entry_from_p(tape, *near, offset)) *near = entry_from(tape, offset);
    entry = tape->entries + *near;
    if (*near == tape->count || entry->offset != offset) return skip_small(tape, offset, end);
    if (mp_tape_open_p(tape, *near)) return tape->status;
    *near = entry->next;
    *end = entry->end;
    return MP_OK;
}

uint32_t
mp_tape_place(const mp_tape *tape, uint32_t entry)
{
    const mp_tape_entry *open = &tape->entries[entry];
    mp_head head = {.kind = MP_NEVER};

    mp_head_read(tape->bytes + open->offset, tape->bytes + tape->size, &head);
    return held_objects(mp_declared_objects(head.kind, head.n)) - open->next;
}

uint32_t
mp_tape_entry_of(const mp_tape *tape, size_t offset)
{
    uint32_t entry = offset ? entry_from(tape, (uint32_t)offset) : 0;

    return entry < tape->count && tape->entries[entry].offset == offset ? entry : tape->count;
}
