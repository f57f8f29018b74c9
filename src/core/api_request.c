/* The functions of lock.h that build a request. */
#include "core/request_form.h"

#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "core/error.h"
#include "core/name.h"
#include "core/payload.h"

pawl_request *pawl_request_new(void)
{
    return pawl__alloc(sizeof(struct pawl_request));
}

void pawl_request_free(pawl_request *request)
{
    if (request == NULL) {
        return;
    }
    for (size_t i = 0; i < request->count; i++) {
        pawl__free(request->names[i].name);
    }
    pawl__free(request->names);
    pawl__free(request->reason);
    pawl__free(request->run);
    pawl__free(request->trace);
    pawl__free(request);
}

pawl_status pawl_request_add(pawl_request *request, const char *name, pawl_mode mode,
                             pawl_error *err)
{
    if (name == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the name of the lock is NULL");
    }
    return pawl_request_add_bytes(request, name, strlen(name), mode, err);
}

static struct pawl__request_name *find_name(const struct pawl_request *request, const char *name)
{
    for (size_t i = 0; i < request->count; i++) {
        if (strcmp(request->names[i].name, name) == 0) {
            return &request->names[i];
        }
    }
    return NULL;
}

/* Takes ownership of `name` when it returns OK. */
static pawl_status append_name(struct pawl_request *request, char *name, enum pawl__mode mode,
                               pawl_error *err)
{
    if (request->count == PAWL__NAMES_PER_REQUEST_MAX) {
        return pawl__error_set(err, PAWL_E_LIMIT, 0, "a request has at most %d names",
                               PAWL__NAMES_PER_REQUEST_MAX);
    }
    struct pawl__request_name *names =
        pawl__realloc(request->names, (request->count + 1) * sizeof *names);
    if (names == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the name of the lock");
    }
    request->names = names;
    names[request->count].name = name;
    names[request->count].mode = mode;
    request->count++;
    return PAWL_OK;
}

pawl_status pawl_request_add_bytes(pawl_request *request, const char *name, size_t name_len,
                                   pawl_mode mode, pawl_error *err)
{
    if (request == NULL || name == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the request or the name is NULL");
    }
    if (mode != PAWL_MODE_X) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "mode %d is not known; use PAWL_MODE_X, the exclusive mode",
                               (int)mode);
    }
    pawl_status status = pawl__name_check(name, name_len, err);
    if (status != PAWL_OK) {
        return status;
    }
    char *copy = pawl__strndup(name, name_len); /* legal: no NUL in it */
    if (copy == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the name of the lock");
    }
    struct pawl__request_name *known = find_name(request, copy);
    if (known != NULL) {
        known->mode = pawl__mode_join(known->mode, (enum pawl__mode)mode);
        pawl__free(copy);
        return PAWL_OK;
    }
    status = append_name(request, copy, (enum pawl__mode)mode, err);
    if (status != PAWL_OK) {
        pawl__free(copy);
    }
    return status;
}

/* A checked copy in *ret_copy; NULL for NULL. */
static pawl_status copy_words(const char *what, const char *words, size_t max, char **ret_copy,
                              pawl_error *err)
{
    char *copy = NULL;

    pawl_status status = pawl__payload_check(what, words, max, err);
    if (status != PAWL_OK) {
        return status;
    }
    if (words != NULL) {
        copy = pawl__strdup(words);
        if (copy == NULL) {
            return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the %s", what);
        }
    }
    *ret_copy = copy;
    return PAWL_OK;
}

pawl_status pawl_request_set_reason(pawl_request *request, const char *reason, pawl_error *err)
{
    char *copy = NULL;

    if (request == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the request is NULL");
    }
    pawl_status status = copy_words("reason", reason, PAWL__REASON_MAX, &copy, err);
    if (status == PAWL_OK) {
        pawl__free(request->reason);
        request->reason = copy;
    }
    return status;
}

pawl_status pawl_request_set_run(pawl_request *request, const char *run, const char *trace,
                                 pawl_error *err)
{
    char *run_copy = NULL;
    char *trace_copy = NULL;

    if (request == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the request is NULL");
    }
    pawl_status status = copy_words("run id", run, PAWL__RUN_MAX, &run_copy, err);
    if (status == PAWL_OK) {
        status = copy_words("trace id", trace, PAWL__RUN_MAX, &trace_copy, err);
    }
    if (status != PAWL_OK) {
        pawl__free(run_copy);
        return status;
    }
    pawl__free(request->run);
    pawl__free(request->trace);
    request->run = run_copy;
    request->trace = trace_copy;
    return PAWL_OK;
}
