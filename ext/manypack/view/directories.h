/*
 * The directories of a message: with them, a look into a large array or map takes the same time in any order. They
 * belong to the Index of the message, so all of its Views share them.
 *
 *   directory = mp_directory_find(&directories, container);       // NULL if no look has walked far in it
 *   directory = mp_directory_add(&directories, container);        // moves all directories
 *   if (mp_directory_give_marks(&directories, directory, size, 3)) status = mp_marks_go(&directory->marks, &cursor, n);
 *
 * A container is known by the offset of the first object inside it.
 */
#ifndef MANYPACK_DIRECTORIES_H
#define MANYPACK_DIRECTORIES_H

#include "base/support.h"
#include "core/key_table.h"
#include "core/marks.h"

typedef struct {
    uint32_t container; /* 0: an unused slot */
    uint32_t passed;    /* pairs of a map that all searches together have passed */
    mp_marks marks;     /* of an array; marks.at is NULL until they pay */
    mp_key_table *keys; /* of a map; NULL until it pays */
    bool ready;         /* keys is filled */
} mp_directory;

/* All zero at first. */
typedef struct {
    mp_directory *slots; /* a hash table by container, whose size is a power of two */
    uint32_t count, capacity;
    size_t bytes;        /* of all memory */
    size_t budget;       /* how much that may be; the caller sets it */
    uint64_t seed;       /* a stranger's offsets must not collide */
} mp_directories;

void mp_directories_free(mp_directories *directories);

/* The directory of a container, or NULL. */
mp_directory *mp_directory_find(const mp_directories *directories, uint32_t container);

/* Adds the directory of a container that has none. NULL if the budget is spent. */
mp_directory *mp_directory_add(mp_directories *directories, uint32_t container);

/*
 * Gives a directory memory for the marks of an array of n elements, unless it has it. mean is the mean size of the
 * elements: there are as many marks as that and the budget allow. False if the budget is spent.
 */
bool mp_directory_give_marks(mp_directories *directories, mp_directory *directory, uint32_t n, size_t mean);

/* Gives a directory, which has none, an empty table for n keys. False if the budget is spent. */
bool mp_directory_give_keys(mp_directories *directories, mp_directory *directory, uint32_t n, mp_find_which which);

/* Frees the table, which could not be filled. */
void mp_directory_take_keys(mp_directories *directories, mp_directory *directory);

#endif
