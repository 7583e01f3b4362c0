/*
 * The changes that View#splice is given, as a tree: each node is a step of a path, below the node of the step before.
 * It is made before anything looks at the message, except for paths that can find several values.
 *
 *   mp_changes_init(&changes, view, hash);
 *   mp_changes_add_all(&changes, removed);
 *   mp_changes_prepare(&changes, 0);                     // before a key is taken: this may move its bytes
 *   child = mp_changes_find(&changes, 0, MP_NONE, &key); // the node of a key below another; 0 is the root
 */
#ifndef MANYPACK_CHANGES_H
#define MANYPACK_CHANGES_H

#include "base/support.h"
#include "core/key.h"

/* The bits of a node's number. */
#define MP_NODE_BITS 31

/* Stands for no node, since the root is below none, and for no object. */
#define MP_NONE 0

typedef enum { MP_LEAVE, MP_SET, MP_REMOVE, MP_CALL } mp_change;

/* What a splice finds out about a node. */
typedef enum {
    MP_ABSENT,  /* it is not in the message, and stays so */
    MP_PRESENT,
    MP_ADDED,   /* it comes after the last pair or element of its container */
} mp_presence;

/* A list of nodes, linked by their `beside`. */
typedef struct {
    uint32_t first, last;
} mp_node_list;

/* Objects are their indices in `objects`, because nothing here marks them. */
typedef struct {
    uint64_t bits;   /* of a number; of a name its offset in the text, and from bit 32 on its size */
    uint32_t object; /* the text that has the name; the step if it is neither that nor an integer */
    uint8_t kind;    /* an mp_kind: STR, UINT, INT, ...; NEVER if no message has such a key */
} mp_step_key;

/* There are as many of them as changes, so they are small: what few of them need is in an mp_more. */
typedef struct {
    mp_step_key step;
    uint8_t change;           /* an mp_change */
    uint8_t presence;         /* an mp_presence */
    bool create : 1;          /* containers that its path leads through may be made */
    bool created : 1;         /* it is a container that is made */
    uint32_t parent, next;    /* children are linked as they arrive, those of an array that is walked by index */
    uint32_t same;            /* the next node in the chain of the table */
    uint32_t beside;
    uint32_t value;
    uint32_t more;            /* the place of its mp_more; 0 for an empty one, which nobody changes */
    size_t value_at, end;     /* in the message: the value, the offset after it */
} mp_node;

/* What a node has that has children or another change than a new value. */
typedef struct {
    size_t at;                 /* in the message: the pair or element */
    uint32_t child, last, children;
    uint32_t renamer;          /* the pair of that node gets the key of this one */
    uint32_t inserted, appended, new_key;
    mp_node_list found, added; /* children by their places, children behind the last */
    bool mixed;                /* its children are not only indices that rise */
    bool array;                /* it is an array that is made */
} mp_more;

typedef struct {
    VALUE view;
    VALUE objects;      /* a hidden Array, if they are too many for `few_objects`; else 0 */
    VALUE memory;       /* of nodes, if they are too many for `few`; else 0 */
    VALUE more_memory;  /* the same of `mores` */
    VALUE table_memory; /* of the table; else 0 */
    mp_node *nodes;
    mp_more *mores;
    uint32_t count, room;
    uint32_t more_count, more_room;
    uint32_t *table;    /* first nodes of chains, for parents with many children; NULL until there is one */
    uint32_t mask;
    uint64_t secret;    /* makes the chains of numbers unpredictable */
    bool calls;         /* one of them is a Proc or Method */
    bool resizes;       /* one of them may remove or insert something */
    uint32_t object_count;
    VALUE few_objects[16]; /* nil, and then each path and its change; more are added */
    mp_node few[8];
    mp_more few_more[4];
} mp_changes;

/* Reads a Hash of paths and changes. Runs no code of the user's. */
void mp_changes_init(mp_changes *changes, VALUE view, VALUE hash);

/*
 * Makes the tree. removed is View::REMOVED. TypeError and ArgumentError for what is no path, and for changes that
 * exclude one another.
 */
void mp_changes_add_all(mp_changes *changes, VALUE removed);

/* Frees what the collector would free later. Nothing of the changes can be used any more. */
void mp_changes_end(mp_changes *changes);

/* Keeps an object alive, and returns its index. */
uint32_t mp_changes_keep(mp_changes *changes, VALUE object);

/* Gets ready to find children of a node, until it gets more of them. Allocates. */
void mp_changes_prepare(mp_changes *changes, uint32_t parent);

/*
 * The child that has the key; MP_NONE without one. `likely` is the child to try first, or MP_NONE. The parent must be
 * prepared. Allocates nothing.
 */
uint32_t mp_changes_find(const mp_changes *changes, uint32_t parent, uint32_t likely, const mp_key *key);

/* Adds the changes of one child to those of another, because both turn out to be the same element. */
void mp_changes_merge(mp_changes *changes, uint32_t into, uint32_t node);

/* A step as an object. */
VALUE mp_changes_step(const mp_changes *changes, const mp_step_key *step);

/* The same as a key. It refers to the bytes of an object, so it is valid until something allocates. */
mp_key mp_changes_key(const mp_changes *changes, const mp_step_key *step);

/* The Path of a node, for errors. */
VALUE mp_changes_path(const mp_changes *changes, uint32_t node);

MP_INLINE VALUE
mp_changes_object(const mp_changes *changes, uint32_t object)
{
    return changes->objects ? RARRAY_AREF(changes->objects, (long)object) : changes->few_objects[object];
}

MP_INLINE const mp_more *
mp_node_more(const mp_changes *changes, uint32_t id)
{
    return &changes->mores[changes->nodes[id].more];
}

/* True for a step that means an element of an array. */
MP_INLINE bool
mp_step_index_p(const mp_step_key *step)
{
    return step->kind == MP_UINT || step->kind == MP_INT;
}

/* True for a step that is a name: a str, or a bin of the same bytes. */
MP_INLINE bool
mp_step_name_p(const mp_step_key *step)
{
    return step->kind == MP_STR || step->kind == MP_BIN;
}

/* The size of a name. */
MP_INLINE uint32_t
mp_step_size(const mp_step_key *step)
{
    return (uint32_t)(step->bits >> 32);
}

/* Raises an exception with the path of a node in front of the words. */
PRINTF_ARGS(NORETURN(void mp_changes_refuse(const mp_changes *changes, VALUE klass, uint32_t node, const char *format,
                                            ...)), 4, 5);

#endif
