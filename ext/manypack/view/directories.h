/*
 * The directories of a message: with them, a look into a large array takes the same time in any order. They belong to
 * the Index of the message, so all of its Views share them.
 *
 *   directory = mp_directory_find(&directories, container);       // NULL if no look has walked far in it
 *   directory = mp_directory_add(&directories, container);        // moves all directories
 *   if (mp_directory_give_marks(&directories, directory, size)) status = mp_marks_go(&directory->marks, &cursor, n);
 *
 * A container is known by the offset of the first object inside it.
 */
#ifndef MANYPACK_DIRECTORIES_H
#define MANYPACK_DIRECTORIES_H

#include "base/support.h"
#include "core/marks.h"

typedef struct {
    uint32_t container; /* 0: an unused slot */
    mp_marks marks;     /* marks.at is NULL until they pay */
} mp_directory;

typedef struct {
    mp_directory *slots; /* a hash table by container, whose size is a power of two */
    uint32_t count, capacity;
    size_t bytes;        /* of all memory */
    size_t budget;       /* the most that may be allocated */
    uint64_t seed;       /* a stranger's offsets must not collide */
} mp_directories;

/* Starts without memory. size is that of the message. */
void mp_directories_init(mp_directories *directories, size_t size);

void mp_directories_free(mp_directories *directories);

/* The directory of a container, or NULL. */
mp_directory *mp_directory_find(const mp_directories *directories, uint32_t container);

/* Adds the directory of a container that has none. NULL if the budget is spent. */
mp_directory *mp_directory_add(mp_directories *directories, uint32_t container);

/* Gives a directory memory for the marks of an array of n elements, unless it has it. False if the budget is spent. */
bool mp_directory_give_marks(mp_directories *directories, mp_directory *directory, uint32_t n);

#endif
