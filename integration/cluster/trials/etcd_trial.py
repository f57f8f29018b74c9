#!/usr/bin/env python3
"""Tries every etcd request of backends/README.md once, by hand, on a server of its own.

    etcd_trial.py [--etcd PATH]

Prints each request with the reply, and "pass - ..." or "FAIL - ..." for what the page rests on.
Exit 1 when a fact does not hold.
"""
import argparse
import base64
import json
import shutil
import sys
import tempfile
import time

from etcd_calls import (
    WebSocket, after, b64, call, check, created, decoded, delete, empty, failed, fetch, get, kvs,
    leased, modified, nested, post_stream, put, read_json_chunk, revision, show, start, step,
    stop, txn)

TTL = 5
S = 0x1122334455667788  # session of the trial = lease id, chosen by the core
V = 0x0BADCAFE0BADCAFE  # session of the other contender


# ---- Key layout: formats.md 1, with one letter a mode (page: Strains) ----
# Each mode's conflicts are neighbours: ix a, x b, six c, s d, is e.
LETTER = {"ix": "a", "x": "b", "six": "c", "s": "d", "is": "e"}
CONFLICTS = {"x": ("a", "f"), "six": ("a", "e"), "s": ("a", "d"), "ix": ("b", "e"),
             "is": ("b", "c")}
META = "/pawl/meta/store"


def session_key(session):
    return "/pawl/session/%016x" % session


def floor_key(session, lane=0):
    return session_key(session) + "/floor/%d" % lane


def queue(name):
    return "/pawl/lock/%s/" % name


def entry_key(name, mode, session, attempt):
    return queue(name) + "%s/%016x-%016x-%s" % (LETTER[mode], session, attempt, mode)


def conflicting(name, mode):
    first, end = CONFLICTS[mode]
    return queue(name) + first + "/", queue(name) + end + "/"


NEAREST = {"sort_order": "DESCEND", "sort_target": "CREATE", "limit": "1"}
FIRST = {"sort_order": "ASCEND", "sort_target": "CREATE", "limit": "1"}


def nearest(name, mode, before=0, **more):
    start, end = conflicting(name, mode)
    part = dict(NEAREST, **more)
    if before:
        part["max_create_revision"] = str(before - 1)
    return get(start, end, **part)


def holder(name, mode, before=0):
    start, end = conflicting(name, mode)
    part = dict(FIRST)
    if before:
        part["max_create_revision"] = str(before - 1)
    return get(start, end, **part)


class Lane:
    """The chain of a session's mutating requests: each compares and puts its floor key."""

    def __init__(self, session):
        self.session = session
        self.floor = 0


def enqueue_parts(lane, attempt, wants, payload):
    """compare, success, failure of one enqueue of any number of names (up to about 40 flat)."""
    session = lane.session
    compare = [modified(floor_key(session), lane.floor), modified(META, META_REVISION)]
    success, failure = [], [get(floor_key(session), keys_only=True),
                            get(META, keys_only=True)]
    for name, mode in wants:
        own = entry_key(name, mode, session, attempt)
        compare.append(created(own, 0))
        success += [nearest(name, mode, keys_only=True), holder(name, mode)]
        failure += [get(own, keys_only=True), nearest(name, mode, keys_only=True),
                    holder(name, mode)]
    for name, mode in wants:
        success.append(put(entry_key(name, mode, session, attempt), payload, session))
    success.append(put(floor_key(session), "", session))
    return compare, success, failure


def enqueue(lane, attempt, wants, payload='{"v":1}', quiet=False):
    status, answer = txn(*enqueue_parts(lane, attempt, wants, payload), quiet=quiet)
    if answer.get("succeeded"):
        lane.floor = revision(answer)
    return status, answer


META_REVISION = 0
ATTEMPT = 0xA000


def new_attempt():
    global ATTEMPT
    ATTEMPT += 1
    return ATTEMPT


