/* One suite for every backend: conformance [URL]. "local:" (the default) gets a folder of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "suite.h"
#include "tap.h"

int main(int argc, char **argv)
{
    char *url = suite_make_url(argc > 1 ? argv[1] : "local:");
    struct suite suite = {.url = url, .err = pawl_error_new()};

    if (url == NULL || suite.err == NULL) {
        (void)fprintf(stderr, "conformance: no folder or no memory\n");
        return 1;
    }
    suite_queue_cases(&suite);
    suite_wait_cases(&suite);
    suite_end_cases(&suite);
    suite_break_cases(&suite);
    suite_name_cases(&suite);
    suite_observe_cases(&suite);
    suite_callback_cases(&suite);

    pawl_client *client = suite_open(&suite, NULL, NULL);
    TAP_CHECK(suite_count(&suite, client, NULL) == 0);
    TAP_CHECK(suite_close(client));
    pawl_error_free(suite.err);
    free(url);
    return tap_done();
}
