/* See support.h. */
#include "test/runtime/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Noreturn void give_up(const char *what, const pawl_error *err)
{
    printf("Bail out! %s: %s\n", what, pawl_error_message(err));
    exit(1);
}

static pawl_client *open_with(const char *url, const char *ttl, const char *key, const char *text)
{
    pawl_error *err = pawl_error_new();
    pawl_options *options = pawl_options_new();
    pawl_client *client = NULL;

    if ((ttl != NULL && pawl_options_set(options, "ttl", ttl, err) != PAWL_OK) ||
        (key != NULL && pawl_options_set(options, key, text, err) != PAWL_OK) ||
        pawl_client_open(url, options, &client, err) != PAWL_OK) {
        give_up("no client", err);
    }
    pawl_options_free(options);
    pawl_error_free(err);
    return client;
}

pawl_client *open_fake_with(const char *ttl, const char *key, const char *text)
{
    return open_with("fake:", ttl, key, text);
}

pawl_client *open_fake(const char *ttl)
{
    return open_with("fake:", ttl, NULL, NULL);
}

pawl_client *open_url(const char *url, const char *ttl)
{
    return open_with(url, ttl, NULL, NULL);
}

static char local_url[64];

const char *enter_local(void)
{
    snprintf(local_url, sizeof local_url, "local:///tmp/pawl-runtime-XXXXXX");
    if (mkdtemp(local_url + strlen("local://")) == NULL) {
        printf("Bail out! no directory below /tmp\n");
        exit(1);
    }
    return local_url;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void leave_local(void)
{
    (void)nftw(local_url + strlen("local://"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool close_client(pawl_client *client)
{
    return pawl_client_close(client, 5000, NULL) == PAWL_OK;
}

pawl_request *request_of(const char *name)
{
    pawl_error *err = pawl_error_new();
    pawl_request *request = pawl_request_new();

    if (pawl_request_add(request, name, PAWL_MODE_X, err) != PAWL_OK) {
        give_up("no request", err);
    }
    pawl_error_free(err);
    return request;
}

pawl_hold *lock_now(pawl_client *client, const char *name)
{
    pawl_hold *hold = NULL;

    return pawl_lock(client, name, 5000, &hold, NULL) == PAWL_OK ? hold : NULL;
}

int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(int64_t ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (ms % 1000) * 1000000};

    nanosleep(&time, NULL);
}

bool wait_until(bool (*is_true)(void *ctx), void *ctx, int64_t timeout_ms)
{
    int64_t end = now_ms() + timeout_ms;

    while (!is_true(ctx)) {
        if (now_ms() >= end) {
            return false;
        }
        sleep_ms(1);
    }
    return true;
}