# ---- The members ----
def try_open():
    global META_REVISION
    step("open: version")
    text = fetch("/version")
    check("GET /version names the server", "etcdserver" in text)

    step("open: identity, made once")
    value = '{"v":1,"store_id":"00112233445566aa","epoch":"1","layout":1,"hash":"sha256"}'
    parts = ([created(META, 0)], [put(META, value)], [get(META)])
    status, answer = txn(*parts)
    check("identity is made by create-if-absent", answer.get("succeeded") is True)
    META_REVISION = revision(answer)
    status, answer = txn(*parts)
    check("the second open reads it: no 'succeeded', kvs in the failure branch",
          "succeeded" not in answer and kvs(answer["responses"][0])[0][0] == META)
    check("the reply names cluster, member and term",
          {"cluster_id", "member_id", "raft_term"} <= set(answer["header"]))

    step("open: no foreign root inside ours (gaps between our key spaces are empty)")
    edges = ["kv", "lock", "meta", "reg", "session"]
    starts = ["/pawl/"] + ["/pawl/%s0" % edge for edge in edges]
    ends = ["/pawl/%s/" % edge for edge in edges] + ["/pawl0"]
    gaps = [get(a, b, limit="1", keys_only=True) for a, b in zip(starts, ends)]
    status, answer = txn([], gaps)
    check("six gaps are empty in one read", not any(kvs(r) for r in answer["responses"]))


def open_session(session, quiet=False):
    """Grant and record; returns the lane."""
    lane = Lane(session)
    status, grant = call("/v3/lease/grant", {"ID": str(session), "TTL": str(TTL)}, quiet=quiet)
    record = '{"v":1,"principal":"os:ann@host","ttl_ms":%d}' % (TTL * 1000)
    status, answer = txn([created(session_key(session), 0)],
                         [put(session_key(session), record, session),
                          put(floor_key(session), "", session)],
                         [get(session_key(session), after(session_key(session)))], quiet=quiet)
    lane.floor = revision(answer)
    return lane, grant, answer


def try_session_open():
    step("session_open: lease of our id, then record and floor")
    lane, grant, answer = open_session(S)
    check("grant keeps our id and names the granted ttl",
          grant["ID"] == str(S) and grant["TTL"] == str(TTL))
    check("grant carries raft_term (evidence at once, if the record has the same)",
          grant["header"]["raft_term"] == answer["header"]["raft_term"])

    step("session_open: repeated after a lost reply")
    status, answer = call("/v3/lease/grant", {"ID": str(S), "TTL": str(TTL)})
    check("the second grant: code 9, lease already exists", answer.get("code") == 9)
    status, answer = call("/v3/lease/timetolive", {"ID": str(S)})
    check("granted ttl of an adopted lease", answer["grantedTTL"] == str(TTL))
    status, answer = txn([created(session_key(S), 0)], [],
                         [get(session_key(S), after(session_key(S)))])
    floors = [kv for key, kv in kvs(answer["responses"][0]) if key == floor_key(S)]
    check("adoption reads record and floor", int(floors[0]["mod_revision"]) == lane.floor)

    step("session_open: a ttl below the server's least")
    status, answer = call("/v3/lease/grant", {"ID": "77", "TTL": "1"})
    check("asked 1, granted more", int(answer["TTL"]) > 1)
    call("/v3/lease/revoke", {"ID": "77"})
    return lane


def keepalive(session, quiet=False):
    status, answer = call("/v3/lease/keepalive", {"ID": str(session)}, quiet=quiet)
    return answer.get("result", {})


def renewal_write(session, held):
    """T2: the write through raft, the sweep of held entry keys, the marks; one point."""
    ranges = [get(key, count_only=True) for key in held]
    blocks = [nested([], ranges[i:i + 120]) for i in range(0, len(ranges), 120)]
    key = session_key(session)
    return txn([leased(key, session)],
               [{"request_put": {"key": b64(key), "ignore_value": True, "lease": str(session)}},
                get(key + "/mark/", key + "/mark0")] + blocks)


def try_session_renew(lane):
    step("session_renew: keepalive K, then one write T2 with sweep and marks")
    attempt = new_attempt()
    _, answer = enqueue(lane, attempt, [("renew", "x")], quiet=True)
    held = [entry_key("renew", "x", S, attempt), entry_key("renew", "x", S, 0xDEAD)]
    kept = keepalive(S)
    check("keepalive: ttl in result", kept.get("TTL") == str(TTL))
    status, answer = renewal_write(S, held)
    check("T2 committed in the term of K",
          answer["succeeded"] and answer["header"]["raft_term"] == kept["header"]["raft_term"])
    sweep = answer["responses"][2]["response_txn"]["responses"]
    check("sweep: count 1 for the held entry, no count for the one that is gone",
          sweep[0]["response_range"].get("count") == "1"
          and "count" not in sweep[1]["response_range"])
    check("put with ignore_value keeps the record",
          kvs(call("/v3/kv/range", {"key": b64(session_key(S))}, quiet=True)[1] and
              {"response_range": call("/v3/kv/range", {"key": b64(session_key(S))},
                                      quiet=True)[1]})[0][1]["value"] != "")

    step("session_renew: 128 held entries fit one T2")
    many = [entry_key("n%03d" % i, "x", S, 1) for i in range(128)]
    body_ok, answer = renewal_write(S, many)
    check("128 reads in two nested transactions pass the limit of 128", body_ok == 200)
    ranges = [get(key, count_only=True) for key in many]
    status, answer = txn([leased(session_key(S), S)],
                         [put(session_key(S), "x", S)] + ranges, quiet=True)
    print("flat, 129 ops: HTTP %d %s" % (status, show(answer)))
    check("129 in one flat list are refused, code 3", answer.get("code") == 3)

    step("session_renew: a lease that is gone")
    kept = keepalive(0x5555)
    check("keepalive of an unknown lease: HTTP 200 without TTL", "TTL" not in kept)
    status, answer = renewal_write(0x5555, [])
    check("T2 of an unknown session does not succeed", "succeeded" not in answer)
    txn([], [delete(entry_key("renew", "x", S, attempt))], quiet=True)


