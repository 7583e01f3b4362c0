/*
 * Memory for the directories of a message. Together they take no more bytes than the message: a message whose
 * directories would need more, such as one of very many short arrays, keeps those that it has.
 */
#include "view/directories.h"

#define FIRST_SLOTS 8

void
mp_directories_init(mp_directories *directories, size_t size)
{
    *directories = (mp_directories){.budget = size};
}

void
mp_directories_free(mp_directories *directories)
{
    uint32_t i;

    for (i = 0; i < directories->capacity; i++) xfree(directories->slots[i].marks.at);
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
    return bytes <= directories->budget - directories->bytes;
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
    if (!grown.seed) grown.seed = rb_memhash("directories", sizeof("directories")) | 1; /* seeded by Ruby */
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

bool
mp_directory_give_marks(mp_directories *directories, mp_directory *directory, uint32_t n)
{
    size_t bytes = mp_marks_needed(n) * sizeof(mp_mark);

    if (directory->marks.at) return true;
    if (!affordable_p(directories, bytes)) return false;
    directory->marks.at = xmalloc(bytes);
    directories->bytes += bytes;
    return true;
}
