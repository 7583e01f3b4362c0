/*
 * The Index of a message, which all of its Views share. The tape (core/tape.h) does the walking; this file gives it
 * memory, remembers places in arrays, and checks messages.
 */
#include "view/view_index.h"

#include "base/error.h"
#include "unpack/decode.h"
#include "view/directories.h"

#define FIRST_ENTRIES 16

/*
 * The number of arrays whose last place is remembered. Looks that alternate among more arrays, as in nested loops, soon
 * give them marks.
 */
#define PLACES 5

/* From a place so near in front of an element, a walk costs no more than finding a mark. */
#define NEAR_ENOUGH 32

/* A search passes so few pairs in no more time than it takes to find a key in a table. */
#define FEW_PAIRS 16

/* A table is made when searches have passed each pair of the map this many times. */
#define TABLE_COST 2

/* A frozen Index has tables of maps with this many pairs: of smaller ones they would cost more than they save. */
#define FROZEN_PAIRS 64

/* As mp_directory.passed: the map gets no table, because it is malformed or the memory is used up. */
#define NEVER UINT32_MAX

/* An element of an array. Looks for later elements start there. */
typedef struct {
    uint32_t array; /* offset of the first element */
    uint32_t n;
    uint32_t at;
    uint32_t near; /* for the tape */
} place;

/* The array with marks, or map with a table, that was found last: the next look into it need not search for it. */
typedef struct {
    uint32_t head; /* its offset */
    uint32_t size; /* elements of an array; 0 for a map */
    const mp_directory *directory;
} latest_container;

typedef struct {
    mp_tape tape;
    place places[PLACES]; /* most recently used first; not used if the Index is frozen */
    mp_directories directories;
    latest_container latest; /* none if the Index is frozen; adding a directory moves all */
} view_index;

/* Since 3.3 it fits a slot of 320 bytes. */
MP_STATIC_ASSERT(index_fits_a_slot, sizeof(view_index) <= 288);

static void
index_free(void *ptr)
{
    view_index *index = ptr;

    xfree(index->tape.entries);
    mp_directories_free(&index->directories);
    mp_typed_free(ptr);
}

static size_t
index_memsize(const void *ptr)
{
    const view_index *index = ptr;

    return mp_typed_memsize(sizeof(view_index)) + index->tape.capacity * sizeof(mp_tape_entry) +
           index->directories.bytes;
}

/* It refers to no object, so there is nothing to mark. */
static const rb_data_type_t index_type = {
    .wrap_struct_name = "Manypack::View::Index",
    .function = {.dfree = index_free, .dsize = index_memsize},
    .flags = MP_TYPED_FREE | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE | MP_TYPED_EMBEDDABLE,
};

/* Programs cannot get hold of an Index, so every caller has one. */
static view_index *
index_get(VALUE self)
{
    return mp_typed_data(self);
}

static bool
grow(mp_tape *tape)
{
    uint32_t capacity = tape->capacity ? tape->capacity * 2 : FIRST_ENTRIES;

    if (capacity <= tape->capacity) return false; /* twice as many do not fit a uint32_t */
    REALLOC_N(tape->entries, mp_tape_entry, capacity);
    tape->capacity = capacity;
    return true;
}

/* Makes an empty Index. 0 for a message of 4 GiB or more, which can have no Index. */
static VALUE
index_new(VALUE message, uint32_t max_depth)
{
    view_index *index;
    VALUE self = TypedData_Make_Struct(0, view_index, &index_type, index);
    mp_tape *tape = &index->tape;
    const uint8_t *bytes = (const uint8_t *)RSTRING_PTR(message);

    if (mp_tape_init(tape, bytes, (size_t)RSTRING_LEN(message), max_depth, MP_TAPE_KEEP) != MP_OK) return 0;
    tape->grow = grow;
    return self;
}

VALUE
mp_view_index_new(VALUE message, uint32_t max_depth)
{
    return RSTRING_LEN(message) < MP_VIEW_INDEX_MIN ? 0 : index_new(message, max_depth);
}

VALUE
mp_view_short_index(VALUE message, uint32_t max_depth)
{
    VALUE self = index_new(message, max_depth);
    mp_tape *tape = mp_view_index_tape(self, message);
    bool whole = mp_tape_finish(tape) == MP_OK && tape->at == tape->size;

    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    return whole ? self : 0;
}