def try_enqueue(lane):
    step("enqueue: one name, free")
    first = new_attempt()
    status, answer = enqueue(lane, first, [("job", "x")])
    number = revision(answer)
    check("one transaction enqueues", answer.get("succeeded") is True)
    check("free: no nearest, no holder",
          not kvs(answer["responses"][0]) and not kvs(answer["responses"][1]))
    own = call("/v3/kv/range", {"key": b64(entry_key("job", "x", S, first))}, quiet=True)[1]
    check("number = header.revision = create_revision; bound to the lease",
          own["kvs"][0]["create_revision"] == str(number) and own["kvs"][0]["lease"] == str(S))

    step("enqueue: the same request again (replayed POST)")
    lane.floor, kept = number, lane.floor
    status, answer = enqueue(lane, first, [("job", "x")])
    check("not done twice; the failure branch shows the own entry",
          "succeeded" not in answer and kvs(answer["responses"][2])[0][1]["create_revision"]
          == str(number))
    lane.floor = kept

    step("enqueue: behind another; nearest and holder named")
    other, _, _ = open_session(V, quiet=True)
    enqueue(other, new_attempt(), [("job", "x")], '{"v":1,"owner":"os:bob@host"}', quiet=True)
    second = other.floor
    status, answer = enqueue(lane, new_attempt(), [("job", "x")])
    check("nearest is the newest earlier, holder the oldest",
          kvs(answer["responses"][0])[0][1]["create_revision"] == str(second)
          and kvs(answer["responses"][1])[0][1]["create_revision"] == str(number))

    step("enqueue: several names, all or none, one number")
    attempt = new_attempt()
    status, answer = enqueue(lane, attempt, [("a%2F1", "x"), ("b", "ix"), ("c", "s")])
    reply = txn([], [get(entry_key(n, m, S, attempt), keys_only=True)
                     for n, m in (("a%2F1", "x"), ("b", "ix"), ("c", "s"))])[1]
    numbers = {kvs(r)[0][1]["create_revision"] for r in reply["responses"]}
    check("three entries share one create_revision", numbers == {str(revision(answer))})

    step("enqueue: the epoch was raised")
    compare, success, failure = enqueue_parts(lane, new_attempt(), [("job", "x")], "{}")
    compare[1] = modified(META, META_REVISION - 1)
    status, answer = txn(compare, success, failure)
    check("refused; the failure branch shows floor as known, meta moved: E_STORE",
          "succeeded" not in answer
          and int(kvs(answer["responses"][0])[0][1]["mod_revision"]) == lane.floor
          and kvs(answer["responses"][1])[0][1]["mod_revision"] == str(META_REVISION))
    return other


def modes_by_range(lane, other):
    step("enqueue: each mode reads its nearest conflict with one range")
    order = {}
    for mode in ("is", "ix", "s", "x", "six", "s"):
        enqueue(other, new_attempt(), [("modes", mode)], quiet=True)
        order.setdefault(mode, []).append(other.floor)
    want = {"x": order["s"][1], "six": order["s"][1], "s": order["six"][0],
            "ix": order["s"][1], "is": order["x"][0]}
    for mode, number in want.items():
        _, answer = txn([], [nearest("modes", mode, keys_only=True)], quiet=mode != "s")
        found = kvs(answer["responses"][0])
        check("nearest conflict of %s" % mode, found[0][1]["create_revision"] == str(number))


def halves(parts):
    """Nested transactions of 32: outer compares + inner operations stay below 128."""
    return [nested([], parts[i:i + 32]) for i in range(0, len(parts), 32)]


