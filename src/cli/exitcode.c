/* The table of exit codes, and which status of the library leads to which. */
#include "cli/exitcode.h"

static const struct {
    int code;
    const char *text;
} exit_rows[] = {
#define EXIT_ROW(name, code, text) {(code), (text)},
    PAWL__EXIT_MAP(EXIT_ROW)
#undef EXIT_ROW
};

int pawl__exit_from_status(pawl_status status)
{
    static const struct {
        pawl_status status;
        enum pawl__exit code;
    } rows[] = {
        {PAWL_OK, PAWL__EXIT_OK},
        {PAWL_E_INVALID, PAWL__EXIT_USAGE},
        {PAWL_E_DATA, PAWL__EXIT_DATA},
        {PAWL_E_CONFIG, PAWL__EXIT_CONFIG},
        {PAWL_E_UNSUPPORTED, PAWL__EXIT_CONFIG},
        {PAWL_E_LIMIT, PAWL__EXIT_DATA},
        {PAWL_E_TIMEOUT, PAWL__EXIT_BUSY},
        {PAWL_E_BUSY, PAWL__EXIT_BUSY},
        {PAWL_E_CANCELED, PAWL__EXIT_BUSY},
        {PAWL_E_UNAVAILABLE, PAWL__EXIT_UNAVAILABLE},
        {PAWL_E_UNKNOWN, PAWL__EXIT_UNKNOWN},
        {PAWL_E_LOST, PAWL__EXIT_LOST},
        {PAWL_E_FENCED, PAWL__EXIT_FENCED},
        {PAWL_E_CONFLICT, PAWL__EXIT_CONFLICT},
        {PAWL_E_NOT_FOUND, PAWL__EXIT_DATA},
        {PAWL_E_PERMISSION, PAWL__EXIT_PERMISSION},
        {PAWL_E_STORE, PAWL__EXIT_CONFIG},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].status == status) {
            return (int)rows[i].code;
        }
    }
    return PAWL__EXIT_INTERNAL;
}

int pawl__exit_describe(size_t index, const char **ret_text)
{
    if (index >= sizeof(exit_rows) / sizeof(exit_rows[0])) {
        return -1;
    }
    *ret_text = exit_rows[index].text;
    return exit_rows[index].code;
}
