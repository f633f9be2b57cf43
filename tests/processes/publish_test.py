"""Versions of the index are published to a running cluster, and taken back, while it is asked.

    publish_test.py CLUSTER_PROGRAM BUILD_INDEX_PROGRAM SPEC CORPUS PUBLISH_PROGRAM
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Dict, List

from cluster_process import Asker, Cluster, build_index, patient_spec, answer_key
from waiting import wait_until

PROGRAM, BUILDER, SPEC, CORPUS, PUBLISHER = (os.path.abspath(path) for path in sys.argv[1:6])

# No page has the first word; synonyms of the second version name another one for it.
SYNONYM_QUERY = "zugzwang"
SYNONYMS = "0.9: zugzwang, index\n"
QUERIES = [SYNONYM_QUERY, "mutex semaphore", "index", "query planner", "git commit", "posting list OR replica",
           "title:transactions", "\"foreign key\"", "site:manual signal", "thread -python", "socket"]
ASKER_COUNT = 4
PUBLISH_LIMIT_S = 120.0
ROLLBACK_LIMIT_S = 5.0
DIRECTORY_S = 15.0


def other_corpus(path: str, kept: int) -> None:
    """The pages in the other order, so that numbers mean other documents; of each `kept`, one is left out."""
    with open(CORPUS, encoding="utf-8") as file:
        pages = [json.loads(line) for line in file]
    pages = [page for i, page in enumerate(reversed(pages)) if i % kept != 0]
    for page in pages:
        page["title"] = "New: " + page.get("title", "")
    with open(path, "w", encoding="utf-8") as file:
        for page in pages:
            file.write(json.dumps(page) + "\n")


class PublishTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._temporary = tempfile.TemporaryDirectory()
        cls.folder = cls._temporary.name
        cls.spec = patient_spec(SPEC, cls.folder)
        cls.indexes = {}
        for name, kept in (("first", 0), ("second", 3), ("third", 2)):
            corpus = CORPUS
            if kept:
                corpus = os.path.join(cls.folder, name + ".jsonl")
                other_corpus(corpus, kept)
            cls.indexes[name] = os.path.join(cls.folder, name)
            synonyms = []
            if name == "second":
                path = os.path.join(cls.folder, "words.synonyms")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(SYNONYMS)
                synonyms.append("--synonyms=" + path)
            build_index(BUILDER, corpus, cls.indexes[name], *synonyms)

    @classmethod
    def tearDownClass(cls):
        cls._temporary.cleanup()

    def setUp(self):
        self.data = os.path.join(self.folder, self.id().rsplit(".", 1)[1])
        shutil.copytree(self.indexes["first"], self.data)
        self.expected: Dict[int, Dict[str, tuple]] = {}

    def started(self) -> Cluster:
        cluster = Cluster(PROGRAM, self.spec, self.data, self.folder)
        self.addCleanup(cluster.stop)
        cluster.start()
        return cluster

    def publish(self, cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([PUBLISHER, *cluster.command(*arguments)[1:]], capture_output=True,
                              text=True, timeout=PUBLISH_LIMIT_S, check=False)

    def check_published(self, cluster: Cluster, *arguments: str) -> str:
        done = self.publish(cluster, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check_refused(self, cluster: Cluster, reason: str, *arguments: str):
        refused = self.publish(cluster, *arguments)
        self.assertNotEqual(refused.returncode, 0, refused.stdout)
        self.assertIn(reason, refused.stderr)

    def version(self, name: str) -> str:
        return "--index=" + self.indexes[name]

    def learn(self, cluster: Cluster) -> int:
        """What the current version answers; its number."""
        answers = {query: cluster.search(query) for query in QUERIES}
        numbers = {answer["index_version"] for answer in answers.values()}
        self.assertEqual(len(numbers), 1)
        number = numbers.pop()
        self.expected[number] = {query: answer_key(answer) for query, answer in answers.items()}
        return number

    @contextlib.contextmanager
    def asked(self, cluster: Cluster):
        """Asks all the while, with the cache and without it; afterwards `seen` has the versions that answered. No query
        fails, and every answer is whole and all of one version."""
        seen: List[int] = []
        askers = [Asker(cluster, QUERIES, may_use_cache=i % 2 == 0) for i in range(ASKER_COUNT)]
        with contextlib.ExitStack() as stack:
            for asker in askers:
                stack.enter_context(asker)
            for asker in askers:
                asker.wait_until_asked_after(0, len(QUERIES))
            yield seen
            for asker in askers:
                asker.wait_until_asked_after(time.monotonic(), 2 * len(QUERIES))
        asked = [one for asker in askers for one in asker.asked()]
        self.learn(cluster)
        for one in asked:
            self.assertIsNotNone(one.answer, one.failure)
            self.assertFalse(one.answer["partial"], one.answer["coverage"])
            number = one.answer["index_version"]
            self.assertIn(number, self.expected)
            self.assertEqual(answer_key(one.answer), self.expected[number][one.query], one.query)
        seen.extend(sorted({one.answer["index_version"] for one in asked}))

    def test_published_and_rolled_back_under_load(self):
        cluster = self.started()
        first = self.learn(cluster)
        with self.asked(cluster) as seen:
            self.check_published(cluster, self.version("second"))
        second = self.learn(cluster)
        self.assertNotEqual(first, second)
        self.assertEqual(set(seen), {first, second})
        self.assertNotEqual(self.expected[first], self.expected[second])
        # Each answer above was compared with its version's: synonyms change with the version.
        self.assertEqual(self.expected[first][SYNONYM_QUERY][0], 0)
        self.assertGreater(self.expected[second][SYNONYM_QUERY][0], 0)
        with self.asked(cluster) as seen:
            begin = time.monotonic()
            self.check_published(cluster, "--rollback")
            took_s = time.monotonic() - begin
            # Every frontend asks for it by the time at which that is said.
            for _ in range(4):
                self.assertEqual(cluster.search("index")["index_version"], first)
        self.assertLess(took_s, ROLLBACK_LIMIT_S)
        self.assertEqual(set(seen), {first, second})

    def test_what_is_published_outlives_nodes_and_cluster(self):
        cluster = self.started()
        self.check_published(cluster, self.version("second"))
        second = self.learn(cluster)
        with self.asked(cluster) as seen:
            pid = cluster.status()["store-1"].pid
            done = subprocess.run(cluster.command("--restart=store-1"), capture_output=True,
                                  text=True, timeout=PUBLISH_LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotEqual(cluster.status()["store-1"].pid, pid)
        self.assertEqual(seen, [second])
        self.assertEqual(cluster.stop(), 0)
        cluster.start()
        self.assertEqual(self.learn(cluster), second)
        self.check_published(cluster, "--rollback")
        self.assertNotEqual(self.learn(cluster), second)

    def test_node_that_dies_meanwhile_comes_back_with_what_is_published(self):
        cluster = self.started()
        self.learn(cluster)
        pid = cluster.status()["store-2"].pid
        cluster.control("--kill=store-2")
        self.check_published(cluster, self.version("second"))
        second = self.learn(cluster)
        wait_until(lambda: cluster.status()["store-2"].pid not in (0, pid), DIRECTORY_S, "it is back")
        wait_until(cluster.is_complete, DIRECTORY_S, "all is served")
        with self.asked(cluster) as seen:
            pass
        self.assertEqual(seen, [second])

    def test_damaged_versions_are_refused_with_file_and_reason(self):
        cluster = self.started()
        first = self.learn(cluster)
        damaged = os.path.join(self.folder, "damaged")
        shutil.copytree(self.indexes["second"], damaged)
        with open(os.path.join(damaged, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        victim = max(manifest["files"], key=lambda file: file["size"])["path"]
        path = os.path.join(damaged, victim)
        with self.asked(cluster) as seen:
            os.truncate(path, os.path.getsize(path) // 2)
            self.check_refused(cluster, victim + " has ", "--index=" + damaged)
            shutil.copy(os.path.join(self.indexes["second"], victim), path)
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 1]))
            self.check_refused(cluster, victim + " has another checksum than when it was built", "--index=" + damaged)
            shutil.copy(os.path.join(self.indexes["second"], victim), path)
            synonyms = os.path.join(damaged, "synonyms")
            with open(synonyms, "a", encoding="utf-8") as file:
                file.write("0.5: one, two\n")
            self.check_refused(cluster, "synonyms has ", "--index=" + damaged)
            shutil.copy(os.path.join(self.indexes["second"], "synonyms"), synonyms)
            os.remove(path)
            self.check_refused(cluster, victim + " is missing", "--index=" + damaged)
            with open(os.path.join(damaged, "manifest.json"), "w", encoding="utf-8") as file:
                file.write('{"format_version": 1, "index_ver')
            self.check_refused(cluster, "manifest.json: ", "--index=" + damaged)
            self.check_refused(cluster, "nowhere", "--index=" + os.path.join(self.folder, "nowhere"))
        self.assertEqual(seen, [first])
        self.assertIn("nothing has been published", self.check_published(cluster, "--list"))

    def test_versions_are_listed_let_go_and_never_the_one_in_use(self):
        cluster = self.started()
        self.check_published(cluster, self.version("second"))
        self.learn(cluster)
        with self.asked(cluster):
            self.check_published(cluster, self.version("third"), "--name=newest")
            self.check_refused(cluster, "in use", "--remove=newest")
            self.check_published(cluster, "--remove=base")
        lines = [line.split() for line in self.check_published(cluster, "--list").splitlines()]
        self.assertEqual([line[:2] for line in lines], [["second", "previous"], ["newest", "current"]])
        self.check_refused(cluster, "another version is published as 'second'",
                           self.version("first"), "--name=second")

    def test_publication_goes_on_where_its_tool_was_killed(self):
        cluster = self.started()
        first = self.learn(cluster)
        with self.asked(cluster) as seen:
            publisher = subprocess.Popen(
                [PUBLISHER, *cluster.command(self.version("second"))[1:]], stdout=subprocess.PIPE)
            publisher.stdout.readline()  # it is checked, and comes into the list now
            publisher.send_signal(signal.SIGKILL)
            publisher.wait()
            publisher.stdout.close()
            self.check_published(cluster, self.version("second"))
        self.assertIn(first, seen)
        self.assertEqual(cluster.search("index")["results"][0]["title"][:5], "New: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
