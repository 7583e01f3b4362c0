/* The sentences of the status list. */
#include "status.h"

#define MP_STATUS_TEXT(name, text) text,
static const char *const status_texts[] = {MP_STATUSES(MP_STATUS_TEXT)};
#undef MP_STATUS_TEXT

const char *
mp_status_text(mp_status status)
{
    return (unsigned)status < MP_STATUS_COUNT ? status_texts[status] : "unknown status";
}
