/*
 * Several Paths in one walk over a message: three keys of each of 2,000 rows take 0.46 of three walks. The Paths are
 * merged into a tree of what they have in common. $[*].id, $[*].name and $[*].tags[0] become
 *
 *     the message -> [*] -> id
 *                        -> name
 *                        -> tags, where the third Path goes on alone
 */
#include "path/several.h"

#include "base/stack.h"
#include "path/search.h"

/* A position that some Paths reach by equal selectors. */
typedef struct node {
    long step;                   /* the segment that comes next */
    const mp_selector *selector; /* the one that leads here from the node above */
    mp_search *alone;            /* the searches that go on alone from here, linked by their `next` */
    struct node *all;            /* the node for every value; or NULL */
    struct node *keys;           /* the nodes for single keys and indices: as many as wanted has keys */
    mp_wanted wanted;
} node;

typedef struct {
    node *nodes;
    mp_wanted_key *keys; /* for each node, its key in the node above */
    size_t count;
} tree;

/* --- the tree ----------------------------------------------------------------------------------------- */

static const mp_selector *
selector_at(const mp_search *s, long step)
{
    return s->query->segments[step].selectors;
}

/* True if a step can share a walk: it has one selector, and its key can be compared by bytes. */
static bool
shared_p(const mp_search *s, long step)
{
    const mp_segment *segment = s->query->segments + step;

    return step < s->query->count && !segment->descendant && segment->count == 1
        && segment->selectors->kind <= MP_SELECT_ALL && mp_search_by_bytes_p(s, segment->selectors);
}

static node *
add_node(tree *tree, long step, const mp_selector *selector)
{
    node *added = &tree->nodes[tree->count++];

    *added = (node){.step = step, .selector = selector};
    return added;
}

/* Returns the node for a key or index after another node. All of these are made before any other node. */
static node *
key_node(tree *tree, node *above, const mp_selector *selector)
{
    uint32_t i;

    for (i = 0; i < above->wanted.count; i++) {
        const mp_selector *known = above->keys[i].selector;

        if (known->kind == selector->kind && !mp_key_compare(&known->key, &selector->key)) return above->keys + i;
    }
    mp_wanted_add(&above->wanted, &selector->key);
    return add_node(tree, above->step + 1, selector);
}

static void
append_search(mp_search **list, mp_search *s)
{
    while (*list) list = &(*list)->next;
    *list = s;
    s->next = NULL;
}

/* Makes the nodes after a node, and moves to them those searches in its `alone` that can share a walk. */
static void
grow(tree *tree, node *node)
{
    mp_search *s = node->alone, *next, *all = NULL;

    if (!s->next) return; /* a single search needs no shared walk */
    node->alone = NULL;
    node->keys = tree->nodes + tree->count;
    node->wanted.keys = tree->keys + tree->count;
    for (; s; s = next) {
        next = s->next;
        if (!shared_p(s, node->step)) append_search(&node->alone, s);
        else if (selector_at(s, node->step)->kind == MP_SELECT_ALL) append_search(&all, s);
        else append_search(&key_node(tree, node, selector_at(s, node->step))->alone, s);
    }
    if (!all) return;
    node->all = add_node(tree, node->step + 1, NULL);
    node->all->alone = all;
}

/* --- the walk ----------------------------------------------------------------------------------------- */

static size_t visit(mp_peek *peek, const node *node, size_t at, bool wanted);

/* The index of the element that a node selects in an array of n; at least n if there is none. */
static uint64_t
element_of(const node *node, uint64_t n)
{
    return node->selector->kind == MP_SELECT_INDEX ? (uint64_t)mp_selector_index(node->selector, n) : n;
}

/* The number of elements of an array of n up to the last that a node selects by an index. */
static uint64_t
elements_wanted(const node *node, uint64_t n)
{
    uint64_t most = 0;
    uint32_t i;

    for (i = 0; i < node->wanted.count; i++) {
        uint64_t index = element_of(node->keys + i, n);

        if (index >= most && index < n) most = index + 1;
    }
    return most;
}

/* mp_find_wanted for an array: sets values[i] to the offset of the element that keys[i] of a node selects, or to 0. */
static void
find_elements(mp_peek *peek, mp_cursor *cursor, const node *node, size_t *values)
{
    uint64_t n = cursor->left, most = elements_wanted(node, n), i;
    uint32_t k;

    memset(values, 0, node->wanted.count * sizeof(*values));
    for (i = 0; i < most; i++) {
        for (k = 0; k < node->wanted.count; k++) {
            if (element_of(node->keys + k, n) == i) values[k] = cursor->at;
        }
        if (i + 1 < most) mp_peek_check(peek, mp_cursor_next(cursor));
    }
}