def sixty_four(lane):
    step("enqueue: 64 names")
    attempt = new_attempt()
    names = ["long%02d%s" % (i, "%2F" * 160) for i in range(64)]
    wants = [(name, "x") for name in names]
    compare, success, failure = enqueue_parts(lane, attempt, wants, "p" * 2048)
    status, answer = txn(compare, success, failure, quiet=True)
    print("flat: %d compares, %d and %d ops: HTTP %d %s"
          % (len(compare), len(success), len(failure), status, show(answer)))
    check("a flat transaction of 64 names is refused, code 3", answer.get("code") == 3)
    own = [get(entry_key(n, m, S, attempt), keys_only=True) for n, m in wants]
    near = [nearest(n, m, keys_only=True) for n, m in wants]
    first = [holder(n, m) for n, m in wants]
    puts = [put(entry_key(n, m, S, attempt), "p" * 2048, S) for n, m in wants]
    head = [get(floor_key(S), keys_only=True), get(META, keys_only=True)]
    status, answer = txn(compare, [nested([], near), nested([], first), nested([], puts)], [],
                         quiet=True)
    print("nested by 64: HTTP %d %s" % (status, show(answer)))
    check("66 compares outside leave 62 operations inside: 64 are refused",
          answer.get("code") == 3)
    success = halves(near) + halves(first) + halves(puts) + [put(floor_key(S), "", S)]
    failure = head + halves(own) + halves(near) + halves(first)
    body = {"compare": compare, "success": success, "failure": failure}
    print("nested: %d bytes of JSON" % len(json.dumps(body)))
    status, answer = txn(compare, success, failure, quiet=True)
    print("nested by 32: HTTP %d %s" % (status, show(decoded(answer))[:300]))
    check("nested it passes: 66 compares, 64 puts, 128 reads, payload 2 KiB, names 480 bytes",
          status == 200 and answer.get("succeeded") is True)
    lane.floor = revision(answer)
    inner = answer["responses"][0]["response_txn"]["responses"]
    check("reads of an earlier nested transaction do not see the puts of a later one",
          not any(kvs(r) for r in inner))
    reply = txn([], own, quiet=True)[1]
    numbers = {kvs(r)[0][1]["create_revision"] for r in reply["responses"]}
    check("64 entries share one create_revision", numbers == {str(lane.floor)})
    status, answer = txn([], [nested([], [delete(entry_key(n, m, S, attempt))
                                          for n, m in wants])], quiet=True)
    check("64 deletes in one transaction", status == 200)


def try_only_if_free(lane):
    step("enqueue, only_if_free: taken, so nothing is written")
    compare, success, failure = enqueue_parts(lane, new_attempt(), [("job", "x")], "{}")
    start, end = conflicting("job", "x")
    before = revision(call("/v3/kv/range", {"key": b64("/none")}, quiet=True)[1])
    status, answer = txn(compare + [empty(start, end)], success, failure)
    check("refused; the failure branch names the holder",
          "succeeded" not in answer and len(kvs(answer["responses"][4])) == 1)
    check("the store's revision did not move", revision(answer) == before)

    step("enqueue, only_if_free: an S passes an S and an IS, one compare")
    enqueue(lane, new_attempt(), [("shared", "s")], quiet=True)
    enqueue(lane, new_attempt(), [("shared", "is")], quiet=True)
    compare, success, failure = enqueue_parts(lane, new_attempt(), [("shared", "s")], "{}")
    status, answer = txn(compare + [empty(*conflicting("shared", "s"))], success, failure)
    check("the range of what conflicts with S is empty", answer.get("succeeded") is True)
    lane.floor = revision(answer)


def try_floor(lane):
    step("floor, as design 6.5 has it (compared only): a late copy after enqueue and remove")
    floor = {"key": b64(floor_key(S)), "target": "MOD", "result": "EQUAL",
             "mod_revision": str(lane.floor)}
    own = entry_key("ghost", "x", S, 0xBEEF)
    late = ([floor, created(own, 0)], [put(own, "{}", S)])
    _, answer = txn(*late, quiet=True)
    number = revision(answer)
    txn([created(own, number)], [delete(own)], quiet=True)
    status, answer = txn(*late)
    check("STRAIN: the copy succeeds and leaves an entry that nobody knows",
          answer.get("succeeded") is True)
    txn([], [delete(own)], quiet=True)

    step("floor, compared and put by every mutating request: the same late copy")
    late = (late[0], late[1] + [put(floor_key(S), "", S)])
    _, answer = txn(*late, quiet=True)
    lane.floor = number = revision(answer)
    txn([created(own, number)], [delete(own)], quiet=True)
    status, answer = txn(*late)
    check("the copy is refused", "succeeded" not in answer)
    return own


