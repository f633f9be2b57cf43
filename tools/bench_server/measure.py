"""Measurements of one running server, a function for each row."""

import http.client
import json
import subprocess
import time
from typing import Callable, Dict, List, NamedTuple, Optional

from rate_search import RateSearch
from server_process import ServerProcess
from servers import Server

READY_LIMIT_S = 180.0
PAUSE_S = 0.02
QUIET_LIMIT_S = 30.0
QUIET_CORES = 0.05


class Effort(NamedTuple):
    """How long and how much is measured."""
    warm_s: float = 8
    seconds: float = 10
    closed_s: float = 5
    low_rate: float = 50
    goal_ms: float = 100
    idle_connections: int = 50_000
    trial_max: int = 10
    connections: tuple = (1, 8, 64, 512)
    heavy_count: int = 20


QUICK = Effort(warm_s=.3, seconds=1, closed_s=.5, low_rate=30, goal_ms=2000, idle_connections=100, trial_max=2,
               connections=(1, 8, 64), heavy_count=3)


class RequestFiles(NamedTuple):
    """Files of requests for one server and variant."""
    plain: str
    hot: str  # few queries, all of which a cache can hold
    heavy: str


def write_requests(requests: List[bytes], path: str) -> str:
    with open(path, "wb") as file:
        for request in requests:
            file.write(b"%d\n%s" % (len(request), request))
    return path


class RunningServer:
    """A started server, and the generator that loads it."""

    def __init__(self, server: Server, variant: str, files: RequestFiles, generator: str, effort: Effort, log: str):
        self.server, self.variant, self.files, self.effort = server, variant, files, effort
        self._generator = generator
        self._log = log
        self.start_s = 0.0
        self.process: Optional[ServerProcess] = None
        self._first_request = 0

    def start(self, first_request: bytes, round_number: int) -> None:
        """Starts it and waits for a whole answer. Raises RuntimeError if none comes."""
        began = time.monotonic()
        self.process = ServerProcess(self.server.argv(self.variant), self._log, self.server.environment())
        while not self._answers(first_request):
            if time.monotonic() - began > READY_LIMIT_S or self.process.has_ended():
                self.stop()
                raise RuntimeError(f"{self.server.name} does not answer; see {self._log}")
            time.sleep(PAUSE_S)
        self.start_s = time.monotonic() - began
        self.server.after_start(self.variant)
        # Rounds begin at other places of the list.
        self._first_request = 1777 * round_number

    def _answers(self, request: bytes) -> bool:
        try:
            return self.server.is_whole(self.server.ask(request, timeout_s=5))
        except (OSError, http.client.HTTPException, ValueError, KeyError, IndexError, TypeError, RuntimeError):
            return False

    def stop(self) -> None:
        if self.process:
            self.process.stop()

    def load(self, requests: str, seconds: float, **options: object) -> Dict:
        """What the generator saw, with the processor time of the server."""
        argv = [self._generator, f"--port={self.server.port}", f"--protocol={self.server.protocol}",
                f"--requests={requests}", f"--seconds={seconds}", f"--first_request={self._first_request}",
                "--unwanted=" + "|".join(self.server.unwanted)]
        argv += [f"--{name}={value}" for name, value in options.items()]
        before = self.process.processor_s()
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.server.name}: {done.stderr.strip()}")
        figures = json.loads(done.stdout)
        self._first_request += figures["sent"]
        figures["processor_s"] = self.process.processor_s() - before
        answered = max(1, figures["answered"])
        figures["cpu_s_per_1000"] = 1000 * figures["processor_s"] / answered
        figures["bytes_per_answer"] = figures["bytes"] / answered
        figures["lost"] = figures["refused"] + figures["failed"] + figures["timed_out"] + figures["incomplete"]
        figures["lost_share"] = figures["lost"] / max(1, figures["sent"])
        return figures

    def warm(self) -> None:
        """Until caches of files and processors are warm; twice for programs that compile themselves is
        what the caller sets in the effort."""
        self.load(self.files.hot if self.variant.startswith("cached") else self.files.plain, self.effort.warm_s,
                  connections=8)

    def wait_until_quiet(self) -> None:
        """Until it does next to nothing any more."""
        deadline = time.monotonic() + QUIET_LIMIT_S
        while time.monotonic() < deadline:
            before = self.process.processor_s()
            time.sleep(.3)
            if self.process.processor_s() - before <= QUIET_CORES * .3:
                return


Figures = Dict
# What earlier rows of the same server, variant and round found.
Earlier = Callable[[str], Optional[Figures]]


def start(running: RunningServer, _: Earlier) -> Figures:
    pss, anonymous = running.process.memory_mib()
    return {"seconds": running.start_s, "pss_mib": pss, "anonymous_mib": anonymous,
            "processes": len(running.process.pids())}


def low(running: RunningServer, _: Earlier) -> Figures:
    return running.load(running.files.plain, running.effort.seconds, rate=running.effort.low_rate)


