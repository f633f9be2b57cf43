"""The whole tool in its quick form: ours alone, a small collection; and a run that continues."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = sys.argv[1:]
del sys.argv[1:]
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_server.py")
WORDS = [f"{first}{last}" for first in ("red", "blue", "green", "old", "new", "deep", "wide", "calm")
         for last in ("river", "stone", "house", "field", "light", "water", "forest", "garden")]


def document(number: int) -> str:
    words = [WORDS[(number * step) % len(WORDS)] for step in range(1, 60)]
    return json.dumps({"id": str(number), "title": f"{words[0]} {words[3]}", "text": " ".join(words)}) + "\n"


class BenchServerTest(unittest.TestCase):
    def run_tool(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-B", PROGRAM, *ARGUMENTS, *arguments], capture_output=True, text=True,
                              timeout=240, check=False)

    def test_quick_form_measures_every_row_of_ours_and_continues(self):
        with tempfile.TemporaryDirectory() as folder:
            documents, queries, work = (os.path.join(folder, name) for name in ("docs.jsonl", "queries", "work"))
            with open(documents, "w", encoding="utf-8") as file:
                file.writelines(document(number) for number in range(300))
            with open(queries, "w", encoding="utf-8") as file:
                file.writelines(f"{word}\n{word} {WORDS[0]}\n" for word in WORDS)
            options = ["--quick", f"--documents={documents}", f"--queries={queries}", f"--work={work}",
                       f"--port={20000 + os.getpid() % 10000}"]
            done = self.run_tool(*options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(os.path.join(work, "results.jsonl"), encoding="utf-8") as file:
                results = [json.loads(line) for line in file]
            rows = {(one["variant"], one["row"]) for one in results}
            for row in ("build", "start", "low", "closed_8", "closed_64", "max_rate", "abandoned", "beside_heavy", "idle"):
                self.assertIn(("plain", row), rows)
            for variant, row in (("bare", "low"), ("cached", "cached"), ("cached_html", "cached")):
                self.assertIn((variant, row), rows)
            low = next(one["figures"] for one in results if one["row"] == "low" and one["variant"] == "plain")
            self.assertEqual(low["failed"] + low["refused"], 0)
            self.assertGreater(low["answered"], 10)
            self.assertIn("| processor s per 1,000 answers | ours_one | <= 0.2 x |", done.stdout)

            again = self.run_tool(*options)
            self.assertEqual(again.returncode, 0, again.stderr)
            with open(os.path.join(work, "results.jsonl"), encoding="utf-8") as file:
                self.assertLessEqual(len(file.readlines()), len(results) + 2)  # rows that found no rate

    def test_wrong_arguments_are_refused(self):
        self.assertEqual(self.run_tool("--quick").returncode, 2)
        self.assertEqual(self.run_tool("--documents=x", "--queries=y").returncode, 2)
        missing = self.run_tool("--quick", "--documents=/nowhere/docs", "--queries=/nowhere/queries")
        self.assertNotEqual(missing.returncode, 0)


if __name__ == "__main__":
    unittest.main()