def try_look(lane, other):
    step("look: views of one name at one point, read only")
    attempt = new_attempt()
    enqueue(lane, attempt, [("look", "x")], quiet=True)
    enqueue(other, new_attempt(), [("look", "x")], quiet=True)
    mine = new_attempt()
    enqueue(lane, mine, [("look", "x")], quiet=True)
    number = lane.floor
    parts = [get(entry_key("look", "x", S, mine), keys_only=True),
             nearest("look", "x", number, keys_only=True), holder("look", "x", number)]
    status, answer = txn([], parts)
    check("own number, nearest before it, holder",
          kvs(answer["responses"][0])[0][1]["create_revision"] == str(number)
          and kvs(answer["responses"][1])[0][1]["create_revision"] == str(other.floor)
          and len(kvs(answer["responses"][2])) == 1)

    step("look, position: keys before ours are counted by us")
    start, end = conflicting("look", "x")
    status, answer = txn([], [get(start, end, keys_only=True, limit="10001",
                                  max_create_revision=str(number - 1))])
    check("two keys come", len(kvs(answer["responses"][0])) == 2)
    check("STRAIN: 'count' ignores max_create_revision, so count_only cannot give the position",
          answer["responses"][0]["response_range"]["count"] == "3")

    step("look, settle: one write that raises the floor, then reads")
    stale = enqueue_parts(lane, 0xFACE, [("look", "x")], "{}")
    status, answer = txn([leased(session_key(S), S)],
                         [put(floor_key(S), "", S)] + parts,
                         [get(session_key(S), keys_only=True)])
    check("settled in one request, views in it",
          answer.get("succeeded") is True and len(answer["responses"]) == 4)
    lane.floor = revision(answer)
    status, answer = txn(*stale)
    check("an enqueue sent before the settle cannot land any more", "succeeded" not in answer)
    check("its failure branch shows that the floor moved, session alive: certainly not done",
          int(kvs(answer["responses"][0])[0][1]["mod_revision"]) == lane.floor)
    return mine, number


def try_remove(lane, mine, number):
    step("remove: owner and number compared in the same transaction")
    own = entry_key("look", "x", S, mine)
    mark = session_key(S) + "/mark/%016x" % mine
    parts = ([created(own, number)], [delete(own), delete(mark)])
    wrong = ([created(own, number - 1)], [delete(own), delete(mark)])
    status, answer = txn(*wrong)
    check("another number: nothing is deleted, still OK", "succeeded" not in answer)
    status, answer = txn(*parts)
    check("deleted", answer["responses"][0]["response_delete_range"]["deleted"] == "1")
    status, answer = txn(*parts)
    check("again: not there, OK", "succeeded" not in answer)

    step("remove: several names, each with its own compare, nested")
    one, two = entry_key("r1", "x", S, 0x77), entry_key("r2", "x", S, 0x77)
    _, answer = txn([], [put(one, "", S), put(two, "", S)], quiet=True)
    n = revision(answer)
    txn([], [delete(two)], quiet=True)
    status, answer = txn([], [nested([created(one, n)], [delete(one)]),
                              nested([created(two, n)], [delete(two)])])
    check("one is gone already: the other is deleted all the same",
          answer["responses"][0]["response_txn"].get("succeeded") is True
          and "succeeded" not in answer["responses"][1]["response_txn"])


def group_commit(lane, other):
    step("group commit: two requests in one transaction")
    one, two = entry_key("g1", "x", S, 0x11), entry_key("g2", "x", S, 0x12)
    status, answer = txn([], [nested([created(one, 0)], [put(one, "", S)]),
                              nested([created(two, 0)], [put(two, "", S)])])
    reply = txn([], [get(one, keys_only=True), get(two, keys_only=True)], quiet=True)[1]
    numbers = {kvs(r)[0][1]["create_revision"] for r in reply["responses"]}
    check("STRAIN: two unrelated requests of one session have the same number",
          len(numbers) == 1)
    txn([], [delete(one), delete(two)], quiet=True)


def find_entry(name, number):
    """The key of an entry of which only the number is known."""
    status, answer = call("/v3/kv/range", {
        "key": b64(queue(name)), "range_end": b64(after(queue(name))), "keys_only": True,
        "min_create_revision": str(number), "max_create_revision": str(number)})
    return [base64.b64decode(kv["key"]).decode() for kv in answer.get("kvs", [])]


