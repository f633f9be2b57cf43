#!/usr/bin/env python3
"""Measures search servers side by side: ours, as one process and as the default cluster, and the peers that are there.

    bench_server --documents=docs.jsonl --queries=queries.txt --work=DIR        all rows, three rounds
    bench_server --work=DIR --table                                             the tables of what was measured
    bench_server --quick                                                        a small collection, ours alone
    bench_server ... --peer=tantivy.json                                        a further server, described by a file

In each round each server is started, warmed, measured and stopped before the next, so that changes of the machine
meet all alike. Every measurement is a line of DIR/results.jsonl; what is there is not measured again, so a run that
was stopped continues. Groonga and RediSearch are measured if they are installed.
Status: 0 done; 1 something could not be measured; 2 wrong arguments.
"""

import argparse
import http.client
import json
import os
import signal
import sys
import tempfile
import time
from typing import Dict, List, Optional

import measure
import questions
import table
from measure import Effort, RequestFiles, RunningServer
from server_process import allow_descriptors
from servers import Described, Groonga, Ours, Place, RediSearch, Server

HOT_QUERIES = 600
FIRST_PORT = 18600
PORTS_EACH = 10
PROBE_QUERY_MAX = 100


class Results:
    """The measurements of a run, in a file that grows by a line for each."""

    def __init__(self, path: str):
        self._path = path
        self.all: List[dict] = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.all = [json.loads(line) for line in file if line.endswith("\n")]

    def find(self, server: str, variant: str, round_number: int, row: str) -> Optional[dict]:
        for one in reversed(self.all):
            if (one["server"], one["variant"], one["round"], one["row"]) == (server, variant, round_number, row):
                return one["figures"]
        return None

    def add(self, server: str, variant: str, round_number: int, row: str, figures: dict) -> None:
        one = {"row": row, "server": server, "variant": variant, "round": round_number, "time": round(time.time()),
               "load1": round(os.getloadavg()[0], 2), "figures": figures}
        self.all.append(one)
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")
        shown = {key: value for key, value in figures.items() if not isinstance(value, (dict, list))}
        print(json.dumps({**one, "figures": shown}), flush=True)


class Bench:
    def __init__(self, work: str, documents: str, generator: str, effort: Effort):
        self._work, self._documents, self._generator, self._effort = work, documents, generator, effort
        self.results = Results(os.path.join(work, "results.jsonl"))
        self.queries: List[str] = []
        self.heavy_words: List[List[str]] = []
        self.failures = 0

    def path(self, name: str) -> str:
        return os.path.join(self._work, name)

    def build(self, servers: List[Server]) -> None:
        for server in servers:
            cost = server.build(self._documents, self.path(f"build-{server.name}.log"))
            if cost:
                self.results.add(server.name, "plain", 0, "build", cost._asdict())

    def _write_files(self, server: Server, variant: str) -> RequestFiles:
        def write(kind: str, queries: List[str]) -> str:
            return measure.write_requests([server.request(query, variant) for query in queries],
                                          self.path(f"requests-{server.name}-{kind}"))
        return RequestFiles(write("plain", self.queries), write("hot", self.queries[:HOT_QUERIES]),
                            write("heavy", [server.any_of(words) for words in self.heavy_words]))

    def _running(self, server: Server, variant: str) -> RunningServer:
        return RunningServer(server, variant, self._write_files(server, variant), self._generator, self._effort,
                             self.path(f"server-{server.name}.log"))

    def prepare(self, server: Server, query_lines: List[str], count: int) -> None:
        """Chooses the questions, with the help of a server that says which find something."""
        with open(self._documents, encoding="utf-8") as lines:
            self.heavy_words = questions.heavy_word_lists(questions.common_words(lines))
        path = self.path("queries.txt")
        if not os.path.exists(path):
            candidates = questions.candidates(query_lines)
            self.queries = candidates[:PROBE_QUERY_MAX]
            running = self._running(server, "plain")
            self._start(running, 0)
            try:
                found = questions.keep_found(
                    candidates, lambda query: server.is_whole(server.ask(server.request(query, "plain"))), count)
            finally:
                running.stop()
            with open(path, "w", encoding="utf-8") as file:
                file.write("".join(query + "\n" for query in found))
        with open(path, encoding="utf-8") as file:
            self.queries = file.read().split("\n")[:-1]

    def _start(self, running: RunningServer, round_number: int) -> None:
        """Not every query finds something in every server: of the first ones one must."""
        word = self.heavy_words[0][0]
        running.start(running.server.request(word, running.variant), round_number)

    def measure(self, server: Server, round_number: int) -> None:
        for variant in server.variants:
            rows = measure.rows_of(variant, self._effort)
            missing = [row for row in rows
                       if self.results.find(server.name, variant, round_number, row) is None]
            if not missing:
                continue
            running = self._running(server, variant)
            try:
                self._start(running, round_number)
                running.warm()
                for row in missing:
                    self._measure_row(running, row, rows[row], round_number)
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                self._failed(server.name, variant, "start", error)
            finally:
                running.stop()

    def _measure_row(self, running: RunningServer, row: str, function, round_number: int) -> None:
        name, variant = running.server.name, running.variant
        try:
            figures = function(running, lambda other: self.results.find(name, variant, round_number, other))
            if figures is not None:
                self.results.add(name, variant, round_number, row, figures)
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            self._failed(name, variant, row, error)

    def _failed(self, server: str, variant: str, row: str, error: Exception) -> None:
        self.failures += 1
        print(f"bench_server: {server}, {variant}, {row}: {error}", file=sys.stderr)


