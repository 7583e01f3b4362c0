/*
 * A reference that follows the specification word by word: slow, simple, recursive. It uses only the names of the core.
 */
#define _DEFAULT_SOURCE /* for mmap */

#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    mp_reference result;
    const uint8_t *end;
    size_t depth, max_depth;
    bool valid;
} reader;

/* A page, and after it one that nobody may touch. Returns where the first ends. */
static uint8_t *
edge_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page < MP_FUZZ_MAX || pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE)) abort();
    return pages + page;
}

const uint8_t *
mp_at_the_edge(const uint8_t *bytes, size_t n)
{
    static uint8_t *edge;

    if (!edge) edge = edge_new();
    if (n > MP_FUZZ_MAX) abort();
    if (n) memmove(edge - n, bytes, n);
    return edge - n;
}

static uint64_t
number(const uint8_t *p, size_t width)
{
    uint64_t n = 0;

    while (width--) n = n << 8 | *p++;
    return n;
}

static mp_plain_head
by_first_byte(uint8_t byte)
{
    if (byte <= 0x7f) return (mp_plain_head){MP_FIXINT, 1, byte};
    if (byte <= 0x8f) return (mp_plain_head){MP_MAP, 1, byte - 0x80u};
    if (byte <= 0x9f) return (mp_plain_head){MP_ARRAY, 1, byte - 0x90u};
    if (byte <= 0xbf) return (mp_plain_head){MP_STR, 1, byte - 0xa0u};
    if (byte >= 0xe0) return (mp_plain_head){MP_FIXINT, 1, byte - UINT64_C(0x100)};
    switch (byte) {
      case 0xc0: return (mp_plain_head){MP_NIL, 1, 0};
      case 0xc1: return (mp_plain_head){MP_NEVER, 1, 0};
      case 0xc2: return (mp_plain_head){MP_FALSE, 1, 0};
      case 0xc3: return (mp_plain_head){MP_TRUE, 1, 0};
      case 0xc4: return (mp_plain_head){MP_BIN, 2, 0};
      case 0xc5: return (mp_plain_head){MP_BIN, 3, 0};
      case 0xc6: return (mp_plain_head){MP_BIN, 5, 0};
      case 0xc7: return (mp_plain_head){MP_EXT, 3, 0};
      case 0xc8: return (mp_plain_head){MP_EXT, 4, 0};
      case 0xc9: return (mp_plain_head){MP_EXT, 6, 0};
      case 0xca: return (mp_plain_head){MP_FLOAT32, 5, 0};
      case 0xcb: return (mp_plain_head){MP_FLOAT64, 9, 0};
      case 0xcc: return (mp_plain_head){MP_UINT, 2, 0};
      case 0xcd: return (mp_plain_head){MP_UINT, 3, 0};
      case 0xce: return (mp_plain_head){MP_UINT, 5, 0};
      case 0xcf: return (mp_plain_head){MP_UINT, 9, 0};
      case 0xd0: return (mp_plain_head){MP_INT, 2, 0};
      case 0xd1: return (mp_plain_head){MP_INT, 3, 0};
      case 0xd2: return (mp_plain_head){MP_INT, 5, 0};
      case 0xd3: return (mp_plain_head){MP_INT, 9, 0};
      case 0xd4: return (mp_plain_head){MP_EXT, 2, 1};
      case 0xd5: return (mp_plain_head){MP_EXT, 2, 2};
      case 0xd6: return (mp_plain_head){MP_EXT, 2, 4};
      case 0xd7: return (mp_plain_head){MP_EXT, 2, 8};
      case 0xd8: return (mp_plain_head){MP_EXT, 2, 16};
      case 0xd9: return (mp_plain_head){MP_STR, 2, 0};
      case 0xda: return (mp_plain_head){MP_STR, 3, 0};
      case 0xdb: return (mp_plain_head){MP_STR, 5, 0};
      case 0xdc: return (mp_plain_head){MP_ARRAY, 3, 0};
      case 0xdd: return (mp_plain_head){MP_ARRAY, 5, 0};
      case 0xde: return (mp_plain_head){MP_MAP, 3, 0};
      default: return (mp_plain_head){MP_MAP, 5, 0};
    }
}