/* Visits the values of a container that a node selects by keys or indices. The cursor has just opened it. */
static void
visit_keys(mp_peek *peek, const node *node, mp_cursor *cursor)
{
    bool last = mp_peek_which(&peek->codec->options) == MP_FIND_LAST;
    size_t values[MP_SEVERAL_MAX];
    uint32_t i;

    if (cursor->kind == MP_ARRAY) find_elements(peek, cursor, node, values);
    else mp_peek_check(peek, mp_find_wanted(cursor, &node->wanted, last, values));
    for (i = 0; cursor->kind == MP_MAP && !node->step && peek->alone && i < node->wanted.count; i++) {
        if (!values[i]) mp_peek_ended(peek, cursor->at); /* the search has come to the end of the message */
    }
    for (i = 0; i < node->wanted.count; i++) {
        if (values[i]) visit(peek, node->keys + i, values[i], false);
    }
}

/* Visits the values that a node selects in the object at an offset. If wanted, returns the offset after it. */
static size_t
visit_parts(mp_peek *peek, const node *node, size_t at, bool wanted)
{
    mp_cursor opened, cursor;

    if (!mp_container_p(mp_peek_kind(peek, at))) return wanted ? mp_peek_over(peek, at) : 0;
    mp_search_open(peek, &opened, at, node->step);
    cursor = opened;
    if (node->wanted.count) visit_keys(peek, node, &cursor);
    if (node->all) cursor = opened;
    for (; node->all && cursor.left; cursor.left--) {
        if (cursor.kind == MP_MAP) mp_peek_check(peek, mp_cursor_next(&cursor));
        cursor.at = visit(peek, node->all, cursor.at, wanted || cursor.left > 1);
    }
    if (wanted && cursor.left) mp_peek_check(peek, mp_cursor_skip(&cursor, cursor.left));
    return cursor.at;
}

static bool
parts_p(const node *node)
{
    return node->all || node->wanted.count;
}

/* Continues all searches of a node in the object at an offset. If wanted, returns the offset after the object. */
static size_t
visit(mp_peek *peek, const node *node, size_t at, bool wanted)
{
    size_t end = 0;
    mp_search *s;

    if (mp_stack_too_deep_p((uint32_t)node->step)) mp_peek_raise(peek, MP_E_DEPTH);
    if (MP_UNLIKELY(at >= peek->look.size)) mp_peek_over(peek, at);
    if (parts_p(node)) end = visit_parts(peek, node, at, wanted);
    for (s = node->alone; s; s = s->next) {
        if (end) mp_search_from(s, at, node->step, false, NULL);
        else end = mp_search_from(s, at, node->step, wanted, NULL);
    }
    return end;
}

/* True if the walk over the object at an offset always reaches its end. */
static bool
walks_to_end_p(const mp_peek *peek, const node *root, size_t at)
{
    mp_kind kind = mp_peek_kind(peek, at);

    if (kind == MP_MAP && mp_peek_which(&peek->codec->options) == MP_FIND_LAST) return true;
    return root->all || !mp_container_p(kind);
}

void
mp_search_several(mp_search *searches, int n)
{
    mp_peek *peek = searches->peek;
    size_t at = searches->start, most = 1, i;
    VALUE nodes_memory, keys_memory;
    tree tree = {.count = 0};
    node *root;
    mp_search *s;

    for (s = searches; s < searches + n; s++) most += (size_t)s->query->count;
    tree.nodes = ALLOCV_N(node, nodes_memory, most);
    tree.keys = ALLOCV_N(mp_wanted_key, keys_memory, most);
    root = add_node(&tree, 0, NULL);
    for (s = searches; s < searches + n; s++) append_search(&root->alone, s);
    for (i = 0; i < tree.count; i++) grow(&tree, tree.nodes + i);
    for (s = root->alone; s; s = s->next) mp_search_run(s);
    if (parts_p(root)) {
        bool whole = peek->alone && walks_to_end_p(peek, root, at);
        size_t end = visit_parts(peek, root, at, whole);

        if (whole) mp_peek_ended(peek, end);
    }
    ALLOCV_END(keys_memory);
    ALLOCV_END(nodes_memory);
}
