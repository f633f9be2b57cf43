"""The tour of the root README and of the query language, as a user takes it: each command returns what is claimed.

    tour_test.py CLUSTER_PROGRAM BUILD_INDEX_PROGRAM SEARCH_PROGRAM REPLAY_PROGRAM SPEC SECOND_SPEC CORPUS TRACE README

Every command of the README is in COMMANDS: with the function below that runs it, with the test that does, or with the
reason why none can. A new command fails this test until it is there.
"""

import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from typing import Dict, List, Optional, Set

from cluster_process import Cluster, answer_key, build_index, get

PROGRAM, BUILDER, SEARCHER, REPLAYER, SPEC, SECOND_SPEC, CORPUS, TRACE, README = (
    os.path.abspath(path) for path in sys.argv[1:10])

LIMIT_S = 60.0
COVERED, NOT_RUN = "covered by ", "not run: "
# Of the programs' own tests, whose sources are among the data of this one.
PROCESSES = "tests/processes/"
COMMANDS = {
    "./tools/up": NOT_RUN + "installs packages and builds; tools/setup tests its parts",
    "./tools/up --input=~/notes":
        COVERED + "tools/neptune/index_test.py test_documents_of_every_kind_are_found_over_http",
    "./tools/up --stop": NOT_RUN + "the cluster tool's own; process_test stops clusters",
    "./tools/up --replicated": NOT_RUN + "as ./tools/up; tools/setup tests the choice",
    "./tools/test": NOT_RUN + "runs this test",
    "bazel build //...": NOT_RUN + "Bazel",
    "bazel test //...": NOT_RUN + "Bazel",
    "bazel build --config=werror //...": NOT_RUN + "Bazel",
    "bazel test --config=asan //neptune/...": NOT_RUN + "Bazel",
    "bazel run //tools:search -- \"window functions\"": "test_search_shows_results_and_coverage",
    "bazel run //tools:search -- --json 'title:\"list comprehension\" site:python'":
        "test_search_as_json_finds_the_title_of_the_site",
    "bazel run //tools:cluster -- --status": "test_status_prints_the_address_of_every_node",
    "bazel run //tools:cluster -- --kill=store-1":
        COVERED + PROCESSES + "process_test.py test_after_a_kill_no_query_fails_and_all_is_back",
    "bazel run //tools:cluster -- --pause=store-2":
        COVERED + PROCESSES + "process_test.py test_a_paused_node_is_done_without_and_taken_back",
    "curl -s 'http://127.0.0.1:8080/search?q=window+functions&format=json&trace=1' | jq .trace.explanation":
        "test_trace_explains_where_the_time_went",
    "bazel run //tools:replay -- --trace=data/traces/sample.trace.gz --speed=4 --report=/tmp/run":
        "test_replay_writes_its_report",
    "bazel run //tools:capacity -- --goal=p99:50ms,coverage:0.99 --trace=data/traces/sample.trace.gz":
        COVERED + "tools/capacity/capacity_process_test.py "
        "test_a_goal_that_is_met_everywhere_ends_at_the_highest_rate",
    "bazel run //tools:build_index -- --index_tiers=segment,rocksdb_postings --document_stores=rocksdb,flat_file":
        "test_a_second_cluster_serves_the_alternatives_with_the_same_answers",
    "bazel run //tools:cluster -- --spec=data/clusters/second.textproto":
        "test_a_second_cluster_serves_the_alternatives_with_the_same_answers",
    "bazel run //tools:search -- --target=http://127.0.0.1:8090 --json \"window functions\"":
        "test_a_second_cluster_serves_the_alternatives_with_the_same_answers",
    "bazel run //tools:build_index -- --index_tiers=segment,rocksdb_postings":
        COVERED + PROCESSES + "rolling_change_test.py test_swap_of_an_index_tier_and_back",
    "bazel run //tools:cluster -- --swap=tier1=rocksdb_postings":
        COVERED + PROCESSES + "rolling_change_test.py test_swap_of_an_index_tier_and_back",
    "bazel run //tools:search -- --json \"window functions\"":
        COVERED + PROCESSES + "rolling_change_test.py test_swap_of_an_index_tier_and_back",
    "bazel run //tools:cluster -- --swap=tier1=":
        COVERED + PROCESSES + "rolling_change_test.py test_swap_of_an_index_tier_and_back",
    "bazel run //tools:build_index -- --input=data/var/corpora/full.jsonl.zst --out=data/var/full":
        COVERED + PROCESSES + "publish_test.py test_published_and_rolled_back_under_load",
    "bazel run //tools:publish -- --index=data/var/full":
        COVERED + PROCESSES + "publish_test.py test_published_and_rolled_back_under_load",
    "bazel run //tools:publish -- --rollback":
        COVERED + PROCESSES + "publish_test.py test_published_and_rolled_back_under_load",
}

