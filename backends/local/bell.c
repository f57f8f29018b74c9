/* Bells: a FIFO for each session, by which other processes tell its owner of commits that concern
 * it. Only hints: a message may be lost, and a slow poll is behind. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/local.h"
#include "base/assert.h"

/* One write, below PIPE_BUF, so that messages never mix. */
struct message {
    uint64_t number;
    uint32_t reason;
    uint32_t zero;
};
_Static_assert(sizeof(struct message) == 16, "no padding");

#define READ_MAX 256
/* Of a full FIFO something was lost. */
#define FULL_COUNT (65536 / sizeof(struct message))

int pawl__local_bell_open(const struct pawl__local_dir *dir, uint64_t session)
{
    char path[PAWL__LOCAL_PATH_MAX];

    pawl__local_dir_path(path, dir->bells, session, "");
    if (mkfifo(path, dir->file_mode) != 0) {
        return -1;
    }
    /* Both ends: with a writer of its own a FIFO never reports an end. */
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && dir->is_shared) {
        (void)fchmod(fd, dir->file_mode); /* Else others of the group cannot ring: they poll. */
    }
    return fd;
}

void pawl__local_bell_ring(const struct pawl__local_dir *dir, const struct pawl__local_ring *ring)
{
    char path[PAWL__LOCAL_PATH_MAX];
    struct message message = {ring->number, ring->reason, 0};

    pawl__local_dir_path(path, dir->bells, ring->session, "");
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return; /* Nobody there to hear it. */
    }
    ssize_t len = write(fd, &message, sizeof(message));
    (void)len; /* Full: it is told so much already that it looks after everything. */
    (void)close(fd);
}

static void post_hint(struct pawl__local *local, enum pawl__backend_event_kind kind,
                      uint64_t session, uint64_t number)
{
    struct pawl__backend_event *hint = pawl__backend_event_new(kind, 0);

    if (hint == NULL) {
        return; /* Hints may be lost. */
    }
    hint->session = session;
    hint->number = number;
    pawl__local_post(local, hint);
}

/* What comes from outside is not believed, only looked after. */
static void act(struct pawl__local *local, uint64_t session, const struct message *message)
{
    switch (message->reason) {
    case PAWL__LOCAL_RING_GONE:
        pawl__local_fire(local, message->number);
        break;
    case PAWL__LOCAL_RING_OWN:
        if (message->number != 0) {
            post_hint(local, PAWL__BEV_OWN, session, message->number);
        }
        break;
    case PAWL__LOCAL_RING_SESSION:
        post_hint(local, PAWL__BEV_SESSION, session, 0);
        break;
    default:
        break; /* Of a newer pawl. */
    }
}

void pawl__local_bell_read(struct pawl__local *local, struct pawl__local_session *session)
{
    struct message messages[READ_MAX];
    size_t total = 0;

    /* Bounded: more than a full FIFO is left for the next round. */
    while (total < FULL_COUNT) {
        ssize_t len = read(session->bell, messages, sizeof(messages));
        if (len <= 0) {
            break;
        }
        size_t count = (size_t)len / sizeof(messages[0]);
        for (size_t i = 0; i < count; i++) {
            act(local, session->id, &messages[i]);
        }
        total += count;
    }
    if (total >= FULL_COUNT) {
        pawl__local_fire_all(local);
        post_hint(local, PAWL__BEV_SESSION, session->id, 0);
    }
}