mp_tape *
mp_view_index_tape(VALUE self, VALUE message)
{
    mp_tape *tape = &index_get(self)->tape;

    if (tape->bytes != (const uint8_t *)RSTRING_PTR(message)) tape->bytes = (const uint8_t *)RSTRING_PTR(message);
    if (tape->status == MP_E_NO_ROOM) tape->status = MP_OK;
    return tape;
}

/* --- elements of arrays ----------------------------------------------------------------------------- */

/* Of an Index, beside 1.25 times the bytes of its message: small numbers as keys and values have two bytes a pair. */
#define MEMORY_FOR_SMALL_KEYS 1000

/*
 * The directories, to be added to. An Index takes at most 1.25 times the bytes of its message, tape included. That
 * suffices for a map of the smallest different keys: two bytes of number, one of head, and one of value. Keys without
 * a head, or with one byte of number, are 384 at most.
 */
static mp_directories *
directories_of(view_index *index)
{
    size_t size = index->tape.size, most = size + size / 4 + MEMORY_FOR_SMALL_KEYS;
    size_t used = index->tape.capacity * sizeof(mp_tape_entry);

    index->directories.budget = used < most ? most - used : 0;
    index->latest = (latest_container){0};
    return &index->directories;
}

static place
first_place(uint32_t array)
{
    return (place){.array = array, .at = array};
}

/* The remembered place in an array, which becomes the most recently used; the start of the array if there is none. */
static place
last_place(view_index *index, uint32_t array)
{
    place *places = index->places, found;
    size_t i;

    for (i = 0; i < PLACES - 1 && places[i].array != array; i++) continue;
    found = places[i].array == array ? places[i] : first_place(array);
    memmove(places + 1, places, i * sizeof(place));
    places[0] = found;
    return found;
}

static void
go_to(mp_cursor *cursor, const place *place)
{
    cursor->at = place->at;
    cursor->left -= place->n;
    cursor->near = place->near;
}

/*
 * A look that starts at the first element and walks far may be the only one in its array. A second one gives the array
 * marks, and so does one that comes back from far to the start: the next may go there again.
 */
void
mp_view_index_prepare(VALUE self, const mp_cursor *cursor, uint32_t n)
{
    view_index *index = index_get(self);
    uint32_t array = (uint32_t)cursor->at;
    mp_directory *directory;
    place last;

    if (RB_OBJ_FROZEN(self)) return;
    last = last_place(index, array);
    if ((n < NEAR_ENOUGH && last.n < NEAR_ENOUGH) || (last.n && last.n <= n)) return;
    directory = mp_directory_find(&index->directories, array);
    if (!directory) {
        mp_directory_add(directories_of(index), array);
    } else if (!directory->marks.at) {
        size_t mean = last.n ? (last.at - array) / last.n : 0;

        mp_directory_give_marks(directories_of(index), directory, (uint32_t)cursor->left, mean);
    }
}

mp_status
mp_view_index_go(VALUE self, mp_cursor *cursor, uint32_t n)
{
    view_index *index = index_get(self);
    uint32_t array = (uint32_t)cursor->at;
    bool frozen = RB_OBJ_FROZEN(self);
    place from = frozen ? first_place(array) : last_place(index, array);
    mp_directory *directory = NULL;
    mp_status status;

    if (from.n > n) from = first_place(array);
    if (n - from.n >= NEAR_ENOUGH) directory = mp_directory_find(&index->directories, array);
    /* Marks of an array that has no entry in the tape may be missing: a frozen Index makes none. */
    if (directory && directory->marks.at && (!frozen || mp_marks_made_p(&directory->marks, n))) {
        status = mp_marks_go(&directory->marks, cursor, n);
    } else {
        go_to(cursor, &from);
        status = mp_cursor_pass(cursor, n - from.n);
    }
    if (!frozen && status == MP_OK) {
        index->places[0] = (place){.array = array, .n = n, .at = (uint32_t)cursor->at, .near = cursor->near};
    }
    return status;
}

static void
remember(view_index *index, size_t head, uint32_t size, const mp_directory *directory)
{
    index->latest = (latest_container){.head = (uint32_t)head, .size = size, .directory = directory};
}

/* The index that n, which may be negative, means: beyond the size if it is too far in front. */
MP_INLINE uint64_t
from_start(long n, uint32_t size)
{
    return (uint64_t)(n < 0 ? (int64_t)n + size : n);
}