def all_servers(options: argparse.Namespace, programs: Dict[str, str], work: str) -> List[Server]:
    def place(number: int) -> Place:
        return Place(work, options.port + PORTS_EACH * number)
    servers: List[Server] = [Ours(place(0), "ours_one", options.one_spec, programs, (1, 1))]
    if not options.quick:
        servers.append(Ours(place(1), "ours_six", options.six_spec, programs, (4, 2)))
        servers += [kind(place(2 + i)) for i, kind in enumerate((Groonga, RediSearch)) if kind.is_installed()]
        for path in options.peer:
            with open(path, encoding="utf-8") as file:
                servers.append(Described(Place(work, 0), json.load(file)))
    wanted = options.servers.split(",") if options.servers else [server.name for server in servers]
    unknown = set(wanted) - {server.name for server in servers}
    if unknown:
        raise ValueError(f"no server {sorted(unknown)}; there are {[server.name for server in servers]}")
    return [server for server in servers if server.name in wanted]


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", help="JSON Lines with id, title and text")
    parser.add_argument("--queries", help="queries, one a line")
    parser.add_argument("--query_count", type=int, default=8000)
    parser.add_argument("--work", help="folder of indexes, specs and results; 6 GB for 250,000 articles")
    parser.add_argument("--peer", action="append", default=[], help="file that describes a server; may be repeated")
    parser.add_argument("--servers", help="names with commas between them; default: all that are there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=FIRST_PORT, help="first of the ports of our servers")
    parser.add_argument("--idle_connections", type=int, default=Effort().idle_connections)
    parser.add_argument("--seconds", type=float, default=Effort().seconds, help="of each measurement of an open loop")
    parser.add_argument("--quick", action="store_true", help="ours alone, in seconds: whether the tool works")
    parser.add_argument("--table", action="store_true", help="only print the tables")
    for name in ("cluster", "build_index", "server_load", "one_spec", "six_spec"):
        parser.add_argument("--" + name, help=argparse.SUPPRESS)  # where this tree's programs and specs are
    options = parser.parse_args(arguments)
    if not options.table and not (options.documents and options.queries):
        parser.error("--documents and --queries are missing")
    if not options.work and not options.quick:
        parser.error("--work is missing")
    return options


def print_tables(results: Results) -> None:
    print("\n" + table.lines_table(results.all) + "\n\n" + table.figures_table(results.all))


def run(options: argparse.Namespace, work: str) -> int:
    effort = measure.QUICK if options.quick else Effort(seconds=options.seconds,
                                                        idle_connections=options.idle_connections)
    bench = Bench(work, options.documents, options.server_load, effort)
    if not options.table:
        servers = all_servers(options, {"cluster": options.cluster, "build_index": options.build_index}, work)
        allow_descriptors()
        bench.build(servers)
        with open(options.queries, encoding="utf-8", errors="replace") as file:
            bench.prepare(servers[0], file.read().split("\n"), options.query_count)
        for round_number in range(1 if options.quick else options.rounds):
            for server in servers:
                bench.measure(server, round_number)
    print_tables(bench.results)
    return 1 if bench.failures else 0


def resolve_paths(options: argparse.Namespace) -> None:
    """Paths of the caller are relative to the caller's folder, which `bazel run` leaves; those of programs are not."""
    caller = os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd())
    for name in ("documents", "queries", "work"):
        if getattr(options, name):
            setattr(options, name, os.path.join(caller, getattr(options, name)))
    options.peer = [os.path.join(caller, path) for path in options.peer]
    for name in ("cluster", "build_index", "server_load", "one_spec", "six_spec"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))


def main() -> int:
    options = parse(sys.argv[1:])
    resolve_paths(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers are stopped
    try:
        if options.work:
            os.makedirs(options.work, exist_ok=True)
            return run(options, options.work)
        with tempfile.TemporaryDirectory() as folder:
            return run(options, folder)
    except (ValueError, OSError) as error:
        print(f"bench_server: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
