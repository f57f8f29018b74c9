/* Life of a client: made, referred to, put away. See client.h. */
#include "core/client.h"

#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "core/client_open.h"
#include "core/error.h"
#include "core/payload.h"
#include "core/url.h"

bool pawl__is_forked(unsigned generation)
{
    return generation != pawl__fork_generation();
}

pawl_status pawl__client_check(const pawl_client *client, pawl_error *err)
{
    if (client == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the client is NULL");
    }
    if (pawl__is_forked(client->generation)) {
        return pawl__error_set(err, PAWL_E_FORKED, 0,
                               "this process was forked; the client is its parent's: open another");
    }
    return PAWL_OK;
}

uint64_t pawl__client_random(pawl_client *client)
{
    uint64_t value = 0;

    (void)pthread_mutex_lock(&client->mu);
    while (value == 0) {
        value = pawl__rand_u64(&client->rand);
    }
    (void)pthread_mutex_unlock(&client->mu);
    return value;
}

/* Session ids and jitter of the core. */
static uint64_t random_for_core(void *ctx)
{
    return pawl__client_random(ctx);
}

static void post_backend_event(void *ctx, struct pawl__backend_event *event)
{
    pawl_client *client = ctx;

    pawl__mailbox_post_event(&client->mailbox, event);
}

static struct pawl__boot read_clock(void *ctx)
{
    (void)ctx;
    return pawl__boot_now();
}

/* Async-signal-safe, no lock: see fork.h. */
static void close_in_child(struct pawl__fork_node *node)
{
    pawl_client *client = PAWL_LIST_ENTRY(node, pawl_client, fork_node);

    (void)close(client->mailbox.event_fd); /* Nothing can be done about a failure here. */
    (void)close(client->timer_fd);
    pawl__dispatch_fork_child(&client->dispatch);
    pawl__backend_fork_child(client->backend);
}

/* ---- References -------------------------------------------------------------------------------
 */

pawl_client *pawl__client_ref(pawl_client *client)
{
    unsigned before = atomic_fetch_add_explicit(&client->refs, 1, memory_order_relaxed);

    PAWL_INVARIANT(before > 0);
    return client;
}

/* Also of one that was never opened whole. */
static void destroy(pawl_client *client)
{
    PAWL_INVARIANT(client->backend == NULL);
    PAWL_INVARIANT(client->core == NULL);
    pawl__mailbox_release(&client->mailbox);
    pawl__dispatch_release(&client->dispatch);
    pawl__lease_view_unref(client->view);
    pawl__lease_view_unref(client->spare_view);
    (void)pthread_cond_destroy(&client->cond);
    (void)pthread_mutex_destroy(&client->mu);
    pawl__free(client->url);
    pawl__free(client->principal);
    pawl__free(client->host);
    pawl__free(client);
}