/* An element of an array, from the last place or the start, if that is near, or from marks, which are remembered. */
static MP_NOINLINE const uint8_t *
element(VALUE self, const uint8_t *bytes, const uint8_t *end, size_t head, long n)
{
    view_index *index = index_get(self);
    place *last = &index->places[0];
    bool frozen = RB_OBJ_FROZEN_RAW(self);
    const uint8_t *p = bytes + head;
    const mp_directory *directory;
    mp_wire_row row;
    uint32_t size;
    uint64_t i;

    if (!mp_ahead_p(p, end)) return NULL;
    row = mp_row_ahead(p);
    size = mp_row_count(p, row);
    i = from_start(n, size);
    if (i >= size) return NULL;
    p += row.head;
    if (last->array == head + row.head && i - last->n < NEAR_ENOUGH && !frozen) {
        p = bytes + last->at;
        if (mp_leaves_over(&p, end, i - last->n) || p >= end) return NULL;
        last->n = (uint32_t)i;
        last->at = (uint32_t)(p - bytes);
        return p;
    }
    if (i < NEAR_ENOUGH) return mp_leaves_over(&p, end, i) || p >= end ? NULL : p;
    directory = mp_directory_find(&index->directories, (uint32_t)(head + row.head));
    if (!directory || !directory->marks.at) return NULL;
    if (!frozen) remember(index, head, size, directory);
    return mp_marks_find(&directory->marks, bytes, end, (uint32_t)i);
}

const uint8_t *
mp_view_index_element(VALUE self, const uint8_t *bytes, const uint8_t *end, size_t head, long n)
{
    const latest_container *latest = &index_get(self)->latest;
    uint64_t i = from_start(n, latest->size);
    const uint8_t *p;

    if (latest->head != head || i >= latest->size) return element(self, bytes, end, head, n);
    p = mp_marks_find(&latest->directory->marks, bytes, end, (uint32_t)i);
    return p ? p : element(self, bytes, end, head, n);
}

/* Makes all marks of an array, which the cursor has just opened. The tape is complete. */
static void
marks_make(VALUE self, VALUE message, mp_cursor cursor, uint32_t end)
{
    view_index *index = index_get(self);
    uint32_t array = (uint32_t)cursor.at, n = (uint32_t)cursor.left;
    mp_directory *directory;

    if (n <= NEAR_ENOUGH) return;
    directory = mp_directory_find(&index->directories, array);
    if (!directory) directory = mp_directory_add(directories_of(index), array);
    if (!directory || !mp_directory_give_marks(directories_of(index), directory, n, (end - array) / n)) return;
    cursor.look->bytes = mp_view_index_tape(self, message)->bytes;
    mp_marks_go(&directory->marks, &cursor, n - 1);
}

/* --- keys of maps ------------------------------------------------------------------------------------- */

/* The table of a directory, unless it keeps another of two equal keys than `which` says. */
static const mp_key_table *
table_by(const mp_directory *directory, mp_find_which which)
{
    if (!directory || !directory->ready) return NULL;
    return directory->keys->twice && directory->keys->which != which ? NULL : directory->keys;
}

const mp_key_table *
mp_view_index_keys(VALUE self, size_t map, uint64_t pairs, mp_find_which which)
{
    if (pairs < FEW_PAIRS) return NULL;
    return table_by(mp_directory_find(&index_get(self)->directories, (uint32_t)map), which);
}

/* The same, and remembers the map, whose head is at an offset. */
static const mp_key_table *
keys_again(VALUE self, size_t head, size_t map, uint32_t pairs, mp_find_which which)
{
    view_index *index = index_get(self);
    const mp_directory *directory = index->latest.directory;

    if (!directory || index->latest.head != head) {
        if (pairs < FEW_PAIRS) return NULL;
        directory = mp_directory_find(&index->directories, (uint32_t)map);
        if (!directory || !directory->ready) return NULL;
        if (!RB_OBJ_FROZEN_RAW(self)) remember(index, head, 0, directory);
    }
    return table_by(directory, which);
}

