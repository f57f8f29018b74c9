/* A shared object that is no module: for test_module.c. */
__attribute__((visibility("default"))) int pawl_test_no_module(void);

int pawl_test_no_module(void)
{
    return 0;
}