def try_mark(lane, other):
    step("mark: the key of a number")
    attempt = new_attempt()
    enqueue(other, attempt, [("brk", "x"), ("brk2", "x")], quiet=True)
    number = other.floor
    enqueue(lane, new_attempt(), [("brk", "x")], quiet=True)
    found = find_entry("brk", number)
    check("range by min and max create_revision finds exactly it",
          found == [entry_key("brk", "x", V, attempt)])

    step("mark: into the victim's session")
    mark = session_key(V) + "/mark/%016x" % attempt
    text = '{"number":"%d","by":"os:ann@host","reason":"stuck"}' % number
    parts = ([created(found[0], number)], [put(mark, text, V), get(session_key(V))])
    status, answer = txn(*parts)
    check("marked; the session record with the ttl comes back",
          answer.get("succeeded") is True and len(kvs(answer["responses"][1])) == 1)
    status, answer = txn([created(found[0], number + 1)], parts[1])
    check("no such number: E_FENCED", "succeeded" not in answer)

    step("mark: read at the victim's renewal")
    keepalive(V, quiet=True)
    status, answer = renewal_write(V, [found[0]])
    check("the mark comes with T2", kvs(answer["responses"][1])[0][0] == mark)

    step("mark, now: every entry of that (session, attempt), the record of it kept")
    status, answer = call("/v3/kv/range", {
        "key": b64("/pawl/lock/"), "range_end": b64("/pawl/lock0"), "keys_only": True,
        "min_create_revision": str(number), "max_create_revision": str(number)})
    keys = [base64.b64decode(kv["key"]).decode() for kv in answer["kvs"]]
    check("all entries of the number, over all queues, in one range", len(keys) == 2)
    status, answer = txn([created(found[0], number)],
                         [put(mark, text, V), get(session_key(V))] + [delete(k) for k in keys])
    check("removed at once", answer.get("succeeded") is True)
    status, answer = txn([created(found[0], number)], [delete(found[0])])
    check("a late copy does nothing", "succeeded" not in answer)


def try_list():
    step("list: one queue; all queues by pages at one revision")
    status, answer = call("/v3/kv/range", {"key": b64(queue("job")),
                                           "range_end": b64(after(queue("job"))),
                                           "limit": "10001"})
    check("the queue in one read", len(answer["kvs"]) == 3)
    status, first = call("/v3/kv/range", {"key": b64("/pawl/lock/"),
                                          "range_end": b64("/pawl/lock0"), "limit": "2"})
    check("more is told", first.get("more") is True)
    last = base64.b64decode(first["kvs"][-1]["key"])
    status, page = call("/v3/kv/range", {
        "key": b64(last + b"\0"), "range_end": b64("/pawl/lock0"), "limit": "2",
        "revision": first["header"]["revision"]})
    check("the next page at the same revision", len(page["kvs"]) == 2)
    status, answer = call("/v3/kv/range", {
        "key": b64("/pawl/session/"), "range_end": b64("/pawl/session0"),
        "revision": first["header"]["revision"]}, quiet=True)
    check("sessions and marks at that revision", len(answer["kvs"]) >= 4)
    status, answer = call("/v3/lease/timetolive", {"ID": str(V)})
    check("ttl left: one request a session, whole seconds", 0 < int(answer["TTL"]) <= TTL)
    status, answer = call("/v3/kv/range", {"key": b64(queue("job")), "revision": "1"})
    status, answer = call("/v3/kv/compaction", {"revision": str(first["header"]["revision"])})
    call("/v3/kv/put", {"key": b64("/x"), "value": ""}, quiet=True)
    call("/v3/kv/compaction", {"revision": str(int(first["header"]["revision"]) + 1)}, quiet=True)
    status, answer = call("/v3/kv/range", {"key": b64(last + b"\0"),
                                           "range_end": b64("/pawl/lock0"),
                                           "revision": first["header"]["revision"]})
    check("compacted between two pages: code 11, list again", answer.get("code") == 11)


