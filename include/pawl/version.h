/* Version of the library. ABI promise: within one PAWL_VERSION_MAJOR nothing that is declared under
 * include/pawl/ is removed or changes meaning. Until 1.0 a new MINOR may break; the SONAME follows.
 */
#ifndef PAWL_VERSION_H
#define PAWL_VERSION_H

#include <pawl/export.h>

#define PAWL_VERSION_MAJOR  0
#define PAWL_VERSION_MINOR  1
#define PAWL_VERSION_PATCH  0
#define PAWL_VERSION_STRING "0.1.0"
#define PAWL_VERSION_HEX                                                                           \
    ((PAWL_VERSION_MAJOR << 16) | (PAWL_VERSION_MINOR << 8) | PAWL_VERSION_PATCH)
#define PAWL_VERSION_AT_LEAST(major, minor, patch)                                                 \
    (PAWL_VERSION_HEX >= (((major) << 16) | ((minor) << 8) | (patch)))

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, as "0.1.0"; compare with PAWL_VERSION_STRING, which is
 * the version compiled against. Static storage. Any thread; never blocks. */
PAWL_API const char *pawl_version(void);

/* The same as PAWL_VERSION_HEX of the loaded library. Any thread; never blocks. */
PAWL_API int pawl_version_hex(void);

#ifdef __cplusplus
}
#endif

#endif
