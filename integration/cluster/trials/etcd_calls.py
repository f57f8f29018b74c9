"""Requests to an etcd gateway for etcd_trial.py: build, send, print, and a server to send them to.

No client: no retry, no failover.
"""
import base64
import json
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

BASE = ""
FAILED = 0


def b64(text):
    raw = text if isinstance(text, bytes) else text.encode()
    return base64.b64encode(raw).decode()


def after(prefix):
    """End of the range of all keys that begin with the prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


BYTES = ("key", "value", "range_end", "blob")


def decoded(node):
    """The same JSON with the base64 fields readable: k:"..."."""
    if isinstance(node, dict):
        out = {}
        for name, item in node.items():
            if name in BYTES and isinstance(item, str):
                item = base64.b64decode(item).decode(errors="replace")
                item = item if len(item) < 200 else item[:60] + "..."
            out[name] = decoded(item)
        return out
    if isinstance(node, list):
        return [decoded(item) for item in node]
    return node


def show(node):
    text = json.dumps(node, separators=(",", ":"))
    return text if len(text) <= 2400 else text[:2400] + " ... (%d bytes)" % len(text)


def check(name, condition):
    global FAILED
    print("%s - %s" % ("pass" if condition else "FAIL", name))
    if not condition:
        FAILED += 1


def fetch(path):
    """GETs and prints; returns the text."""
    with urllib.request.urlopen(BASE + path, timeout=5) as reply:
        text = reply.read().decode()
    print("GET %s\nHTTP %d %s" % (path, reply.status, text))
    return text


def failed():
    """How many facts did not hold."""
    return FAILED


def step(title):
    print("\n== %s" % title)


def call(path, body, loud=True, quiet=False):
    """POSTs and returns (http status, object)."""
    data = json.dumps(body, separators=(",", ":")).encode()
    request = urllib.request.Request(BASE + path, data=data)
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            status, text = reply.status, reply.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    answer = json.loads(text)
    if not quiet:
        print("POST %s" % path)
        if loud:
            print("  %s" % show(body))
        print("  decoded %s" % show(decoded(body)))
        print("HTTP %d %s" % (status, show(decoded(answer))))
    return status, answer


def txn(compare, success, failure=(), quiet=False):
    body = {"compare": list(compare), "success": list(success), "failure": list(failure)}
    status, answer = call("/v3/kv/txn", body, quiet=quiet)
    return status, answer


# Parts of requests. A key that is compared with CREATE 0 is absent.
def created(key, revision):
    return {"key": b64(key), "target": "CREATE", "result": "EQUAL",
            "create_revision": str(revision)}


def modified(key, revision):
    return {"key": b64(key), "target": "MOD", "result": "EQUAL", "mod_revision": str(revision)}


def leased(key, lease):
    return {"key": b64(key), "target": "LEASE", "result": "EQUAL", "lease": str(lease)}


def empty(key, end):
    return {"key": b64(key), "range_end": b64(end), "target": "CREATE", "result": "EQUAL",
            "create_revision": "0"}


def put(key, value="", lease=0, **more):
    part = {"key": b64(key), "value": b64(value)}
    if lease:
        part["lease"] = str(lease)
    part.update(more)
    return {"request_put": part}


def get(key, end=None, **more):
    part = {"key": b64(key)}
    if end:
        part["range_end"] = b64(end)
    part.update(more)
    return {"request_range": part}


def delete(key, end=None):
    part = {"key": b64(key)}
    if end:
        part["range_end"] = b64(end)
    return {"request_delete_range": part}


def nested(compare, success, failure=()):
    return {"request_txn": {"compare": list(compare), "success": list(success),
                            "failure": list(failure)}}


def revision(answer):
    return int(answer["header"]["revision"])


def kvs(response):
    """The kvs of one response of a transaction, keys decoded; absent = none."""
    found = response.get("response_range", {}).get("kvs", [])
    return [(base64.b64decode(kv["key"]).decode(), kv) for kv in found]


# ---- Watches ----
def post_stream(body):
    host, port = BASE[len("http://"):].split(":")
    sock = socket.create_connection((host, int(port)), 5)
    data = json.dumps(body, separators=(",", ":")).encode()
    sock.sendall(b"POST /v3/watch HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(data)
                 + data)
    return sock


def read_some(sock, seconds):
    sock.settimeout(seconds)
    try:
        return sock.recv(65536)
    except socket.timeout:
        return b""


def read_json_chunk(sock):
    data = b""
    while b"\n\r\n" not in data.split(b"\r\n\r\n", 1)[-1] and not data.endswith(b"\n\r\n"):
        more = read_some(sock, 3)
        if not more:
            break
        data += more
    return data.decode(errors="replace")


class WebSocket:
    """Just enough of RFC 6455: masked text frames out, unmasked frames in."""

    def __init__(self):
        host, port = BASE[len("http://"):].split(":")
        self.sock = socket.create_connection((host, int(port)), 5)
        self.sock.sendall(
            b"GET /v3/watch?method=POST HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n\r\n")
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.data += read_some(self.sock, 5)
        self.head, self.data = self.data.split(b"\r\n\r\n", 1)

    def send(self, node):
        text = json.dumps(node, separators=(",", ":")).encode()
        mask = os.urandom(4)
        size = len(text)
        head = bytes([0x81]) + (bytes([0x80 | size]) if size < 126
                                else bytes([0xFE]) + struct.pack(">H", size))
        self.sock.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))
        print("frame out %s" % show(decoded(node)))

    def receive(self, seconds=3):
        while True:
            if len(self.data) >= 4:
                size, at = self.data[1] & 0x7F, 2
                if size == 126:
                    size, at = struct.unpack(">H", self.data[2:4])[0], 4
                if len(self.data) >= at + size:
                    text = self.data[at:at + size]
                    self.data = self.data[at + size:]
                    node = json.loads(text)
                    print("frame in  %s" % show(decoded(node)))
                    return node.get("result", node)
            more = read_some(self.sock, seconds)
            if not more:
                return None
            self.data += more


# ---- Server ----
def free_ports(count):
    socks = [socket.socket() for _ in range(count)]
    for sock in socks:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports


def start(binary, folder):
    global BASE
    client, peer = ["http://127.0.0.1:%d" % port for port in free_ports(2)]
    BASE = client
    with open(os.path.join(folder, "etcd.log"), "wb") as log:
        server = subprocess.Popen(
            [binary, "--data-dir", os.path.join(folder, "data"), "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer],
            stdout=log, stderr=log)
    end = time.monotonic() + 30
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(BASE + "/health", timeout=1) as reply:
                if b"true" in reply.read():
                    return server
        except OSError:
            time.sleep(0.1)
    stop(server)
    with open(os.path.join(folder, "etcd.log"), "rb") as log:
        sys.stderr.write(log.read().decode(errors="replace")[-2000:])
    raise SystemExit("etcd did not start")


def stop(server):
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
