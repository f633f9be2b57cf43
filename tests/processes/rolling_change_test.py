"""Nodes of a running cluster are drained, restarted and given other implementations while it is asked.

    rolling_change_test.py CLUSTER_PROGRAM BUILD_INDEX_PROGRAM SPEC CORPUS OTHER_MODULE OLD_MODULE
"""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from cluster_process import HTTP_TIMEOUT_S, Asker, Cluster, build_index, patient_spec, answer_key
from waiting import wait_until

PROGRAM, BUILDER, SPEC, CORPUS, OTHER_MODULE, OLD_MODULE = (
    os.path.abspath(path) for path in sys.argv[1:7])

QUERIES = ["mutex semaphore", "index", "query planner", "git commit", "posting list OR replica",
           "title:transactions", "\"foreign key\"", "site:manual signal", "thread -python", "socket"]
ASKER_COUNT = 4
DIRECTORY_S = 15.0
CHANGE_LIMIT_S = 120.0


def tier(answer: dict, service: str) -> dict:
    return next(one for one in answer["coverage"]["tiers"] if one["service"] == service)


class RollingChangeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = cls._temporary.name
        cls.index = os.path.join(cls.folder, "index")
        cls.spec = patient_spec(SPEC, cls.folder)
        build_index(BUILDER, CORPUS, cls.index, "--index_tiers=segment,rocksdb_postings",
                    "--document_stores=rocksdb,flat_file")

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def started(self) -> Cluster:
        cluster = Cluster(PROGRAM, self.spec, self.index, self.folder)
        self.addCleanup(cluster.stop)
        cluster.start()
        return cluster

    @contextlib.contextmanager
    def asked(self, cluster: Cluster):
        """Asks all the while; no query fails, and every answer is whole and the same as before."""
        expected = {query: answer_key(cluster.search(query)) for query in QUERIES}
        askers = [Asker(cluster, QUERIES) for _ in range(ASKER_COUNT)]
        with contextlib.ExitStack() as stack:
            for asker in askers:
                stack.enter_context(asker)
            yield
            for asker in askers:
                asker.wait_until_asked_after(time.monotonic(), 2 * len(QUERIES))
        asked = [one for asker in askers for one in asker.asked()]
        self.assertGreater(len(asked), 100)
        for one in asked:
            self.assertIsNotNone(one.answer, one.failure)
            self.assertFalse(one.answer["partial"], one.answer["coverage"])
            self.assertEqual(answer_key(one.answer), expected[one.query], one.query)

    def change(self, cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(cluster.command(*arguments), capture_output=True, text=True,
                              timeout=CHANGE_LIMIT_S, check=False)

    def check_changed(self, cluster: Cluster, *arguments: str) -> str:
        done = self.change(cluster, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + cluster.log())
        return done.stdout

    def pids(self, cluster: Cluster) -> dict:
        return {name: node.pid for name, node in cluster.status().items()}

    def implementations(self, cluster: Cluster, service: str) -> dict:
        """What each node says on its status page that it has for the service."""
        found = {}
        for name, node in cluster.status().items():
            host, port = node.admin.split(":")
            connection = http.client.HTTPConnection(host, int(port), timeout=HTTP_TIMEOUT_S)
            connection.request("GET", "/statusz?section=hosted%20services&format=json")
            page = json.loads(connection.getresponse().read())
            connection.close()
            for row in page["sections"][0]["tables"][0]["rows"]:
                if row[0] == service:
                    found[name] = row[1]
        return found

    # Drain and restart.

    def test_rolling_restart_loses_no_query(self):
        cluster = self.started()
        before = self.pids(cluster)
        with self.asked(cluster):
            self.check_changed(cluster, "--rolling_restart")
        after = self.pids(cluster)
        self.assertEqual(before.keys(), after.keys())
        for node, pid in before.items():
            self.assertNotIn(after[node], (0, pid), node)

    def test_drained_node_stays_down_until_it_is_restarted(self):
        cluster = self.started()
        with self.asked(cluster):
            self.check_changed(cluster, "--drain=store-1")
            self.assertEqual(cluster.status()["store-1"].state, "drained")
            self.assertIn("store-1 is drained", cluster.control("--status"))
            # store-1 was the other replica of what these have.
            for node in ("store-3", "store-4"):
                refused = self.change(cluster, "--restart=" + node)
                self.assertEqual(refused.returncode, 1)
                self.assertIn("no other node currently offers all that " + node, refused.stderr)
            self.check_changed(cluster, "--restart=store-2")
            self.check_changed(cluster, "--restart=store-1")
        self.assertEqual(cluster.status()["store-1"].state, "running")
        self.check_changed(cluster, "--restart=store-3")

    def test_drained_node_stays_down_over_a_restart_of_the_cluster(self):
        cluster = self.started()
        self.check_changed(cluster, "--drain=store-1")
        self.assertEqual(cluster.stop(), 0)
        cluster.start()
        self.assertEqual(cluster.status()["store-1"].state, "drained")
        self.check_changed(cluster, "--restart=store-1")

    def test_forced_restart_asks_nobody(self):
        cluster = self.started()
        self.check_changed(cluster, "--drain=store-1")
        self.check_changed(cluster, "--restart=store-3", "--force")
        self.check_changed(cluster, "--restart=store-1")

    # Swap.

    def test_swap_of_an_index_tier_and_back(self):
        cluster = self.started()
        stores = [f"store-{i}" for i in range(1, 5)]
        self.assertEqual(self.implementations(cluster, "tier1"), dict.fromkeys(stores, "segment"))
        with self.asked(cluster):
            self.check_changed(cluster, "--swap=tier1=rocksdb_postings", "--nodes=store-2,store-1")
            half = self.implementations(cluster, "tier1")
            self.assertEqual(half, {"store-1": "rocksdb_postings", "store-2": "rocksdb_postings",
                                    "store-3": "segment", "store-4": "segment"})
            self.check_changed(cluster, "--swap=tier1=rocksdb_postings", "--nodes=store-3,store-4")
            answer = cluster.search("index")
            self.assertEqual(tier(answer, "tier 1")["implementation"], "rocksdb_postings")
            self.assertEqual(tier(answer, "tier 2")["implementation"], "segment")
        self.assertIn("tier1 on store-3: implementation rocksdb_postings",
                      cluster.control("--status"))
        # What was decided holds for a node that dies, and for the next start of the cluster.
        pid = cluster.status()["store-1"].pid
        cluster.control("--kill=store-1")
        wait_until(lambda: cluster.status()["store-1"].pid not in (0, pid), DIRECTORY_S, "it is back")
        wait_until(cluster.is_complete, DIRECTORY_S, "all is served")
        self.assertEqual(self.implementations(cluster, "tier1"),
                         dict.fromkeys(stores, "rocksdb_postings"))
        self.assertEqual(cluster.stop(), 0)
        cluster.start()
        self.assertEqual(self.implementations(cluster, "tier1"),
                         dict.fromkeys(stores, "rocksdb_postings"))
        with self.asked(cluster):
            self.check_changed(cluster, "--swap=tier1=")
        self.assertEqual(self.implementations(cluster, "tier1"), dict.fromkeys(stores, "segment"))

    def test_swap_of_the_document_servers(self):
        cluster = self.started()
        with self.asked(cluster):
            self.check_changed(cluster, "--swap=docs=flat_file")
            self.assertEqual(cluster.search("index")["coverage"]["documents"]["implementation"],
                             "flat_file")

    def test_two_versions_of_a_module_side_by_side(self):
        cluster = self.started()
        with self.asked(cluster):
            self.check_changed(cluster, "--swap=tier1=" + OTHER_MODULE, "--nodes=store-1,store-2")
        self.assertEqual(self.implementations(cluster, "tier1"),
                         {"store-1": "segment (second)", "store-2": "segment (second)",
                          "store-3": "segment", "store-4": "segment"})

    def test_module_of_another_interface_version_is_refused(self):
        cluster = self.started()
        with self.asked(cluster):
            refused = self.change(cluster, "--swap=tier1=" + OLD_MODULE)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("built for interface version 1;", refused.stderr)
        self.assertIn("stopped at node store-1, which was restored", refused.stderr)
        self.assertEqual(set(self.implementations(cluster, "tier1").values()), {"segment"})
        self.assertEqual(len(cluster.control("--status").split("\n\n")), 1)  # nothing is decided

    def test_swap_goes_on_where_its_tool_was_killed(self):
        cluster = self.started()
        with self.asked(cluster):
            swap = subprocess.Popen(cluster.command("--swap=tier1=rocksdb_postings"),
                                    stdout=subprocess.PIPE, text=True)
            while "store-2 finishes" not in swap.stdout.readline():
                self.assertIsNone(swap.poll())
            swap.send_signal(signal.SIGKILL)
            swap.wait()
            swap.stdout.close()
            self.assertIn("'swap tier1=rocksdb_postings' is at node 2 of 4",
                          cluster.control("--status"))
            refused = self.change(cluster, "--rolling_restart")
            self.assertIn("--continue resumes it", refused.stderr)
            self.check_changed(cluster, "--continue")
        self.assertEqual(set(self.implementations(cluster, "tier1").values()), {"rocksdb_postings"})

    def test_swap_that_the_index_was_not_built_for_changes_nothing(self):
        cluster = self.started()
        before = self.pids(cluster)
        refused = self.change(cluster, "--swap=tier1=postings_of_tomorrow")
        self.assertIn("it has: segment, rocksdb_postings", refused.stderr)
        self.assertEqual(self.pids(cluster), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