def cached(running: RunningServer, _: Earlier) -> Figures:
    return running.load(running.files.hot, running.effort.closed_s, connections=8)


def closed(connections: int) -> Callable[[RunningServer, Earlier], Figures]:
    def measure(running: RunningServer, _: Earlier) -> Figures:
        return running.load(running.files.plain, running.effort.closed_s, connections=connections)
    return measure


def max_rate(running: RunningServer, earlier: Earlier) -> Optional[Figures]:
    closed_8 = earlier("closed_8")
    if not closed_8 or not closed_8["answered"]:
        return None
    search = RateSearch(start=.8 * closed_8["answers_per_s"], trial_max=running.effort.trial_max)
    found: Figures = {"rate": None, "trials": []}
    while (rate := search.next_rate()) is not None:
        figures = running.load(running.files.plain, running.effort.seconds, rate=rate)
        is_met = figures["lost"] == 0 and figures["p99_ms"] <= running.effort.goal_ms
        search.record(is_met)
        found["trials"].append({"rate": rate, "met": is_met, "p99_ms": figures["p99_ms"], "lost": figures["lost"]})
        if is_met:
            found.update(rate=rate, **{key: figures[key] for key in ("p50_ms", "p99_ms", "good_per_s", "cpu_s_per_1000")})
        else:
            running.wait_until_quiet()
    return found


def overload(running: RunningServer, earlier: Earlier) -> Optional[Figures]:
    """Good answers at twice the highest rate, against the most at any rate that was measured."""
    most, closed_8 = earlier("max_rate"), earlier("closed_8")
    if not most or not most["rate"] or not closed_8:
        return None
    figures = running.load(running.files.plain, running.effort.seconds, rate=2 * most["rate"], timeout_ms=10_000,
                           good_ms=1000)
    figures["good_ratio"] = figures["good_per_s"] / max(most["good_per_s"], closed_8["good_per_s"])
    running.wait_until_quiet()
    return figures


def give_up(running: RunningServer, earlier: Earlier) -> Optional[Figures]:
    most = earlier("max_rate")
    if not most or not most["rate"]:
        return None
    figures = running.load(running.files.plain, running.effort.seconds, rate=2 * most["rate"], timeout_ms=50)
    figures["served_share"] = figures["answered"] / max(1, figures["sent"])
    running.wait_until_quiet()
    return figures


def abandoned(running: RunningServer, _: Earlier) -> Optional[Figures]:
    """Processor time of heavy queries whose clients leave after 10 ms, against that of the same awaited."""
    count = running.effort.heavy_count
    running.load(running.files.heavy, 1, connections=1)
    whole = running.load(running.files.heavy, max(1.0, count / 10), connections=1)
    before = running.process.processor_s()
    left = running.load(running.files.heavy, count / 5, rate=5, timeout_ms=10)
    running.wait_until_quiet()
    spent = running.process.processor_s() - before
    if not whole["answered"] or not left["sent"]:
        return None
    cost, cost_left = whole["processor_s"] / whole["answered"], spent / left["sent"]
    return {"cost_ms": 1000 * cost, "cost_left_ms": 1000 * cost_left, "cost_share": cost_left / max(cost, 1e-6),
            "left": left["timed_out"], "of": left["sent"], "whole_p50_ms": whole["p50_ms"]}


def beside_heavy(running: RunningServer, earlier: Earlier) -> Optional[Figures]:
    alone = earlier("low")
    figures = running.load(running.files.plain, running.effort.seconds, rate=running.effort.low_rate,
                           heavy=running.files.heavy, heavy_connections=4)
    running.wait_until_quiet()
    if alone and alone["p50_ms"]:
        figures["p50_ratio"] = figures["p50_ms"] / alone["p50_ms"]
    return figures


def idle(running: RunningServer, earlier: Earlier) -> Optional[Figures]:
    alone = earlier("low")
    before = running.process.memory_mib()[1]
    figures = running.load(running.files.plain, running.effort.seconds, rate=running.effort.low_rate,
                           idle_connections=running.effort.idle_connections, timeout_ms=5000)
    figures["alive"] = figures["idle"]["alive"]
    figures["mib_more"] = running.process.memory_mib()[1] - before
    if alone and alone["p99_ms"]:
        figures["p99_ratio"] = figures["p99_ms"] / alone["p99_ms"]
    return figures


def rows_of(variant: str, effort: Effort) -> Dict[str, Callable[[RunningServer, Earlier], Optional[Figures]]]:
    """Rows of a variant in the order in which they are measured."""
    if variant.startswith("cached"):
        return {"cached": cached}
    if variant == "bare":
        return {"low": low, "closed_8": closed(8)}
    return {"start": start, "low": low, **{f"closed_{count}": closed(count) for count in effort.connections},
            "max_rate": max_rate, "overload": overload, "give_up": give_up, "abandoned": abandoned,
            "beside_heavy": beside_heavy, "idle": idle}
