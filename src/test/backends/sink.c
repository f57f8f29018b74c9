/* The other side of a fake: see fake.h. */
#include <string.h>

#include "fake.h"

static void sink_post(void *ctx, struct pawl__backend_event *event)
{
    struct sink *sink = ctx;

    pthread_mutex_lock(&sink->mu);
    pawl__backend_event_free(sink->last);
    sink->last = event;
    sink->count++;
    pthread_cond_broadcast(&sink->more);
    pthread_mutex_unlock(&sink->mu);
}

static struct pawl__boot sink_now(void *ctx)
{
    struct sink *sink = ctx;

    return sink->now;
}

void sink_init(struct sink *sink)
{
    memset(sink, 0, sizeof(*sink));
    sink->now.ms = 1000;
    (void)pthread_mutex_init(&sink->mu, NULL); /* Cannot fail on Linux. */
    pawl__cond_init_monotonic(&sink->more);
    sink->host = (struct pawl__backend_host){sink_post, sink_now, sink};
}

void sink_release(struct sink *sink)
{
    pawl__backend_event_free(sink->last);
    sink->last = NULL;
    (void)pthread_cond_destroy(&sink->more);
    (void)pthread_mutex_destroy(&sink->mu);
}

bool sink_wait(struct sink *sink, unsigned count)
{
    bool in_time = true;

    pthread_mutex_lock(&sink->mu);
    while (sink->count < count && in_time) {
        in_time = pawl__cond_wait_ms(&sink->more, &sink->mu, 2000);
    }
    bool came = sink->count >= count;
    pthread_mutex_unlock(&sink->mu);
    return came;
}

struct pawl__backend *open_fake(struct fake *fake, struct sink *sink)
{
    struct pawl__backend *backend = NULL;
    struct pawl__backend_settings settings = {
        .request_timeout_ms = 1000, .connect_timeout_ms = 1000, .context = fake};

    memset(fake, 0, sizeof(*fake));
    sink_init(sink);
    (void)pawl__backend_open_with(&fake_ops, &settings, &sink->host, &backend, NULL, NULL);
    return backend;
}