void pawl__client_unref(pawl_client *client)
{
    unsigned before = atomic_fetch_sub_explicit(&client->refs, 1, memory_order_acq_rel);

    PAWL_INVARIANT(before > 0);
    if (before == 1) {
        destroy(client);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------
 */

/* The empty shell; NULL when memory or descriptors are out. */
static pawl_client *new_shell(size_t max_requests)
{
    pawl_client *client = pawl__alloc(sizeof *client);
    uint64_t seed = 0;

    if (client == NULL) {
        return NULL;
    }
    if (!pawl__mailbox_init(&client->mailbox, max_requests)) {
        pawl__free(client);
        return NULL;
    }
    if (!pawl__dispatch_init(&client->dispatch)) {
        pawl__mailbox_release(&client->mailbox);
        pawl__free(client);
        return NULL;
    }
    int rc = pthread_mutex_init(&client->mu, NULL);
    PAWL_INVARIANT(rc == 0);
    pawl__cond_init_monotonic(&client->cond);
    atomic_init(&client->refs, 1);
    client->generation = pawl__fork_generation();
    client->pid = (int)getpid();
    client->timer_fd = -1;
    client->timer_at = PAWL__BOOT_NEVER;
    client->close_deadline = PAWL__BOOT_NEVER;
    pawl__list_init(&client->fork_node.link);
    client->fork_node.in_child = close_in_child;
    client->backend_host =
        (struct pawl__backend_host){.post = post_backend_event, .now = read_clock, .ctx = client};
    if (!pawl__random_bytes(&seed, sizeof seed)) {
        /* A kernel without random numbers yet: still another seed in every process. */
        seed = (uint64_t)client->pid << 32 ^ (uint64_t)pawl__wall_ms();
    }
    pawl__rand_init(&client->rand, seed);
    return client;
}

/* What it says about itself. False: no memory. */
static bool name_shell(pawl_client *client, const struct pawl__url *url)
{
    char host[PAWL__HOST_MAX + 1];
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__url_text(url, &buf);
    client->url = pawl__buf_detach(&buf, NULL);
    if (client->url == NULL || pawl__principal_os(&buf) != PAWL_OK) {
        pawl__buf_release(&buf);
        return false;
    }
    client->principal = pawl__buf_detach(&buf, NULL);
    pawl__host_name(host);
    client->host = pawl__strdup(host);
    return client->principal != NULL && client->host != NULL;
}

static struct pawl__core *new_core(pawl_client *client, const struct pawl__settings *settings)
{
    struct pawl__core_config config = {.ttl_ms = settings->ttl_ms,
                                       .margin_ms = settings->margin_ms,
                                       .renew_ms = settings->renew_ms,
                                       .request_timeout_ms = settings->request_timeout_ms,
                                       .retry_base_ms = settings->retry_base_ms,
                                       .retry_cap_ms = settings->retry_cap_ms,
                                       .principal = client->principal,
                                       .random = random_for_core,
                                       .random_ctx = client};

    return pawl__core_new(&config);
}

/* All that needs no store. */
static bool furnish(pawl_client *client, const struct pawl__url *url,
                    const struct pawl__settings *settings)
{
    client->request_timeout_ms = settings->request_timeout_ms;
    if (!name_shell(client, url)) {
        return false;
    }
    client->core = new_core(client, settings);
    client->spare_view = pawl__lease_view_new();
    client->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    return client->core != NULL && client->spare_view != NULL && client->timer_fd >= 0;
}

static pawl_status open_backend(pawl_client *client, const struct pawl__url *url,
                                const struct pawl__settings *settings, pawl_error *err)
{
    struct pawl__backend_settings backend_settings = {
        .url = url,
        .store_id = settings->store_id,
        .root = settings->root,
        .principal = client->principal,
        .request_timeout_ms = settings->request_timeout_ms,
        .connect_timeout_ms = settings->connect_timeout_ms};

    return pawl__backend_open(&backend_settings, &client->backend_host, &client->backend,
                              &client->info, err);
}

/* Undoes what was done before the owner thread; afterwards that thread does it. */
static void abandon(pawl_client *client)
{
    pawl__mailbox_end(&client->mailbox);
    pawl__backend_close(client->backend, client->request_timeout_ms);
    client->backend = NULL;
    pawl__mailbox_end(&client->mailbox); /* what the backend still sent */
    pawl__core_free(client->core);
    client->core = NULL;
    if (client->timer_fd >= 0) {
        (void)close(client->timer_fd); /* A timer has nothing to flush. */
    }
    pawl__client_unref(client);
}

pawl_status pawl__client_new(const struct pawl__url *url, const struct pawl__settings *settings,
                             pawl_client **ret_client, pawl_error *err)
{
    pawl_client *client = new_shell(settings->max_requests);

    if (client == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory or descriptor for a client");
    }
    if (!furnish(client, url, settings)) {
        abandon(client);
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory or descriptor for a client");
    }
    pawl_status status = open_backend(client, url, settings, err);
    if (status != PAWL_OK) {
        abandon(client);
        return status;
    }
    if (!pawl__fork_register(&client->fork_node)) {
        abandon(client);
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the handlers of fork()");
    }
    if (!pawl__owner_start(client)) {
        pawl__fork_unregister(&client->fork_node);
        abandon(client);
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no thread for the client");
    }
    *ret_client = client;
    return PAWL_OK;
}

/* ---- Closing ----------------------------------------------------------------------------------
 */

/* Waits for the owner thread to end. False: it is stuck in the backend. */
static bool wait_for_owner(pawl_client *client, struct pawl__boot end, pawl_status *ret_status)
{
    (void)pthread_mutex_lock(&client->mu);
    while (!client->is_finished) {
        int64_t left_ms = pawl__boot_diff(end, pawl__boot_now());
        if (left_ms <= 0) {
            break;
        }
        (void)pawl__cond_wait_ms(&client->cond, &client->mu, left_ms);
    }
    bool is_finished = client->is_finished;
    *ret_status = is_finished ? client->finish_status : PAWL_E_UNKNOWN;
    (void)pthread_mutex_unlock(&client->mu);
    return is_finished;
}

pawl_status pawl__client_end(pawl_client *client, int64_t timeout_ms)
{
    struct pawl__boot deadline = pawl__boot_add(pawl__boot_now(), timeout_ms);
    pawl_status status = PAWL_OK;

    pawl__mailbox_close(&client->mailbox, deadline);
    if (wait_for_owner(client, pawl__boot_add(deadline, PAWL__CLOSE_GRACE_MS), &status)) {
        (void)pthread_join(client->owner, NULL);
    } else {
        /* Whoever waits gets an end all the same. The thread puts away the rest when it comes back.
         */
        (void)pthread_detach(client->owner);
        pawl__mailbox_end(&client->mailbox);
    }
    int64_t left_ms = pawl__boot_diff(deadline, pawl__boot_now());
    pawl__dispatch_end(&client->dispatch, left_ms > PAWL__GRACE_MS ? left_ms : PAWL__GRACE_MS);
    pawl__client_unref(client);
    return status;
}
