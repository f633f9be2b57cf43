"""The programs as a user runs them: an index is built, a cluster starts, nodes die and come back.

    process_test.py CLUSTER_PROGRAM BUILD_INDEX_PROGRAM SPEC CORPUS
"""

import gzip
import http.client
import json
import os
import signal
import sys
import tempfile
import time
import unittest

from cluster_process import (START_LIMIT_S, STOP_LIMIT_S, Asker, Cluster, HttpFailure, build_index, get,
                             is_refused, listeners)
from waiting import wait_until

PROGRAM, BUILDER, SPEC, CORPUS = (os.path.abspath(path) for path in sys.argv[1:5])

QUERIES = ["mutex semaphore", "index", "query planner", "git commit", "posting list OR replica",
           "title:transactions", "\"foreign key\"", "site:manual signal", "thread -python", "socket"]
# After a kill nothing may fail any more.
RECOVERY_S = 5.0
# Until a fault has ended in the directory: 5 s of silence, a probe, one more announcement.
DIRECTORY_S = 15.0


def is_process(pid: int) -> bool:
    """Whether it exists and is not only waiting to be collected."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def spans_of(path: str) -> list:
    """Of a file with lines of OTLP in JSON, each of which is whole."""
    with open(path, encoding="utf-8") as file:
        return [span for line in file for resource in json.loads(line)["resourceSpans"]
                for scope in resource["scopeSpans"] for span in scope["spans"]]


def numbers(answer: dict) -> list:
    return [result["id"] for result in answer["results"]]


class ProcessTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = cls._temporary.name
        cls.index = os.path.join(cls.folder, "index")
        build_index(BUILDER, CORPUS, cls.index)

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def new_cluster(self) -> Cluster:
        cluster = Cluster(PROGRAM, SPEC, self.index, self.folder)
        self.addCleanup(cluster.stop)
        return cluster

    def started(self) -> Cluster:
        cluster = self.new_cluster()
        cluster.start()
        return cluster

    def expected_answers(self, cluster: Cluster) -> dict:
        expected = {}
        for query in QUERIES:
            answer = cluster.search(query)
            self.assertFalse(answer["partial"], answer)
            expected[query] = numbers(answer)
        self.assertGreater(sum(map(len, expected.values())), len(QUERIES))
        return expected

    def check_asked(self, asked: list, expected: dict, fault_at: float, complete_from: float):
        """None failed from RECOVERY_S after the fault on; complete answers are right throughout."""
        for one in asked:
            if one.answer is None:
                late = one.at - fault_at
                self.assertLess(late, RECOVERY_S, f"{late:.1f} s after the fault: {one.failure}")
            elif not one.answer["partial"]:
                self.assertEqual(numbers(one.answer), expected[one.query], one.query)
            elif one.at >= complete_from:
                self.fail(f"partial without need: {one.answer['coverage']}")

    def kill_and_check(self, cluster: Cluster, node: str, expected: dict):
        before = cluster.status()[node]
        with Asker(cluster, QUERIES) as asker:
            asker.wait_until_asked_after(0, 20)
            killed_at = time.monotonic()
            cluster.control("--kill=" + node)

            def is_back() -> bool:
                now = cluster.status()[node]
                return now.state == "running" and now.pid not in (0, before.pid)

            wait_until(is_back, DIRECTORY_S, f"{node} runs again")
            self.assertFalse(is_process(before.pid))
            wait_until(cluster.is_complete, DIRECTORY_S, "every partition is served again")
            asker.wait_until_asked_after(killed_at + RECOVERY_S, 50)
            asked = asker.asked()
        self.check_asked(asked, expected, killed_at, complete_from=killed_at + RECOVERY_S)

    def test_after_a_kill_no_query_fails_and_all_is_back(self):
        cluster = self.started()
        expected = self.expected_answers(cluster)
        for node in ("store-1", "web-1"):
            with self.subTest(node=node):
                self.kill_and_check(cluster, node, expected)

    def test_a_paused_node_is_done_without_and_taken_back(self):
        cluster = self.started()
        expected = self.expected_answers(cluster)
        with Asker(cluster, QUERIES) as asker:
            paused_at = time.monotonic()
            cluster.control("--pause=store-2")
            self.assertEqual(cluster.status()["store-2"].state, "paused")
            asker.wait_until_asked_after(paused_at + 2 * RECOVERY_S, 30)
            cluster.control("--resume=store-2")
            resumed_at = time.monotonic()
            self.assertEqual(cluster.status()["store-2"].state, "running")
            asker.wait_until_asked_after(resumed_at + RECOVERY_S, 30)
            asked = asker.asked()
        self.check_asked(asked, expected, paused_at, complete_from=resumed_at + RECOVERY_S)
        forgotten = [a for a in asked if paused_at + 2 * RECOVERY_S <= a.at < resumed_at]
        self.assertGreater(len(forgotten), 0)
        self.assertFalse(any(a.answer["partial"] for a in forgotten))

    def test_sigterm_leaves_no_process_and_no_port(self):
        cluster = self.started()
        nodes = cluster.status()
        self.assertEqual({node.state for node in nodes.values()}, {"running"})
        ports = {int(endpoint.split(":")[1]) for node in nodes.values()
                 for endpoint in (node.calls, node.admin)}.union(cluster.http_ports)
        listening = {one for one in listeners() if one[0] in ports}
        self.assertEqual({port for port, _ in listening}, ports)
        self.assertEqual(cluster.stop(), 0, cluster.log())
        for name, node in nodes.items():
            self.assertFalse(is_process(node.pid), name)
        # Not whether they are refused: another process may have been given such a port by now.
        self.assertFalse(listening & listeners())

    def test_every_node_writes_its_spans_if_the_cluster_is_started_so(self):
        cluster = self.new_cluster()
        cluster.start("--span_log")
        self.assertEqual(set(cluster.span_files()), set(cluster.status()))
        trace = f"{os.getpid():032x}"
        connection = http.client.HTTPConnection("127.0.0.1", cluster.http_ports[0], timeout=STOP_LIMIT_S)
        connection.request("GET", "/search?q=mutex&format=json",
                           headers={"traceparent": f"00-{trace}-00000000000000ab-01"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

        def nodes_with_spans() -> set:
            return {node for node, path in cluster.span_files().items()
                    if any(span["traceId"] == trace for span in spans_of(path))}

        # The frontend that was asked and at least one server of the index.
        wait_until(lambda: len(nodes_with_spans()) > 1 and
                   any(node.startswith("web") for node in nodes_with_spans()),
                   DIRECTORY_S, "spans of the search are in the files of who took part")

    def test_a_nodes_profiles_name_its_functions(self):
        cluster = self.started()
        admin = int(cluster.status()["store-1"].admin.split(":")[1])

        def names_functions() -> bool:
            return b";neptune::" in get(admin, "/profile/cpu?seconds=1&format=folded")

        def names_who_allocates() -> bool:
            return b"neptune::" in gzip.decompress(get(admin, "/profile/heap?seconds=1"))

        with Asker(cluster, QUERIES):
            wait_until(names_functions, START_LIMIT_S, "a sample of store-1 at work")
            wait_until(names_who_allocates, START_LIMIT_S, "an allocation of store-1 that is sampled")
        self.assertGreater(json.loads(get(admin, "/profile/heap/totals"))["in_use_bytes"], 0)

    def test_no_node_writes_spans_by_default(self):
        self.assertEqual(self.started().span_files(), {})

    def test_nodes_end_with_a_killed_supervisor(self):
        cluster = self.started()
        nodes = cluster.status()
        cluster.process.send_signal(signal.SIGKILL)
        cluster.process.wait()
        wait_until(lambda: not any(is_process(node.pid) for node in nodes.values()), STOP_LIMIT_S,
                   "all nodes have ended")
        cluster.start()  # old state does not prevent the start
        self.assertFalse(cluster.search("mutex")["partial"])

    def test_two_clusters_do_not_meet(self):
        first, second = self.started(), self.started()
        expected = self.expected_answers(first)
        with Asker(second, QUERIES) as asker:
            begin = time.monotonic()
            self.assertEqual(first.stop(), 0)
            asker.wait_until_asked_after(time.monotonic(), 50)
            asked = asker.asked()
        for one in asked:
            self.assertIsNotNone(one.answer, one.failure)
        self.check_asked(asked, expected, begin, complete_from=begin)

    def test_a_taken_port_ends_the_start_with_a_reason(self):
        first = self.started()
        second = self.new_cluster()
        with open(second.spec, encoding="utf-8") as file:
            text = file.read().replace(str(second.http_ports[0]), str(first.http_ports[0]))
        with open(second.spec, "w", encoding="utf-8") as file:
            file.write(text)
        self.assertEqual(second.launch().wait(STOP_LIMIT_S), 1)
        self.assertIn(str(first.http_ports[0]), second.log())
        self.assertEqual(second.launch().wait(STOP_LIMIT_S), 1)
        self.assertEqual(second.log().count("Address already in use"), 2, "one reason a start")
        self.assertTrue(is_refused(f"127.0.0.1:{second.http_ports[1]}"))
        self.assertFalse(first.search("mutex")["partial"])

    def test_a_second_supervisor_of_the_same_state_is_refused(self):
        cluster = self.started()
        first = cluster.process
        self.assertEqual(cluster.launch().wait(STOP_LIMIT_S), 1)
        cluster.process = first
        self.assertIn("is already running", cluster.log())
        self.assertFalse(cluster.search("mutex")["partial"])

    def test_wrong_commands_end_with_status_2_and_start_nothing(self):
        cluster = self.new_cluster()
        for arguments, named in ((["--bogus"], "bogus"), (["status"], "'status'"),
                                 (["--kill="], "--kill needs"), (["--kill=nobody"], "'nobody'"),
                                 (["--kill=web-1", "--pause=web-2"], "--pause cannot be combined")):
            with self.subTest(arguments=arguments):
                done = cluster.attempt(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(named, done.stderr)
        self.assertTrue(is_refused(f"127.0.0.1:{cluster.http_ports[0]}"))

    def test_bad_requests_are_refused_by_name(self):
        cluster = self.started()
        port = cluster.http_ports[0]
        for path, status in (("/search?q=a&count=0&format=json", 400), ("/nowhere", 404),
                             ("/doc/x", 404), ("/search?q=%ff&format=json", 400)):
            with self.assertRaisesRegex(HttpFailure, f"HTTP {status}"):
                get(port, path)
        self.assertIn(b"<html", get(port, "/search?q=mutex"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
