/* The end of a process whose invariant broke. No stdio and no allocation: the heap or a stdio lock
 * may be what is broken. */
#include "base/assert.h"

#include <stdlib.h>
#include <unistd.h>

#define LINE_MAX_LEN 512

/* One byte is kept for the newline. */
static size_t put_text(char *line, size_t len, const char *text)
{
    while (*text != '\0' && len < LINE_MAX_LEN - 1) {
        line[len++] = *text++;
    }
    return len;
}

static size_t put_number(char *line, size_t len, unsigned number)
{
    char digits[16];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return put_text(line, len, digits + at);
}

_Noreturn void pawl__invariant_failed(const char *file, int line, const char *condition)
{
    char text[LINE_MAX_LEN];
    size_t len = 0;

    len = put_text(text, len, "pawl: ");
    len = put_text(text, len, file);
    len = put_text(text, len, ":");
    len = put_number(text, len, line < 0 ? 0U : (unsigned)line);
    len = put_text(text, len, ": invariant broken: ");
    len = put_text(text, len, condition);
    text[len++] = '\n';
    if (write(STDERR_FILENO, text, len) < 0) {
        abort(); /* Nobody left to tell. */
    }
    abort();
}
