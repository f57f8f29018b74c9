/* pawl doctor: a list of findings, each with its cure. doctor.c asks the library, doctor_host.c the
 * machine. */
#ifndef PAWL_CLI_DOCTOR_H
#define PAWL_CLI_DOCTOR_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/output.h"

enum pawl__verdict {
    PAWL__DOCTOR_OK,
    PAWL__DOCTOR_WARN, /* works, but something will surprise */
    PAWL__DOCTOR_FAIL  /* does not work, or does not keep its promises */
};

/* Collects findings and prints them at the end. */
struct pawl__doctor {
    struct pawl__cli *cli; /* borrowed */
    struct pawl__grid table;
    struct pawl__items list;
    struct pawl__buf out;
    size_t counts[3]; /* by verdict */
};

/* One finding: `check` names what was looked at in a word or two, `cure` is "" when there is
 * nothing to do. `format` is what was found. */
void pawl__doctor_find(struct pawl__doctor *doctor, const char *check, enum pawl__verdict verdict,
                       const char *cure, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Directory, file system and free space of a local store at `dir`. */
void pawl__doctor_directory(struct pawl__doctor *doctor, const char *dir);

/* Clocks, descriptors and inotify limits of this machine. */
void pawl__doctor_machine(struct pawl__doctor *doctor);

#endif
