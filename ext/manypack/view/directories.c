/*
 * Memory for the directories of a message. A message whose directories would need more than the budget, such as one of
 * very many small containers, keeps those that it has.
 */
#include "view/directories.h"

#define FIRST_SLOTS 2

void
mp_directories_free(mp_directories *directories)
{
    uint32_t i;

    for (i = 0; i < directories->capacity; i++) {
        xfree(directories->slots[i].marks.at);
        xfree(directories->slots[i].keys);
    }
    xfree(directories->slots);
}

/* The slot of a container, or the unused one where it belongs. There must be slots. */
static mp_directory *
slot_of(const mp_directories *directories, uint32_t container)
{
    uint32_t mask = directories->capacity - 1;
    uint32_t at = (uint32_t)((container * directories->seed >> 32) * directories->capacity >> 32);

    while (directories->slots[at].container && directories->slots[at].container != container) at = (at + 1) & mask;
    return &directories->slots[at];
}

mp_directory *
mp_directory_find(const mp_directories *directories, uint32_t container)
{
    mp_directory *slot;

    if (!directories->count) return NULL;
    slot = slot_of(directories, container);
    return slot->container ? slot : NULL;
}

static bool
affordable_p(const mp_directories *directories, size_t bytes)
{
    return directories->bytes + bytes <= directories->budget;
}

/* A number that differs from process to process, by Ruby's own secret. */
static uint64_t
secret(const char *name)
{
    return (uint64_t)rb_memhash(name, (long)strlen(name)) << 32 ^ rb_memhash(name, (long)strlen(name) - 1);
}

/* Doubles the slots. */
static bool
grow(mp_directories *directories)
{
    mp_directories grown = *directories;
    size_t more;
    uint32_t i;

    grown.capacity = grown.capacity ? grown.capacity * 2 : FIRST_SLOTS;
    more = (grown.capacity - directories->capacity) * sizeof(mp_directory);
    if (!affordable_p(directories, more)) return false;
    if (!grown.seed) grown.seed = secret("containers") | 1;
    grown.slots = ZALLOC_N(mp_directory, grown.capacity);
    grown.bytes += more;
    for (i = 0; i < directories->capacity; i++) {
        uint32_t container = directories->slots[i].container;

        if (container) *slot_of(&grown, container) = directories->slots[i];
    }
    xfree(directories->slots);
    *directories = grown;
    return true;
}

mp_directory *
mp_directory_add(mp_directories *directories, uint32_t container)
{
    mp_directory *slot;

    if (directories->count >= directories->capacity / 2 && !grow(directories)) return NULL;
    slot = slot_of(directories, container);
    slot->container = container;
    directories->count++;
    return slot;
}

static size_t
marks_size(uint32_t n, uint32_t shift)
{
    return (size_t)mp_marks_needed(n, shift) * sizeof(mp_mark);
}

bool
mp_directory_give_marks(mp_directories *directories, mp_directory *directory, uint32_t n, size_t mean)
{
    uint32_t shift = mp_marks_shift(mean);
    size_t bytes = marks_size(n, shift);

    if (directory->marks.at) return true;
    while (!affordable_p(directories, bytes) && shift < MP_MARKS_SHIFT_MAX) bytes = marks_size(n, ++shift);
    if (!affordable_p(directories, bytes)) return false;
    directory->marks.at = xmalloc(bytes);
    directory->marks.shift = shift;
    directories->bytes += bytes;
    return true;
}

static size_t
keys_size(uint32_t slots)
{
    return sizeof(mp_key_table) + (size_t)slots * sizeof(uint32_t);
}

/*
 * How many slots n keys get: as many as a search would like, or a fifth more than keys, or what the budget allows. That
 * may be fewer than keys, which suffices if many of them are equal.
 */
static uint32_t
slots_for(const mp_directories *directories, uint32_t n)
{
    uint32_t slots = mp_key_table_slots(n), fewer = n + n / 5 + 1;
    size_t left = directories->budget > directories->bytes ? directories->budget - directories->bytes : 0;

    if (affordable_p(directories, keys_size(slots))) return slots;
    left = left > keys_size(0) ? (left - keys_size(0)) / sizeof(uint32_t) : 0;
    return left < fewer ? (uint32_t)left : fewer;
}

bool
mp_directory_give_keys(mp_directories *directories, mp_directory *directory, uint32_t n, mp_find_which which)
{
    uint32_t slots = slots_for(directories, n);
    mp_key_table *table;

    if (!slots) return false;
    table = directory->keys = xcalloc(1, keys_size(slots));
    directories->bytes += keys_size(slots);
    table->slots = (uint32_t *)(void *)(table + 1);
    table->capacity = slots;
    table->most = slots - slots / 6 - 1; /* fuller, and searches would take long */
    table->seed[0] = secret("numbers");
    table->seed[1] = secret("texts");
    table->which = which;
    return true;
}

void
mp_directory_take_keys(mp_directories *directories, mp_directory *directory)
{
    directories->bytes -= keys_size(directory->keys->capacity);
    xfree(directory->keys);
    directory->keys = NULL;
}
