"""What the tests of the command share: TAP, a store of their own, processes that never outlive the
test, waiting for conditions instead of sleeping."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PAWL = os.path.join(os.environ["PAWL_BIN_DIR"], "pawl")
SANITIZED = os.environ.get("PAWL_SANITIZE", "") != ""
PATIENCE = 60 if SANITIZED else 20  # seconds; a bound for failures, not a time that passes

_count = 0
_failed = 0
_started = []


def case(passed, name, detail=""):
    """Reports one case."""
    global _count, _failed
    _count += 1
    if not passed:
        _failed += 1
    print(f"{'ok' if passed else 'not ok'} {_count} - {name}", flush=True)
    if not passed and detail:
        for line in str(detail).splitlines():
            print(f"# {line}", flush=True)
    return passed


def equal(actual, expected, name):
    return case(actual == expected, name, f"expected {expected!r}\nactual   {actual!r}")


def skip(name, reason):
    global _count
    _count += 1
    print(f"ok {_count} - {name} # SKIP {reason}", flush=True)


def done():
    """Ends what still runs, prints the plan and exits."""
    for process in _started:
        if process.poll() is None:
            process.kill()
            process.wait()
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed else 0)


def make_store():
    """A store of the test's own; its URL."""
    return "local://" + tempfile.mkdtemp(prefix="store.")


STORE = make_store()


def environment(**extra):
    """Ours, without what a user's settings could change, with the store of the test."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("PAWL_")}
    env["PAWL_STORE"] = STORE
    env["XDG_CONFIG_HOME"] = os.path.join(os.environ.get("TMPDIR", "/tmp"), "none")
    env.pop("NO_COLOR", None)
    for key, value in extra.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return env


def run(*args, stdin=subprocess.DEVNULL, timeout=None, env=None, **options):
    """Runs pawl to its end; .code, .out and .err are what came of it."""
    try:
        result = subprocess.run([PAWL, *args], stdin=stdin, capture_output=True, check=False,
                                timeout=timeout or PATIENCE, env=env or environment(), **options)
        result.code = result.returncode
    except subprocess.TimeoutExpired as expired:
        result = expired
        result.code = "never ended"
        result.stdout, result.stderr = result.stdout or b"", result.stderr or b""
    result.out = result.stdout.decode("utf-8", "replace")
    result.err = result.stderr.decode("utf-8", "replace")
    return result


def start(*args, stdin=subprocess.DEVNULL, env=None, **options):
    """Starts pawl; it is killed at the end of the test at the latest."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    process = subprocess.Popen([PAWL, *args], stdin=stdin, env=env or environment(), **options)
    _started.append(process)
    return process


def finish(process, timeout=None):
    """Exit code, stdout and stderr of a started process; a signal that ended it is negative."""
    try:
        out, err = process.communicate(timeout=timeout or PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
        return "never ended", "", (err or b"").decode("utf-8", "replace")
    return process.returncode, (out or b"").decode("utf-8", "replace"), (err or b"").decode(
        "utf-8", "replace")


def until(condition, timeout=None):
    """Waits for condition() to be true; its value, or False when the time is over."""
    end = time.monotonic() + (timeout or PATIENCE)
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


def inspect(name, env=None):
    """(holders, waiters) of a lock."""
    result = run("-o", "json", "inspect", name, env=env)
    if result.code != 0:
        return [], []
    lock = json.loads(result.out)[0]
    return lock["holders"], lock["waiters"]


def is_held(name):
    return len(inspect(name)[0]) == 1


def hold(name, *args, **options):
    """Starts `pawl lock NAME` without a command and waits for its line; process and the line."""
    process = start("lock", *args, name, **options)
    line = process.stdout.readline()
    return process, (json.loads(line) if line else None)


def is_alive(pid):
    """Whether a process runs, zombies left out."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def read_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def temp_path(name):
    return os.path.join(tempfile.mkdtemp(), name)


def end(process, number=signal.SIGTERM):
    """Ends a holder and returns its exit code."""
    process.send_signal(number)
    return finish(process)[0]
