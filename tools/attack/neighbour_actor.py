"""A neighbour on the network without the key, and a page in a browser, at each shipped spec.

They try to change documents and nodes, to read what others ask, to announce a node, and to be answered with more than
they sent. What a page makes a browser send is sent as the browser would: with its `Origin`, `Sec-Fetch-Site` and `Host`.
"""

import os
import random
import re
import socket
import subprocess
import time
from typing import Dict, Iterator, List, Optional

from client_actor import tcp_ports
from raw_client import ask, connect
from rows import Row, counted, judged, not_measured
from secured import secured_network
from target import Attacked, Indexes, Setting, partition_counts, pause, wait_for

ACTOR = "neighbour"
_SECRET = "neighbourssecretword"
_FOREIGN = {
    "another Host": {"Host": "attack.test"},
    "another Origin": {"Origin": "http://attack.test"},
    "a page of another site": {"Sec-Fetch-Site": "cross-site", "Origin": "http://attack.test"},
    "a proxy": {"X-Forwarded-For": "192.0.2.7"},
}
_WRITES = [("POST", "/documents", b'{"url": "http://attack.test/", "title": "t", "text": "x"}'),
           ("DELETE", "/documents/0", None), ("DELETE", "/documents?url=http%3A%2F%2Fattack.test%2F", None)]
_ADMIN_WRITES = [("POST", "/capsules", b"capsule attack { match: service:docs/0 timeout_ms: 1 }"),
                 ("DELETE", "/capsules?name=default", None), ("PUT", "/services/tier1/threads", b'{"concurrency": 1}'),
                 ("POST", "/replicas/start?service=tier1&partition=0", b"")]
_FRONTEND_PAGES = ["/tracez", "/tracez?format=json", "/console", "/statusz", "/metrics"]
_ADMIN_PAGES = ["/", "/statusz", "/metrics", "/services", "/capsules", "/profile/cpu?seconds=1", "/profile/heap/totals"]
_CHANGE_LINE, _READ_LINE = "can change nothing", "reads no query and no page for operators"
_ANNOUNCE_LINE, _AMPLIFY_LINE = "announces no node", "no answer is larger than its question"
_ROGUE = "rogue"
_CLOSED_LIMIT_S = 3.0
_ANSWER_SIZE_MAX = 256  # of a connection that has proved nothing


def _json(name: str) -> Dict[str, str]:
    return {"Content-Type": "application/json", **_FOREIGN[name]}


def changes(cluster: Attacked, admin: Dict[str, int]) -> List[str]:
    """What was changed."""
    faults = []
    for name in _FOREIGN:
        for method, path, body in _WRITES:
            for port in cluster.http_ports:
                status = cluster.ask(path, port=port, method=method, body=body, headers=_json(name)).status
                if 200 <= status < 300:
                    faults.append(f"{method} {path} by {name}: {status}")
    for headers in ({}, *_FOREIGN.values(), {"Authorization": "Bearer " + "x" * 32}):
        for method, path, body in _ADMIN_WRITES:
            for node, port in admin.items():
                status = ask(port, path, method=method, body=body, headers=headers).status
                if 200 <= status < 300:
                    faults.append(f"{method} {path} at {node}'s administration port: {status}")
    return faults


def _has_leaked(status: int, body: bytes) -> bool:
    return status == 200 or _SECRET.encode() in body


def readings(cluster: Attacked, admin: Dict[str, int]) -> List[str]:
    cluster.ask(f"/search?format=json&q={_SECRET}")
    faults = []
    for name, headers in _FOREIGN.items():
        if name == "another Origin":  # without Sec-Fetch-Site: a page of the same site that was opened by its address
            continue
        for path in _FRONTEND_PAGES:
            for port in cluster.http_ports:
                reply = cluster.ask(path, port=port, headers=headers)
                if _has_leaked(reply.status, reply.body):
                    faults.append(f"{path} by {name}: {reply.status}")
        for path in _ADMIN_PAGES:
            for node, port in admin.items():
                reply = ask(port, path, headers=headers)
                if _has_leaked(reply.status, reply.body):
                    faults.append(f"{path} of {node}'s administration by {name}: {reply.status}")
    return faults


def datagram_endpoints(pids: List[int]) -> List[tuple]:
    """Addresses at which the processes take datagrams."""
    inodes = {}
    for pid in pids:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}"))
            except OSError:
                continue
            if match:
                inodes[match[1]] = pid
    found = set()
    with open("/proc/net/udp", encoding="ascii") as file:
        for words in (line.split() for line in file.readlines()[1:]):
            if words[9] in inodes:
                address, port = words[1].split(":")
                host = socket.inet_ntoa(bytes.fromhex(address)[::-1])
                found.add((host if host != "0.0.0.0" else "127.0.0.1", int(port, 16)))
    return sorted(found)