bool
mp_view_index_key(VALUE self, VALUE message, size_t head, uint32_t pairs, const mp_key *key, mp_find_which which,
                  size_t *value)
{
    mp_tape *tape = mp_view_index_tape(self, message);
    const mp_key_table *table = keys_again(self, head, head + MP_WIRE[tape->bytes[head]].head, pairs, which);
    mp_cursor cursor;
    mp_look look;

    if (table) *value = mp_key_table_find(table, tape->bytes, tape->size, key);
    if (table || pairs >= FEW_PAIRS || !mp_tape_passed_p(tape, head)) return table != NULL;
    if (!tape->depth && tape->at < tape->size) return false; /* a fault that some looks have to find */
    look.bytes = tape->bytes;
    look.size = tape->size;
    look.tape = tape;
    return mp_cursor_open(&cursor, &look, head) == MP_OK && mp_find(&cursor, key, which, value) == MP_OK;
}

/* Makes the table of a map's keys, for its directory. Whether that succeeds or not, it is not tried again. */
static void
keys_make(VALUE self, VALUE message, mp_directory *directory, mp_cursor cursor, mp_find_which which)
{
    view_index *index = index_get(self);
    mp_look look = {.size = index->tape.size, .tape = &index->tape};

    directory->passed = NEVER;
    if (cursor.left / 2 >= UINT32_MAX) return;
    if (!mp_directory_give_keys(directories_of(index), directory, (uint32_t)(cursor.left / 2), which)) return;
    look.bytes = mp_view_index_tape(self, message)->bytes;
    cursor.look = &look;
    directory->ready = mp_key_table_fill(directory->keys, &cursor) == MP_OK;
    if (!directory->ready) mp_directory_take_keys(&index->directories, directory);
}

void
mp_view_index_passed(VALUE self, VALUE message, const mp_cursor *opened, uint64_t pairs, mp_find_which which)
{
    view_index *index = index_get(self);
    uint32_t map = (uint32_t)opened->at;
    mp_directory *directory;

    if (opened->left < 2 * FEW_PAIRS || pairs < FEW_PAIRS || RB_OBJ_FROZEN(self)) return;
    directory = mp_directory_find(&index->directories, map);
    if (!directory) directory = mp_directory_add(directories_of(index), map);
    if (!directory || directory->passed == NEVER) return;
    directory->passed = pairs < NEVER - 1 - directory->passed ? directory->passed + (uint32_t)pairs : NEVER - 1;
    if (directory->passed / TABLE_COST >= opened->left / 2) keys_make(self, message, directory, *opened, which);
}

/* Makes the table of a map that has many pairs, and none yet. */
static void
keys_make_frozen(VALUE self, VALUE message, const mp_cursor *opened, mp_find_which which)
{
    view_index *index = index_get(self);
    mp_directory *directory;

    if (opened->left < 2 * FROZEN_PAIRS) return;
    directory = mp_directory_find(&index->directories, (uint32_t)opened->at);
    if (!directory) directory = mp_directory_add(directories_of(index), (uint32_t)opened->at);
    if (directory && directory->passed != NEVER) keys_make(self, message, directory, *opened, which);
}

void
mp_view_index_freeze(VALUE self, VALUE message, mp_find_which which)
{
    view_index *index = index_get(self);
    uint32_t entry;

    if (RB_OBJ_FROZEN(self)) return;
    for (entry = 0; entry < index->tape.count; entry++) {
        mp_tape *tape = mp_view_index_tape(self, message);
        mp_look look = {.bytes = tape->bytes, .size = tape->size, .tape = tape};
        mp_cursor cursor;

        mp_cursor_open(&cursor, &look, tape->entries[entry].offset);
        cursor.near = entry + 1;
        if (cursor.kind == MP_MAP) keys_make_frozen(self, message, &cursor, which);
        else marks_make(self, message, cursor, tape->entries[entry].end);
    }
    index->latest = (latest_container){0};
    RB_OBJ_FREEZE(self);
    mp_obj_set_shareable(self); /* it refers to no object */
    RB_GC_GUARD(message);
}

/* --- all of it -------------------------------------------------------------------------------------- */

bool
mp_view_index_complete_p(VALUE self)
{
    return mp_tape_complete_p(&index_get(self)->tape);
}

size_t
mp_view_index_finish(VALUE self, VALUE message)
{
    mp_tape *tape = mp_view_index_tape(self, message);

    if (mp_tape_finish(tape) != MP_OK) {
        mp_raise_status(tape->status, (mp_blame){.start = tape->bytes, .at = tape->bytes + mp_tape_blame(tape),
                                                 .end = tape->bytes + tape->size,
                                                 .message = mp_message_whole(message)});
    }
    RB_GC_GUARD(self); /* the tape is inside it, and growing it may run compaction */
    RB_GC_GUARD(message);
    return tape->at;
}