# What the examples of the query language find: all pages, or the best one and others among all.
PG, CPP, PY, GIT, THREADS = ("https://postgresql.example/", "https://cppreference.example/", "https://python.example/",
                             "https://docs.example/git-doc/", "https://threads.example/")
BOOK = "https://docs.example/book/interactive.html"
FINDS: Dict[str, Set[str]] = {
    "\"foreign key constraint\"": {PG + "fk.html"},
    "std::vector": {CPP + "vector.html"},
    "operator<<": {CPP + "operator.html"},
    "mutex NEAR/5 deadlock": {THREADS + "deadlock.html"},
    "mutex OR semaphore": {THREADS + "deadlock.html", THREADS + "mutex.html", THREADS + "semaphore.html"},
    "mutex AND deadlock": {THREADS + "deadlock.html", THREADS + "mutex.html"},
    "rebase -interactive": {GIT + "git-rebase.html"},
    "git +stash": {GIT + "git-stash.html"},
    "iterator -(java OR python)": {CPP + "iterator.html"},
    "vec*": {CPP + "vector.html", "https://svg.example/graphics.html"},
    "title:iterator": {CPP + "iterator.html", PY + "iterator.html", "https://java.example/iterator.html"},
    "title:\"window functions\"": {PG + "window.html"},
    "title:(hash map)": {CPP + "hash-map.html"},
    "vector site:cppreference": {CPP + "vector.html"},
    "vector -site:cppreference": {"https://svg.example/graphics.html"},
    "commit url:git-doc": {GIT + "git-commit.html", GIT + "git-rebase.html"},
    "index lang:en": {PG + "create-index.html"},
    "release after:2023-06 before:2024": {"https://news.example/16.html"},
}
FINDS_FIRST: Dict[str, List[str]] = {
    "create index concurrently": [PG + "create-index.html", "https://lexikon.example/index.html"],
    "git commit -m": [GIT + "git-commit.html", GIT + "git-rebase.html"],
    "(mutex OR semaphore) timeout": [THREADS + "semaphore.html", THREADS + "mutex.html"],
}


def commands_of(path: str) -> List[str]:
    """The lines of the blocks of commands, without comments."""
    commands = []
    in_block = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("```"):
                in_block = not in_block
            elif in_block and re.match(r"(\./|bazel |curl )", line):
                for command in re.split(r"\s{2,}(?=bazel )", re.sub(r"\s+# .*", "", line).strip()):
                    commands.append(command)
    return commands


