/*
 * Runs each file, .../TARGET/NAME, through the target of its folder, or through all targets if the folder has another
 * name. Prints each file before it runs and their number at the end. A broken promise aborts.
 */
#include "target.h"

typedef struct {
    const char *name;
    void (*run)(const uint8_t *bytes, size_t n);
} target;

static const target targets[] = {
#define MP_TARGET_ROW(name) {#name, mp_fuzz_##name},
    MP_TARGETS(MP_TARGET_ROW)
};

/* True if path is .../name/... */
static bool
in_folder_p(const char *path, const char *name)
{
    const char *end = strrchr(path, '/');
    size_t n = strlen(name);

    return end && (size_t)(end - path) > n && end[-(ptrdiff_t)n - 1] == '/' && !memcmp(end - n, name, n);
}

/* Runs the targets that a file is for. */
static void
run_file(const char *path, const uint8_t *bytes, size_t n)
{
    size_t count = sizeof(targets) / sizeof(targets[0]), i;

    for (i = 0; i < count; i++) {
        if (!in_folder_p(path, targets[i].name)) continue;
        targets[i].run(bytes, n);
        return;
    }
    for (i = 0; i < count; i++) targets[i].run(bytes, n);
}

static size_t
read_file(const char *path, uint8_t *bytes, size_t max)
{
    FILE *file = fopen(path, "rb");
    size_t n;

    if (!file) {
        perror(path);
        exit(1);
    }
    n = fread(bytes, 1, max, file);
    fclose(file);
    return n;
}

int
main(int argc, char **argv)
{
    static uint8_t bytes[MP_FUZZ_MAX];
    int i;

    for (i = 1; i < argc; i++) {
        size_t n = read_file(argv[i], bytes, sizeof(bytes));
        printf("%s\n", argv[i]);
        fflush(stdout);
        run_file(argv[i], bytes, n);
    }
    printf("core: %d inputs replayed\n", argc - 1);
    return 0;
}