/* --- checking --------------------------------------------------------------------------------------- */

#define WORD_BITS 64
#define TYPE_WORDS (256 / WORD_BITS)

/*
 * The part of unpacking's checks that a tape can make. A message with any ext outside ext_types is left to unpacking.
 * That includes exts that unpacking refuses, and exts with a handler, because only the handler can tell.
 */
static mp_check
check_of(const mp_codec *codec, uint64_t types[TYPE_WORDS])
{
    const mp_options *options = &codec->options;
    bool handlers = codec->types && codec->types->unpacker_count;
    size_t word;

    for (word = 0; word < TYPE_WORDS; word++) types[word] = options->allow_unknown_ext && !handlers ? UINT64_MAX : 0;
    if (options->timestamp && !handlers) types[TYPE_WORDS - 1] |= UINT64_C(1) << (WORD_BITS - 1); /* type -1 */
    return (mp_check){
        .limits = options->limits, .utf8 = options->strict_utf8, .utf8_keys = options->symbolize_keys,
        .timestamps = options->timestamp || options->untrusted, .timestamp_range = options->untrusted,
        .unique_keys = options->unique_keys, .ext_types = types,
    };
}

/* True if unpacking is certain to accept the bytes of an empty tape. */
static bool
accepted_p(mp_tape *tape, const mp_codec *codec)
{
    uint64_t types[TYPE_WORDS];
    mp_noted_keys noted[MP_CHECK_NOTED];
    mp_check check = check_of(codec, types);
    bool accepted;

    check.noted = noted;
    tape->checks = &check;
    accepted = mp_tape_finish(tape) == MP_OK && tape->at == tape->size;
    tape->checks = NULL;
    return accepted;
}

/*
 * The Index of a message that unpacking is certain to accept. 0 if a tape cannot tell: the caller has to unpack the
 * message.
 */
static VALUE
accepted_index(VALUE message, const mp_codec *codec)
{
    VALUE self = index_new(message, mp_unpack_max_depth(&codec->options));
    bool accepted;

    if (!self) return 0;
    accepted = accepted_p(mp_view_index_tape(self, message), codec);
    RB_GC_GUARD(self);
    RB_GC_GUARD(message);
    return accepted ? self : 0;
}

/* Containers of a message that is checked without an Index. */
#define SHORT_ENTRIES 64

static bool
no_more(mp_tape *tape)
{
    return false;
}

/* True if unpacking is certain to accept a part of a message so short that it needs no Index. Allocates nothing. */
static bool
short_accepted_p(VALUE message, size_t start, size_t end, const mp_codec *codec)
{
    mp_tape_entry entries[SHORT_ENTRIES];
    uint32_t max_depth = mp_unpack_max_depth(&codec->options);
    bool accepted;
    mp_tape tape;

    if (end - start >= MP_VIEW_INDEX_MIN) return false;
    mp_tape_init(&tape, (const uint8_t *)RSTRING_PTR(message) + start, end - start, max_depth, MP_TAPE_KEEP);
    tape.entries = entries;
    tape.capacity = SHORT_ENTRIES;
    tape.grow = no_more;
    accepted = accepted_p(&tape, codec);
    RB_GC_GUARD(message);
    return accepted;
}

/*
 * If the tape accepts the message, unpacking would, too. Otherwise the message is unpacked, which raises the same error
 * as Manypack.unpack, or accepts it after all.
 */
VALUE
mp_view_index_checked(VALUE message, const mp_codec *codec)
{
    VALUE self;

    if (short_accepted_p(message, 0, (size_t)RSTRING_LEN(message), codec)) return 0;
    self = accepted_index(message, codec);
    if (self) return self;
    mp_decode_whole(message, codec);
    self = mp_view_index_new(message, mp_unpack_max_depth(&codec->options));
    if (self) mp_view_index_finish(self, message);
    return self;
}

void
mp_view_check_part(VALUE message, size_t start, size_t end, const mp_codec *codec)
{
    VALUE part = message;
    size_t at = start;

    if (short_accepted_p(message, start, end, codec)) return;
    if (start || end < (size_t)RSTRING_LEN(message)) part = rb_str_subseq(message, (long)start, (long)(end - start));
    if (accepted_index(part, codec)) return;
    mp_decode_part(message, &at, codec);
    if (at != end) mp_raise_extra_bytes(end - at, at, start ? 0 : message);
}
