/* Planted defects: known ways of getting a lock wrong, compiled only into the copy of the core and
 * of the simulated store that proves that the simulator finds them (PAWL_TEST_DEFECTS). */
#ifndef PAWL_CORE_DEFECT_H
#define PAWL_CORE_DEFECT_H

enum pawl__defect {
    PAWL__DEFECT_NONE = 0,
    PAWL__DEFECT_GRANT_ON_EVENT, /* core: a watch hint is taken for the grant, without a look */
    PAWL__DEFECT_DEADLINE_FROM_REPLY, /* core: the lease is counted from the reply, not the request
                                       */
    PAWL__DEFECT_DELETE_NO_COMPARE,   /* sim store: remove() ignores attempt and number */
    PAWL__DEFECT_FORGOTTEN_DEBT,      /* core: an abandoned enqueue under way is forgotten */
    PAWL__DEFECT_OLD_ENTRY_TAKEN,     /* sim store: "own" is decided by the session alone */
};

#ifdef PAWL_TEST_DEFECTS
extern enum pawl__defect pawl__core_defect;
#define PAWL__HAS_DEFECT(name) (pawl__core_defect == PAWL__DEFECT_##name)
#else
#define PAWL__HAS_DEFECT(name) 0
#endif

#endif