def try_watch(lane, other):
    step("watch: one POST stream")
    attempt = new_attempt()
    enqueue(other, attempt, [("w", "x")], quiet=True)
    key = entry_key("w", "x", V, attempt)
    body = {"create_request": {"key": b64(key), "filters": ["NOPUT"]}}
    print("POST /v3/watch\n  %s\n  decoded %s" % (show(body), show(decoded(body))))
    sock = post_stream(body)
    text = read_json_chunk(sock)
    print("HTTP %s" % text.strip())
    check("created comes first", '"created":true' in text)
    status, answer = call("/v3/kv/range", {"key": b64(key), "keys_only": True}, quiet=True)
    check("look after created: it is still there", "kvs" in answer)
    start = time.monotonic()
    txn([], [delete(key)], quiet=True)
    text = read_json_chunk(sock)
    print("chunk %s" % text.strip())
    check("DELETE comes at once (%.0f ms)" % ((time.monotonic() - start) * 1000),
          '"type":"DELETE"' in text)
    sock.close()

    step("watch: one WebSocket for all")
    ws = WebSocket()
    print("GET /v3/watch?method=POST\n%s" % ws.head.decode().splitlines()[0])
    check("101", b"101" in ws.head.split(b"\r\n")[0])
    one, two = new_attempt(), new_attempt()
    enqueue(other, one, [("w1", "x")], quiet=True)
    enqueue(other, two, [("w2", "x")], quiet=True)
    for number, name, attempt in ((1, "w1", one), (2, "w2", two)):
        ws.send({"create_request": {"key": b64(entry_key(name, "x", V, attempt)),
                                    "watch_id": str(number), "filters": ["NOPUT"]}})
        got = ws.receive()
        check("watch_id %d is ours, created" % number,
              got.get("created") is True and got.get("watch_id") == str(number))
    txn([], [delete(entry_key("w2", "x", V, two))], quiet=True)
    got = ws.receive()
    check("the event names the watch", got and got.get("watch_id") == "2"
          and got["events"][0]["type"] == "DELETE")

    step("unwatch")
    ws.send({"cancel_request": {"watch_id": "1"}})
    got = ws.receive()
    check("canceled", got and got.get("canceled") is True)

    step("hints OWN and SESSION: one watch on each own entry, one on the own session")
    ws.send({"create_request": {"key": b64(session_key(S) + "/mark/"),
                                "range_end": b64(session_key(S) + "/mark0"), "watch_id": "9"}})
    ws.receive()
    txn([], [put(session_key(S) + "/mark/%016x" % 1, "{}", S)], quiet=True)
    got = ws.receive()
    check("a mark wakes its victim at once", got and got.get("watch_id") == "9"
          and "type" not in got["events"][0])
    txn([], [delete(session_key(S) + "/mark/%016x" % 1)], quiet=True)
    ws.sock.close()


def try_session_end(lane, other):
    step("session_close: revoke")
    attempt = new_attempt()
    late = enqueue_parts(other, attempt, [("late", "x")], "{}")
    status, answer = call("/v3/lease/revoke", {"ID": str(V)})
    check("revoked", status == 200)
    left = call("/v3/kv/range", {"key": b64("/pawl/"), "range_end": b64("/pawl0"),
                                 "keys_only": True}, quiet=True)[1]
    names = [base64.b64decode(kv["key"]).decode() for kv in left["kvs"]]
    check("every entry and record of the session is gone",
          not any("%016x" % V in name for name in names))
    status, answer = call("/v3/lease/revoke", {"ID": str(V)})
    check("again: code 5, not found, which is OK", answer.get("code") == 5)
    status, answer = txn(*late)
    check("an enqueue that lands after the close is refused (floor absent: E_LOST)",
          "succeeded" not in answer and not kvs(answer["responses"][0]))
    status, answer = txn([], [put("/pawl/lock/late/b/x", "", V)])
    check("even without a compare: code 5, lease not found", answer.get("code") == 5)