mp_plain_head
mp_reference_head(const uint8_t *p, const uint8_t *end)
{
    mp_plain_head head = {MP_NEVER, 1, 0};
    size_t width;

    if (p == end) return head;
    head = by_first_byte(*p);
    if (head.size > (size_t)(end - p)) return head;
    width = head.size - 1;
    if (head.kind == MP_EXT) width--; /* its type */
    if (width) head.n = number(p + 1, width);
    if (head.kind == MP_INT && width < 8 && p[1] > 0x7f) head.n -= UINT64_C(1) << (8 * width);
    return head;
}

static void read_object(reader *r);

static void
stop(reader *r, mp_status status)
{
    r->result.status = status;
}

static void
read_elements(reader *r, const mp_plain_head *head)
{
    uint64_t n = head->kind == MP_MAP ? head->n * 2 : head->n;

    if (n && r->depth == r->max_depth) {
        stop(r, MP_E_DEPTH);
        return;
    }
    if (n) r->depth++;
    r->result.at += head->size;
    if (n) {
        while (n-- && r->result.status == MP_OK) read_object(r);
        r->depth--;
    }
}

static void
read_payload(reader *r, const mp_plain_head *head)
{
    const uint8_t *payload = r->result.at + head->size;
    uint64_t here = (uint64_t)(r->end - payload);
    bool timestamp = head->kind == MP_EXT && payload[-1] == 0xff;

    if (r->valid && (head->kind == MP_STR || timestamp)) {
        mp_status status = MP_E_TRUNCATED;
        if (head->n <= here) {
            if (timestamp) status = mp_reference_timestamp(payload, (size_t)head->n);
            else status = mp_reference_utf8_p(payload, (size_t)head->n) ? MP_OK : MP_E_UTF8;
        }
        if (status != MP_OK) {
            stop(r, status);
            return;
        }
    }
    r->result.at += head->size;
    if (head->n > here) {
        r->result.payload = head->n - here;
        r->result.at = r->end;
        stop(r, MP_E_TRUNCATED);
    } else {
        r->result.at += head->n;
    }
}

static void
read_object(reader *r)
{
    mp_plain_head head = mp_reference_head(r->result.at, r->end);

    if (head.size > (size_t)(r->end - r->result.at)) {
        stop(r, MP_E_TRUNCATED);
        return;
    }
    switch (head.kind) {
      case MP_NEVER:
        stop(r, MP_E_BAD_HEAD);
        break;
      case MP_ARRAY:
      case MP_MAP:
        read_elements(r, &head);
        break;
      case MP_STR:
      case MP_BIN:
      case MP_EXT:
        read_payload(r, &head);
        break;
      default:
        r->result.at += head.size;
        break;
    }
}

mp_reference
mp_reference_walk(const uint8_t *p, const uint8_t *end, size_t max_depth, bool valid)
{
    reader r = {.result = {.at = p, .status = MP_OK}, .end = end, .max_depth = max_depth, .valid = valid};

    read_object(&r);
    return r.result;
}

bool
mp_reference_utf8_p(const uint8_t *p, size_t n)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    size_t i = 0;

    while (i < n) {
        uint32_t c = p[i++];
        size_t more, left;

        if (c < 0x80) continue;
        if (c >= 0xc0 && c <= 0xdf) more = 1;
        else if (c >= 0xe0 && c <= 0xef) more = 2;
        else if (c >= 0xf0 && c <= 0xf7) more = 3;
        else return false;
        c &= 0x3fu >> more;
        for (left = more; left; left--) {
            if (i == n || p[i] < 0x80 || p[i] > 0xbf) return false;
            c = c * 64 + (p[i++] - 0x80u);
        }
        if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return false;
    }
    return true;
}

mp_status
mp_reference_timestamp(const uint8_t *p, size_t n)
{
    uint64_t nsec = 0;

    if (n != 4 && n != 8 && n != 12) return MP_E_TIMESTAMP_SIZE;
    if (n == 8) nsec = number(p, 8) / 0x400000000u;
    if (n == 12) nsec = number(p, 4);
    return nsec < 1000000000 ? MP_OK : MP_E_TIMESTAMP_NSEC;
}