def datagrams(rng: random.Random, recorded: List[bytes]) -> List[bytes]:
    """Questions of every length, also such as nodes send, without the proof of the key or with a broken one."""
    drawn = [bytes([first]) + rng.randbytes(size) for first in range(8) for size in (0, 1, 7, 15, 31, 63, 200, 1400)]
    plain = [b"", b"\0", b"\xff" * 1400, b'{"a": 1}']
    for one in recorded:
        plain += [one[:-17], one[:-1] + bytes([one[-1] ^ 1]), one[:1] + bytes([one[1] ^ 1]) + one[2:] if len(one) > 2 else one]
    return drawn + plain


def amplified(endpoints: List[tuple], questions: List[bytes]) -> List[str]:
    """Questions that were answered with more bytes than they have."""
    faults = []
    for endpoint in endpoints:
        for question in questions:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.settimeout(.004)
                received = 0
                try:
                    one.sendto(question, endpoint)
                    while True:
                        received += len(one.recv(1 << 16))
                except OSError:
                    pass
            if received > len(question):
                faults.append(f"{len(question)} bytes to {endpoint[0]}:{endpoint[1]} gave {received}")
    return faults


def recorded_announcements(group: str, seconds: float) -> List[bytes]:
    """What nodes send to the multicast group meanwhile."""
    address, port = group.rsplit(":", 1)
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((address, int(port)))
        one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(address) + socket.inet_aton("127.0.0.1"))
        one.settimeout(.2)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                found.append(one.recv(1 << 16))
            except socket.timeout:
                pass
    return found