class Links(html.parser.HTMLParser):
    """The addresses that a page links to."""

    def __init__(self, page: str):
        super().__init__()
        self.hrefs: List[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag == "a":
            self.hrefs.append(dict(attrs).get("href") or "")


class TourTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = cls._temporary.name
        cls.index = os.path.join(cls.folder, "index")
        build_index(BUILDER, CORPUS, cls.index, "--index_tiers=segment,rocksdb_postings",
                    "--document_stores=rocksdb,flat_file")
        cls.cluster = Cluster(PROGRAM, SPEC, cls.index, cls.folder)
        cls.cluster.start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        cls._temporary.cleanup()

    def run_program(self, program: str, *arguments: str) -> subprocess.CompletedProcess:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def search(self, *arguments: str, cluster: Optional[Cluster] = None) -> str:
        """What tools/search prints about the cluster."""
        port = (cluster or self.cluster).http_ports[0]
        return self.run_program(SEARCHER, f"--target=http://127.0.0.1:{port}", *arguments).stdout

    def page(self, path: str) -> bytes:
        return get(self.cluster.http_ports[0], path)

    # The commands of the README.

    def test_every_command_of_the_readme_is_run_or_covered(self):
        commands = commands_of(README)
        self.assertGreater(len(commands), 15)
        self.assertEqual(set(commands), set(COMMANDS))
        for command, how in COMMANDS.items():
            with self.subTest(command=command):
                if how.startswith(COVERED):
                    path, test = how[len(COVERED):].split()
                    with open(path, encoding="utf-8") as file:
                        self.assertIn(f"def {test}(self", file.read())
                elif not how.startswith(NOT_RUN):
                    self.assertTrue(hasattr(self, how), how)

    def test_scripts_that_cannot_run_here_are_there(self):
        for script in ("tools/up", "tools/test"):
            self.assertEqual(subprocess.run(["bash", "-n", script], check=False).returncode, 0, script)

    def test_search_shows_results_and_coverage(self):
        printed = self.search("window functions")
        self.assertRegex(printed, r"1\. +Window functions")
        self.assertRegex(printed, r"Searched (\d+) of \1 partitions, tier 1 .*, (not cached|cached), "
                         r"[\d.]+ (ms|s)")

    def test_search_as_json_finds_the_title_of_the_site(self):
        answer = json.loads(self.search("--json", "title:\"list comprehension\" site:python"))
        self.assertEqual([result["url"] for result in answer["results"]], [PY + "comprehension.html"])
        coverage = answer["coverage"]
        self.assertTrue(coverage["complete"])
        self.assertEqual(coverage["partitions_asked"], coverage["partitions_answered"])
        self.assertIn("outcome", coverage["cache"])

    def test_status_prints_the_address_of_every_node(self):
        nodes = self.cluster.status()
        self.assertEqual(len(nodes), 6)
        for name, node in nodes.items():
            self.assertEqual(node.state, "running", name)
            admin = int(node.admin.split(":")[1])
            self.assertIn(b"tier1", get(admin, "/statusz"))
            self.assertIn(b"neptune_", get(admin, "/metrics"))

    def test_pages_that_the_readme_names_are_served(self):
        for path, content in (("/", b"<form"), ("/help", b"Query language"), ("/console", b"store-1"),
                              ("/tracez", b"trace"), ("/openapi.json", b"openapi")):
            self.assertIn(content, self.page(path), path)

    def test_trace_explains_where_the_time_went(self):
        answer = json.loads(self.page("/search?q=window+functions&format=json&trace=1"))
        self.assertTrue(answer["trace"]["explanation"])

    def test_replay_writes_its_report(self):
        report = os.path.join(self.folder, "run")
        self.run_program(REPLAYER, f"--target=http://127.0.0.1:{self.cluster.http_ports[0]}", "--trace=" + TRACE,
                         "--speed=4", "--report=" + report, "--duration_s=1", "--lateness_p99_ms_max=60000")
        with open(os.path.join(report, "report.html"), encoding="utf-8") as file:
            self.assertIn("<h1>", file.read())

    def test_a_second_cluster_serves_the_alternatives_with_the_same_answers(self):
        second = Cluster(PROGRAM, SECOND_SPEC, self.index, self.folder)
        self.addCleanup(second.stop)
        second.start()
        for query in ("window functions", "vector", "mutex"):
            first_answer = json.loads(self.search("--json", query))
            answer = json.loads(self.search("--json", query, cluster=second))
            self.assertEqual(answer_key(answer), answer_key(first_answer), query)
            self.assertEqual(answer["coverage"]["tiers"][0]["implementation"], "rocksdb_postings")
            self.assertEqual(answer["coverage"]["documents"]["implementation"], "flat_file")

    # The query language.

    def answer(self, query: str, **more: str) -> dict:
        parameters = urllib.parse.urlencode(dict({"q": query, "format": "json", "count": "100"}, **more))
        return json.loads(self.page("/search?" + parameters))

    def found(self, query: str, **more: str) -> List[str]:
        answer = self.answer(query, **more)
        self.assertFalse(answer["partial"], query)
        self.assertIsNone(answer["relaxed"], query)
        self.assertIsNone(answer["corrected"], query)
        return [result["url"] for result in answer["results"]]

    def examples(self) -> Set[str]:
        """The queries to try of the help page."""
        queries = set()
        for href in Links(self.page("/help").decode()).hrefs:
            parts = urllib.parse.urlsplit(href)
            if parts.path == "/search" and parts.query:
                queries.add(urllib.parse.parse_qs(parts.query)["q"][0])
        return queries

    def test_every_example_of_the_help_page_is_in_a_table(self):
        self.assertEqual(self.examples(), set(FINDS) | set(FINDS_FIRST))

    def test_examples_that_demand_find_exactly_what_they_say(self):
        for query, expected in FINDS.items():
            with self.subTest(query=query):
                found = self.found(query)
                self.assertEqual(set(found), expected)
                self.assertEqual(len(found), len(expected))

    def test_examples_that_want_find_the_best_first(self):
        for query, (best, other) in FINDS_FIRST.items():
            with self.subTest(query=query):
                found = self.found(query)
                self.assertEqual(found[0], best)
                self.assertIn(other, found)

    def test_a_phrase_is_demanded_until_no_page_has_it_and_running_text_has_none(self):
        text = "\"vector library\" of iterators"
        relaxed = self.answer(text)
        self.assertEqual(relaxed["relaxed"]["demands"], ["\"vector library\""])
        self.assertGreater(relaxed["total"], 0)
        self.assertEqual(self.answer(text, relax="0")["total"], 0)
        plain = self.answer(text, syntax="plain")
        self.assertIsNone(plain["relaxed"])
        self.assertEqual(plain["total"], relaxed["total"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[10:], verbosity=2)
