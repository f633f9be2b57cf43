"""The whole tool in its quick form: every actor once, with a fixed seed; no row is missed, and the report is there.

Rows of time (loops, latencies of others) are measured and not judged here: tests share their machine.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = sys.argv[1:]
del sys.argv[1:]
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attack.py")
LIMIT_S = 280
TIMED = re.compile(r": (loop|others)$")


class AttackTest(unittest.TestCase):
    def run_tool(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-B", PROGRAM, *ARGUMENTS, *arguments], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)

    def rows_of(self, actor: str, *arguments: str) -> list:
        """The rows of a run; those that are judged here are held."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_tool(f"--actors={actor}", "--seconds=0.7", "--changes=32", "--seed=27", f"--out={folder}", *arguments)
            self.assertIn("seed 27", done.stderr)
            with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            with open(os.path.join(folder, "report.md"), encoding="utf-8") as file:
                self.assertIn(f"## {actor}: ", file.read())
        missed = [row for row in rows if row["verdict"] == "NOT HELD" and not TIMED.search(row["attack"])]
        self.assertEqual(missed, [], done.stderr[-3000:])
        self.assertEqual(done.returncode, int(any(row["verdict"] == "NOT HELD" for row in rows)))
        return rows

    def held(self, rows: list) -> set:
        return {row["attack"] for row in rows if row["verdict"] == "held"}

    def test_disk(self):
        held = self.held(self.rows_of("disk"))
        for variant in ("segment, rocksdb", "rocksdb_postings, flat_file"):
            for attack in ("changes: nodes", "changes: answers", "changes: return", "cuts: nodes", "cuts: answers",
                           "cuts: return", "decay: nodes", "decay: return"):
                self.assertIn(f"{attack}, {variant}", held)
        self.assertIn("decay: found by the slow check", held)

    def test_client(self):
        held = self.held(self.rows_of("client", "--resolution_ms=50"))
        self.assertGreaterEqual(sum(attack.endswith(": memory") for attack in held), 9)

    def test_request(self):
        held = self.held(self.rows_of("request"))
        self.assertGreaterEqual(sum(not TIMED.search(attack) for attack in held), 20)

    def test_http(self):
        held = self.held(self.rows_of("http"))
        self.assertIn("all", held)
        self.assertGreaterEqual(len(held), 80)

    def test_neighbour(self):
        held = self.held(self.rows_of("neighbour"))
        for spec in ("small", "live", "network"):
            for attack in ("changes", "readings", "datagrams", "announcements", "connections", "nodes"):
                self.assertIn(f"{spec}: {attack}", held)

    def test_member(self):
        self.assertGreaterEqual(self.held(self.rows_of("member")), {"calls", "others meanwhile", "nodes"})

    def test_wrong_arguments_are_refused(self):
        for wrong in ("--actors=clown", "--changes=0", "--seconds=-1", "--bogus"):
            self.assertEqual(self.run_tool(wrong).returncode, 2, wrong)


if __name__ == "__main__":
    unittest.main(verbosity=2)