def send_to_group(group: str, messages: List[bytes]) -> None:
    address, port = group.rsplit(":", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        for message in messages:
            one.sendto(message, (address, int(port)))


def group_of(spec: str) -> str:
    with open(spec, encoding="utf-8") as file:
        return re.search(r'multicast_group: "([^"]+)"', file.read())[1]


def known_nodes(cluster: Attacked, admin: Dict[str, int]) -> str:
    """The status pages of all nodes, as text."""
    return "".join(ask(port, "/statusz?format=json").body.decode(errors="replace") for port in admin.values())


class Rogue:
    """A real node with the cluster's name and group and another key, or none, while the block is entered."""

    def __init__(self, setting: Setting, cluster: Attacked, key: Optional[str]):
        with open(cluster.spec, encoding="utf-8") as file:
            text = file.read()
        name = re.search(r'^name: "([^"]+)"', text, re.MULTILINE)[1]
        self._folder = os.path.join(setting.folder, f"{_ROGUE}-{name}-{bool(key)}")
        os.makedirs(self._folder)
        lines = [f'name: "{name}"', f'multicast_group: "{group_of(cluster.spec)}"']
        if key:
            path = os.path.join(self._folder, "key")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
                file.write(key + "\n")
            lines.append('cluster_key_file: "key"')
        services = "".join(f' services {{ name: "{service}" module: "echo" partition_count: {count} }}'
                           for service, count in partition_counts(text).items())
        hosts = " ".join(f'hosts {{ service: "{service}" }}' for service in partition_counts(text))
        self._spec = os.path.join(self._folder, "spec.textproto")
        with open(self._spec, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + f'\n{services}\nnodes {{ name: "{_ROGUE}" {hosts} }}\n')
        self._program = setting.programs.neptuned
        self._started = os.path.join(self._folder, "started")
        self._process: Optional[subprocess.Popen] = None
        self.has_started = False

    def __enter__(self) -> "Rogue":
        with open(os.path.join(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen([self._program, "--spec=" + self._spec, "--node=" + _ROGUE, "--allow_root",
                                              "--data_dir=" + self._folder, "--started_file=" + self._started],
                                             stdout=log, stderr=log)
        self.has_started = wait_for(lambda: os.path.exists(self._started), 10) is not None
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def announcements(setting: Setting, cluster: Attacked, admin: Dict[str, int], recorded: List[bytes], rng: random.Random
                  ) -> Iterator[Row]:
    tried = []
    for key in (None, rng.randbytes(32).hex()):
        with Rogue(setting, cluster, key) as rogue:
            if rogue.has_started:
                pause(2.5)  # two announcements
                tried.append("a node " + ("with another key" if key else "without a key"))
                if f'"{_ROGUE}"' in known_nodes(cluster, admin):
                    yield judged(ACTOR, f"{cluster.spec_name}: announcements", tried[-1], _ANNOUNCE_LINE, "it is listed", False)
                    return
    if not tried:
        yield not_measured(ACTOR, f"{cluster.spec_name}: announcements", _ANNOUNCE_LINE, "the other node did not start")
        return
    before = len(re.findall(r'"cluster nodes"', known_nodes(cluster, admin)))
    forged = [one.replace(next(iter(admin)).encode(), _ROGUE.encode()[:len(next(iter(admin)))]) for one in recorded]
    send_to_group(group_of(cluster.spec), forged + datagrams(rng, recorded))
    pause(.5)
    text = known_nodes(cluster, admin)
    is_whole = cluster.is_complete() and len(re.findall(r'"cluster nodes"', text)) == before
    yield judged(ACTOR, f"{cluster.spec_name}: announcements",
                 " and ".join(tried) + f", {len(forged)} recorded ones with another name, broken ones", _ANNOUNCE_LINE,
                 "no status page lists it, every partition is served" if is_whole and f'"{_ROGUE}"' not in text
                 else "the view of the nodes changed", is_whole and f'"{_ROGUE}"' not in text)


def calls(cluster: Attacked, rng: random.Random) -> List[str]:
    """Connections to the ports of nodes without the key: answered with more than was sent, or kept."""
    http = {*cluster.http_ports, *cluster.admin_ports().values()}
    ports = sorted(set(tcp_ports(list(cluster.pids().values()))) - http)
    rng_bytes = rng.randbytes(4096)
    opened = []
    for port in ports:
        for data in (b"", rng_bytes[:64], b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n", rng_bytes):
            one = connect(("127.0.0.1", port), timeout=_CLOSED_LIMIT_S)
            opened.append((port, data, one))
            try:
                one.sendall(data)
            except OSError:
                pass  # closed already
    pause(_CLOSED_LIMIT_S)
    faults = []
    for port, data, one in opened:
        received, has_closed = _received(one)
        if not has_closed:
            faults.append(f"port {port} keeps a connection for {_CLOSED_LIMIT_S:g} s that sent {len(data)} bytes")
        if len(received) > max(len(data), _ANSWER_SIZE_MAX):
            faults.append(f"port {port} answered {len(data)} bytes with {len(received)}")
    return faults


def _received(one: socket.socket) -> tuple:
    """What is there, and whether the other end has closed. Closes the connection."""
    received = b""
    with one:
        one.settimeout(.01)
        try:
            while True:
                piece = one.recv(1 << 16)
                if not piece:
                    return received, True
                received += piece
        except socket.timeout:
            return received, False
        except OSError:
            return received, True


def attack_one(setting: Setting, cluster: Attacked, rng: random.Random) -> Iterator[Row]:
    name = cluster.spec_name
    admin = cluster.admin_ports()
    capsules = [ask(port, "/capsules").body for port in admin.values()]
    faults = changes(cluster, admin)
    if [ask(port, "/capsules").body for port in admin.values()] != capsules:
        faults.append("the capsules of a node changed")
    writes = len(_FOREIGN) * len(_WRITES) * len(cluster.http_ports) + 6 * len(_ADMIN_WRITES) * len(admin)
    yield counted(ACTOR, f"{name}: changes", writes, f"{writes} changes of documents, capsules, threads and replicas by "
                  + ", ".join(_FOREIGN) + ", without or with a wrong token", _CHANGE_LINE, faults)
    count = (len(_FOREIGN) - 1) * (len(_FRONTEND_PAGES) * len(cluster.http_ports) + len(_ADMIN_PAGES) * len(admin))
    yield counted(ACTOR, f"{name}: readings", count, f"{count} pages by another Host, a page of another site, a proxy",
                  _READ_LINE, readings(cluster, admin))
    recorded = recorded_announcements(group_of(cluster.spec), 1.5)
    endpoints = datagram_endpoints(list(cluster.pids().values()))
    questions = datagrams(rng, recorded[:6])
    yield counted(ACTOR, f"{name}: datagrams", len(endpoints) * len(questions),
                  f"{len(questions)} datagrams to each of {len(endpoints)} ports", _AMPLIFY_LINE,
                  amplified(endpoints, questions))
    yield from announcements(setting, cluster, admin, recorded, rng)
    yield counted(ACTOR, f"{name}: connections", 5 * len(admin), "silence, garbage and HTTP at each port for calls and control",
                  f"closed within {_CLOSED_LIMIT_S:g} s, answered with at most {_ANSWER_SIZE_MAX} bytes", calls(cluster, rng))
    dead = cluster.dead_nodes()
    yield judged(ACTOR, f"{name}: nodes", "all of the above", "0 nodes die", f"dead: {dead}" if dead else "none died", not dead)


def _index_of(setting: Setting, indexes: Indexes, spec: str) -> str:
    with open(setting.programs.specs[spec], encoding="utf-8") as file:
        counts = partition_counts(file.read())
    more = ["--index_tiers=segment,rocksdb_postings", "--document_stores=rocksdb,flat_file"] if spec == "second" else []
    return indexes.folder(counts["tier1"], counts["docs"], *more)


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    rng = random.Random(setting.seed)
    quick = setting.seconds < 3
    for spec in ("small", "live") if quick else ("small", "dev", "second", "live", "persistent_cache"):
        setting.say(f"neighbour: {spec}")
        with Attacked(setting, spec, _index_of(setting, indexes, spec)) as cluster:
            yield from attack_one(setting, cluster, rng)
    with secured_network(setting, indexes) as cluster:
        yield from attack_one(setting, cluster, rng)
    yield not_measured(ACTOR, "redis_cache", _CHANGE_LINE, "needs a Redis server of its own; //tests/redis_cache holds it")