def try_store(lane):
    step("store get: one record")
    record = "/pawl/kv/t/one"
    status, answer = call("/v3/kv/put", {"key": b64(record), "value": b64("1")}, quiet=True)
    status, answer = call("/v3/kv/range", {"key": b64(record)})
    mod = answer["kvs"][0]["mod_revision"]
    check("value and mod_revision = record revision", answer["kvs"][0]["value"] == b64("1"))
    status, answer = call("/v3/kv/range", {"key": b64(record), "serializable": True})
    check("stale_ok: serializable", "kvs" in answer)
    status, answer = call("/v3/kv/range", {"key": b64("/pawl/kv/t/none")})
    check("absent: no kvs", "kvs" not in answer)

    step("store list: a table")
    status, answer = call("/v3/kv/range", {"key": b64("/pawl/kv/t/"),
                                           "range_end": b64("/pawl/kv/t0"), "limit": "1000"})
    check("table at one point", answer["count"] == "1")

    step("store transact: hold there, record at revision, record absent; put, delete")
    attempt = new_attempt()
    enqueue(lane, attempt, [("tx", "x")], quiet=True)
    hold, number = entry_key("tx", "x", S, attempt), lane.floor
    op = session_key(S) + "/op/%016x" % new_attempt()
    two, three = "/pawl/kv/t/two", "/pawl/kv/t/three"
    call("/v3/kv/put", {"key": b64(three), "value": ""}, quiet=True)
    compare = [modified(floor_key(S), lane.floor), modified(META, META_REVISION), created(op, 0),
               created(hold, number), modified(record, mod), created(two, 0)]
    success = [put(floor_key(S), "", S), put(op, "", S), put(record, "2"), put(two, "new"),
               delete(three)]
    failure = [get(floor_key(S), keys_only=True), get(op, keys_only=True),
               get(hold, keys_only=True), get(record, keys_only=True), get(two, keys_only=True)]
    status, answer = txn(compare, success, failure)
    check("committed", answer.get("succeeded") is True)
    lane.floor = revision(answer)
    status, answer = txn(compare, success, failure)
    check("again: refused, the attempt key in the failure branch says: done before",
          "succeeded" not in answer and len(kvs(answer["responses"][1])) == 1)

    step("store transact: settle after a lost reply, then forget the attempt")
    status, answer = txn([leased(session_key(S), S)],
                         [put(floor_key(S), "", S), get(op, keys_only=True)])
    check("attempt key present = done", len(kvs(answer["responses"][1])) == 1)
    lane.floor = revision(answer)
    status, answer = txn([], [delete(op)])

    step("store transact: the hold is gone")
    txn([created(hold, number)], [delete(hold)], quiet=True)
    compare[0] = modified(floor_key(S), lane.floor)
    compare = compare[:4]
    status, answer = txn(compare, [put(record, "stale"), put(floor_key(S), "", S)], failure)
    check("refused by the store; the failure branch shows the hold absent: E_FENCED",
          "succeeded" not in answer and not kvs(answer["responses"][2]))

    step("store watch: a table, latest state")
    ws = WebSocket()
    ws.send({"create_request": {"key": b64("/pawl/kv/t/"), "range_end": b64("/pawl/kv/t0"),
                                "start_revision": str(lane.floor + 1), "watch_id": "1"}})
    ws.receive()
    call("/v3/kv/put", {"key": b64(two), "value": b64("newer")}, quiet=True)
    got = ws.receive()
    check("a put comes with value and mod_revision, 'type' absent",
          got and "type" not in got["events"][0]
          and got["events"][0]["kv"]["value"] == b64("newer"))
    ws.send({"create_request": {"key": b64("/pawl/kv/t/"), "range_end": b64("/pawl/kv/t0"),
                                "start_revision": "1", "watch_id": "2"}})
    ws.receive()
    got = ws.receive()
    check("a start that was compacted: canceled with compact_revision: list again, tell",
          got and got.get("canceled") is True and "compact_revision" in got)
    ws.sock.close()


def facts(lane):
    step("facts that the builders of requests must know")
    status, answer = txn([leased(session_key(S), S)], [])
    check("a transaction of compares alone answers (it is a local read: no evidence)",
          answer.get("succeeded") is True)
    status, answer = txn([], [put("/pawl/kv/t/d", "1"), put("/pawl/kv/t/d", "2")])
    check("one key put twice: code 3", answer.get("code") == 3)
    status, answer = txn([], [nested([], [put("/pawl/kv/t/d", "1")]),
                              nested([], [put("/pawl/kv/t/d", "2")])])
    check("in different nested transactions as well: code 3", answer.get("code") == 3)


def members():
    try_open()
    lane = try_session_open()
    try_session_renew(lane)
    other = try_enqueue(lane)
    modes_by_range(lane, other)
    sixty_four(lane)
    keepalive(S, quiet=True)
    keepalive(V, quiet=True)
    try_only_if_free(lane)
    try_floor(lane)
    mine, number = try_look(lane, other)
    try_remove(lane, mine, number)
    group_commit(lane, other)
    keepalive(S, quiet=True)
    try_mark(lane, other)
    try_list()
    keepalive(S, quiet=True)
    keepalive(V, quiet=True)
    try_watch(lane, other)
    try_session_end(lane, other)
    keepalive(S, quiet=True)
    try_store(lane)
    facts(lane)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--etcd", default=shutil.which("etcd"))
    binary = parser.parse_args().etcd
    if not binary:
        raise SystemExit("etcd_trial: missing etcd (Debian: etcd-server)")
    with tempfile.TemporaryDirectory(prefix="pawl-etcd.") as folder:
        server = start(binary, folder)
        try:
            members()
        finally:
            stop(server)
    print("\n%d facts failed" % failed())
    return 1 if failed() else 0


if __name__ == "__main__":
    sys.exit(main())
