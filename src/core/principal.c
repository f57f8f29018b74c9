/* Who this process is, as the operating system knows it. Declared in payload.h. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "core/payload.h"

/* Room for one record of the user database; directories can have long ones. */
#define RECORD_FIRST 1024
#define RECORD_MAX   1048576

#define USER_MAX (PAWL__OWNER_MAX - PAWL__HOST_MAX - 4) /* "os:" and "@" */

void pawl__host_name(char out[PAWL__HOST_MAX + 1])
{
    if (gethostname(out, PAWL__HOST_MAX + 1) != 0) {
        out[0] = '\0';
    }
    out[PAWL__HOST_MAX] = '\0'; /* A name that was cut need not be terminated. */
    if (out[0] == '\0') {
        (void)snprintf(out, PAWL__HOST_MAX + 1, "localhost");
    }
}

/* Looks the user up with room for `size` bytes. Returns an errno: ERANGE = more room is needed. */
static int look_up(uid_t uid, size_t size, char out[USER_MAX + 1])
{
    struct passwd record;
    struct passwd *found = NULL;
    char *room = pawl__alloc(size);

    if (room == NULL) {
        return ENOMEM;
    }
    int code = getpwuid_r(uid, &record, room, size, &found);
    if (code == 0 && found != NULL && record.pw_name != NULL) {
        (void)snprintf(out, USER_MAX + 1, "%s", record.pw_name);
    }
    pawl__free(room);
    return code;
}

pawl_status pawl__principal_os(struct pawl__buf *buf)
{
    char host[PAWL__HOST_MAX + 1];
    char user[USER_MAX + 1] = "";
    uid_t uid = geteuid();
    int code = ERANGE;

    for (size_t size = RECORD_FIRST; code == ERANGE && size <= RECORD_MAX; size *= 4) {
        code = look_up(uid, size, user);
    }
    if (code == ENOMEM) {
        return PAWL_E_NOMEM;
    }
    /* No record, or a name service that does not answer: the number is true in any case. */
    if (user[0] == '\0') {
        (void)snprintf(user, sizeof(user), "%lu", (unsigned long)uid);
    }
    pawl__host_name(host);
    pawl__buf_appendf(buf, "os:%s@%s", user, host);
    return pawl__buf_ok(buf) ? PAWL_OK : PAWL_E_NOMEM;
}
