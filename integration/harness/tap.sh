# shellcheck shell=bash
# TAP output for test scripts; source it: . "$PAWL_SOURCE_DIR/integration/harness/tap.sh"
# Every case goes through tap_check, tap_case or tap_skip; the script ends with tap_done.
# $TMPDIR is a folder of the test's own, removed after it.

tap_count=0
tap_failed=0

# tap_case STATUS NAME: one case, passed when STATUS is 0.
tap_case() {
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
    fi
}

# tap_check NAME COMMAND...: passes when the command does; its output goes to the log (stderr).
tap_check() {
    local name=$1 status=0
    shift
    echo "== $name" >&2
    "$@" >&2 || status=$?
    tap_case "$status" "$name"
    return 0
}

# tap_equal NAME EXPECTED ACTUAL
tap_equal() {
    if [ "$2" = "$3" ]; then
        tap_case 0 "$1"
    else
        printf '== %s\nexpected: %s\nactual:   %s\n' "$1" "$2" "$3" >&2
        tap_case 1 "$1"
    fi
}

# tap_skip NAME REASON: a reason that begins with "missing" fails under CI=true.
tap_skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# Prints the plan and exits.
tap_done() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
