"""A search cluster of real processes: builds an index, starts, asks, kills and stops it.

For tests and measurements. Everything is on loopback; ports are free ones found at run time, and the
multicast group comes from the process id, so that clusters side by side do not meet.
"""

import http.client
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from waiting import POLL_PAUSE_S, free_port, wait_until

HTTP_TIMEOUT_S = 3.0
START_LIMIT_S = 60.0
STOP_LIMIT_S = 30.0
LISTENING = "0A"  # in /proc/net/tcp

_cluster_numbers = itertools.count(1)


def listeners() -> Set[Tuple[int, str]]:
    """The ports at which TCP sockets listen, with the sockets' inodes: a socket that takes over a port
    has another inode."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        sockets = [line.split() for line in file.readlines()[1:]]
    return {(int(words[1].split(":")[1], 16), words[9]) for words in sockets
            if words[3] == LISTENING}


def is_refused(endpoint: str) -> bool:
    host, port = endpoint.split(":")
    with socket.socket() as probe:
        probe.settimeout(HTTP_TIMEOUT_S)
        return probe.connect_ex((host, int(port))) != 0


def build_index(program: str, corpus: str, folder: str, *arguments: str) -> None:
    done = subprocess.run([program, "--input=" + corpus, "--out=" + folder, *arguments],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"build_index: {done.stderr}")


def answer_key(answer: dict) -> tuple:
    """The part of an answer that is the same for all replicas."""
    return (answer["total"], [(result["id"], result["url"], result["title"], result["snippet"])
                              for result in answer["results"]])


def patient_spec(spec: str, folder: str) -> str:
    """The spec with long timeouts, so that only lost requests fail."""
    with open(spec, encoding="utf-8") as file:
        text = file.read()
    text = text.replace("time_limit { lower_bound_ms: 50 upper_bound_ms: 500 }", "")
    patience = "".join(f'  parameters {{ key: "{step}_timeout_ms" value: "2500" }}\n'
                       for step in ("tier", "document"))
    text = text.replace('  parameters { key: "trust_class_header"',
                        patience + '  parameters { key: "trust_class_header"')
    path = os.path.join(folder, "patient.textproto")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class NodeStatus(NamedTuple):
    pid: int
    state: str
    calls: str
    admin: str


class HttpFailure(Exception):
    """No answer, or one with another status than 200."""


def get(port: int, path: str, may_use_cache: bool = False) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HTTP_TIMEOUT_S)
    try:
        connection.request("GET", path,
                           headers={} if may_use_cache else {"Cache-Control": "no-cache"})
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise HttpFailure(f"{path}: {error!r}") from error
    finally:
        connection.close()
    if response.status != 200:
        raise HttpFailure(f"{path}: HTTP {response.status}: {body[:300]!r}")
    return body


class Cluster:
    """One cluster of the nodes of a spec; its frontends get free ports."""

    def __init__(self, program: str, spec: str, index: str, folder: str):
        number = next(_cluster_numbers)
        self.name = f"test-{os.getpid()}-{number}"
        self._program = program
        self._index = index
        self._folder = os.path.join(folder, self.name)
        self._next_frontend = itertools.count()
        self.http_ports: List[int] = []
        self.process: Optional[subprocess.Popen] = None
        os.makedirs(self._folder)
        self.spec = self._write_spec(spec, number)

    def _write_spec(self, source: str, number: int) -> str:
        with open(source, encoding="utf-8") as file:
            text = file.read()

        def new_port(match) -> str:
            self.http_ports.append(free_port())
            return match.group(1) + f'"{self.http_ports[-1]}"'

        pid = os.getpid()
        group = f"239.193.{(pid >> 8) & 255}.{pid & 255}:{20000 + (pid * 7 + number) % 20000}"
        text = re.sub(r'^name: "[^"]*"', f'name: "{self.name}"', text, count=1, flags=re.MULTILINE)
        text = re.sub(r'(multicast_group: )"[^"]*"', rf'\1"{group}"', text)
        text = re.sub(r'(key: "http_port" value: )"\d+"', new_port, text)
        path = os.path.join(self._folder, "cluster.textproto")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def command(self, *arguments: str) -> List[str]:
        """How the cluster tool is called about this cluster."""
        return [self._program, "--spec=" + self.spec, "--data=" + self._index,
                "--state=" + os.path.join(self._folder, "state"), *arguments]

    def span_files(self) -> Dict[str, str]:
        """Of the nodes that write their spans."""
        folder = os.path.join(self._folder, "state", "nodes")
        files = {node: os.path.join(folder, node, "spans") for node in os.listdir(folder)}
        return {node: path for node, path in files.items() if os.path.exists(path)}

    def launch(self, *arguments: str) -> subprocess.Popen:
        """Starts the supervisor; what it prints is in log()."""
        with open(os.path.join(self._folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self.command(*arguments), stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, start_new_session=True)
        return self.process

    def log(self) -> str:
        with open(os.path.join(self._folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def start(self, *arguments: str) -> float:
        """Starts it and waits until every partition is served and the supervisor says that the
        cluster runs: a signal before that ends a start. The seconds until then."""
        self.launch(*arguments)

        def is_complete() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"the cluster ended: {self.log()}")
            return self.is_complete() and " runs with " in self.log()

        return wait_until(is_complete, START_LIMIT_S, f"{self.name} serves every partition")

    def is_complete(self) -> bool:
        """Whether every frontend sees a replica of every partition."""
        return all(self.is_ready(port) for port in self.http_ports)

    @staticmethod
    def is_ready(port: int) -> bool:
        try:
            get(port, "/readyz?complete=1")
            return True
        except HttpFailure:
            return False

    def attempt(self, *arguments: str) -> subprocess.CompletedProcess:
        """Gives the cluster tool a command, whatever comes of it."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              timeout=STOP_LIMIT_S, check=False)

    def control(self, *arguments: str) -> str:
        done = self.attempt(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"cluster {arguments}: {done.stderr}")
        return done.stdout

    def status(self) -> Dict[str, NodeStatus]:
        nodes = {}
        for line in self.control("--status").splitlines()[2:]:
            if not line:  # what was decided follows
                break
            name, pid, state, calls, admin = line.split()[:5]
            nodes[name] = NodeStatus(int(pid) if pid.isdigit() else 0, state, calls, admin)
        return nodes

    def search(self, query: str, count: int = 10, may_use_cache: bool = False) -> dict:
        """The answer of the first frontend that gives one. Raises HttpFailure if none does."""
        parameters = urllib.parse.urlencode({"q": query, "count": count, "format": "json"})
        first = next(self._next_frontend)
        failures = []
        for i in range(len(self.http_ports)):
            port = self.http_ports[(first + i) % len(self.http_ports)]
            try:
                return json.loads(get(port, "/search?" + parameters, may_use_cache))
            except HttpFailure as failure:
                failures.append(str(failure))
        raise HttpFailure("; ".join(failures))

    def stop(self) -> int:
        """Ends it with SIGTERM; the supervisor's exit status."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.name} did not stop in {STOP_LIMIT_S} s") from None


class Asked(NamedTuple):
    at: float  # monotonic seconds
    query: str
    answer: Optional[dict]
    failure: str


class Asker:
    """Asks a cluster one query after the other on a thread, until it is stopped."""

    def __init__(self, cluster: Cluster, queries: List[str], may_use_cache: bool = False):
        self._cluster = cluster
        self._may_use_cache = may_use_cache
        self._queries = itertools.cycle(queries)
        self._stopped = threading.Event()
        self._asked: List[Asked] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Asker":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._thread.join()

    def _search(self, query: str) -> dict:
        return self._cluster.search(query, may_use_cache=self._may_use_cache)

    def _run(self) -> None:
        while not self._stopped.wait(POLL_PAUSE_S):
            query = next(self._queries)
            at = time.monotonic()
            try:
                self._asked.append(Asked(at, query, self._search(query), ""))
            except HttpFailure as failure:
                self._asked.append(Asked(at, query, None, str(failure)))

    def asked(self) -> List[Asked]:
        """So far, in order."""
        return list(self._asked)

    def wait_until_asked_after(self, moment: float, count: int) -> None:
        """Until `count` queries were asked and answered after that moment."""
        wait_until(lambda: sum(a.at >= moment for a in self._asked) >= count, START_LIMIT_S,
                   f"{count} more queries asked")
