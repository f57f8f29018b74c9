/* Marks the symbols that libpawl exports; everything else is hidden. */
#ifndef PAWL_EXPORT_H
#define PAWL_EXPORT_H

#if defined(__GNUC__)
#define PAWL_API        __attribute__((visibility("default")))
#define PAWL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PAWL_API
#define PAWL_MUST_CHECK
#endif

#endif
