/* What cppcheck must be told, included by .ci/run only: Criterion, whose headers it is not shown,
 * and base/assert.h, since it takes an invariant written as an expression for one that may return.
 */
#define Test(suite, name, ...)                         void suite##_##name(void)
#define TestSuite(...)                                 extern int unused_declaration
#define ParameterizedTestParameters(suite, name)       void *suite##_##name##_parameters(void)
#define ParameterizedTest(parameter, suite, name, ...) void suite##_##name(parameter)
#define cr_assert_fail(...)                            abort()

#define PAWL_BASE_ASSERT_H
#define PAWL_INVARIANT(condition)                                                                  \
    if (!(condition)) {                                                                            \
        abort();                                                                                   \
    }
#define pawl__assert(condition) PAWL_INVARIANT(condition)
