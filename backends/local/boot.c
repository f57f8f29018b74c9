/* See boot.h. */
#include "backends/local/boot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pawl__local_boot_id(char out[PAWL__LOCAL_BOOT_ID_SIZE])
{
#ifdef PAWL_FAULT_POINTS
    const char *forced = getenv("PAWL_TEST_BOOT_ID");
    if (forced != NULL) {
        (void)snprintf(out, PAWL__LOCAL_BOOT_ID_SIZE, "%s", forced);
        return true;
    }
#endif
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t len = read(fd, out, PAWL__LOCAL_BOOT_ID_SIZE - 1);
    (void)close(fd);
    if (len != PAWL__LOCAL_BOOT_ID_SIZE - 1) {
        return false;
    }
    out[len] = '\0';
    /* It goes into SQL text. */
    return strspn(out, "0123456789abcdef-") == (size_t)len;
}
