"""Which cluster ./tools/up starts, and that the shipped specs are what it says."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import choose_cluster
from choose_cluster import REPLICATED, SHIPPED, SINGLE, Layout, NoClusterFits

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(choose_cluster.__file__)), "choose_cluster.py")
SPECS = [os.path.abspath(path) for path in sys.argv[1:]]
del sys.argv[1:]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-B", PROGRAM, *arguments], capture_output=True, text=True, check=False)


class ChooseClusterTest(unittest.TestCase):
    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = self._temporary.name

    def tearDown(self):
        self._temporary.cleanup()

    def write_index(self, tiers: int, documents: int) -> None:
        parts = [{"name": name, "partitions": [{}] * count}
                 for name, count in (("tier1", tiers), ("tier2", tiers), ("docs", documents))]
        with open(os.path.join(self.folder, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump({"parts": parts}, file)

    def test_a_small_machine_starts_one_process(self):
        for processors in (1, 2, 4):
            self.assertIs(choose_cluster.choose_by_processors(processors), SINGLE)
        for processors in (5, 64):
            self.assertIs(choose_cluster.choose_by_processors(processors), REPLICATED)

    def test_says_what_why_and_how_to_get_the_other(self):
        self.assertEqual(run("--processors=2").stdout.split("\n"), [
            SINGLE.spec, "data/var/single", "--partitions=1 --doc_partitions=1",
            "one process (2 processors; for six processes, of which any one may fail: ./tools/up --replicated)", ""])
        self.assertIn("six processes, of which any one may fail (8 processors; for one process: ./tools/up --single)",
                      run("--processors=8").stdout)

    def test_a_wanted_kind_wins_over_processors(self):
        self.assertTrue(run("--processors=2", "--kind=replicated").stdout.startswith(REPLICATED.spec))
        self.assertTrue(run("--processors=64", "--kind=single").stdout.startswith(SINGLE.spec))

    def test_a_given_index_decides_by_its_partitions(self):
        for cluster in SHIPPED:
            self.write_index(*cluster.layout)
            found = run(f"--index={self.folder}", "--processors=3")
            self.assertEqual(found.stdout.split("\n")[:2], [cluster.spec, self.folder])

    def test_an_index_that_no_shipped_cluster_serves_is_refused(self):
        self.write_index(8, 2)
        refused = run(f"--index={self.folder}")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("8 partitions of each tier", refused.stderr)
        self.assertIn("--spec=FILE", refused.stderr)
        with self.assertRaises(NoClusterFits):
            choose_cluster.choose_by_index("here", Layout(4, 1))

    def test_a_kind_that_the_index_does_not_fit_is_refused(self):
        self.write_index(*SINGLE.layout)
        self.assertEqual(run(f"--index={self.folder}", "--kind=replicated").returncode, 1)

    def test_an_unreadable_index_is_named(self):
        refused = run("--index=/nowhere")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("/nowhere", refused.stderr)

    def test_the_quota_of_a_container_counts(self):
        self.assertEqual(choose_cluster.quota_processors("150000 100000\n"), 2)
        self.assertEqual(choose_cluster.quota_processors("1000 100000\n"), 1)
        self.assertIsNone(choose_cluster.quota_processors("max 100000\n"))
        self.assertIsNone(choose_cluster.quota_processors(""))

    def test_the_shipped_specs_have_the_partitions_that_the_index_is_built_with(self):
        self.assertEqual({os.path.basename(path) for path in SPECS},
                         {os.path.basename(cluster.spec) for cluster in SHIPPED})
        for cluster in SHIPPED:
            path = next(path for path in SPECS if path.endswith(os.path.basename(cluster.spec)))
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for key, count in (("tier1", cluster.layout.tiers), ("tier2", cluster.layout.tiers),
                               ("docs", cluster.layout.documents)):
                found = re.findall(rf'key: "{key}_partitions" value: "(\d+)"', text)
                self.assertEqual(found, [str(count)], (cluster.spec, key))
                service = re.search(r'services \{\n  name: "%s"\n((?:  .*\n)*)\}' % key, text)[1]
                declared = re.search(r"partition_count: (\d+)", service)
                self.assertEqual(int(declared[1]) if declared else 1, count, (cluster.spec, key))


if __name__ == "__main__":
    unittest.main()
