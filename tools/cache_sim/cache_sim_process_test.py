"""The program itself over the sample trace: what it prints and writes, and how it ends."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

CACHE_SIM, SAMPLE, ANSWERS = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
POLICIES = ["arc", "gdsf", "lfu", "lru", "s3_fifo", "w_tiny_lfu", "w_tiny_lfu_adaptive", "w_tiny_lfu_cost"]


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([CACHE_SIM, f"--answers={ANSWERS}", *arguments], capture_output=True, text=True,
                          timeout=120)


class CacheSimTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    def test_the_sample_is_compared_and_drawn(self) -> None:
        out = os.path.join(self.folder, "report")
        done = run(f"--trace={SAMPLE}", "--sizes=5%,20%", f"--out={out}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ["2,515 requests", "Requests answered by the cache", "that the cache saves", *POLICIES]:
            self.assertIn(part, done.stdout)
        with open(os.path.join(out, "comparison.json")) as file:
            trace = json.load(file)["traces"][0]
        rows = {row["name"]: row["points"] for row in trace["policies"]}
        self.assertEqual(list(rows), POLICIES + ["belady", "bound", "unlimited"])
        for name, points in rows.items():
            self.assertEqual([point["requests"] for point in points], [2515, 2515])
            self.assertLess(0, points[0]["hits"], name)
            self.assertLessEqual(points[0]["hits"], points[1]["hits"] * 1.01, name)
            for point, bound in zip(points, rows["bound"]):
                if name != "unlimited":
                    self.assertLessEqual(point["hits"], bound["hits"], name)
        with open(os.path.join(out, "report.html")) as file:
            self.assertEqual(file.read().count("<img "), 3)

    def test_a_web_servers_log_is_read(self) -> None:
        line = 'h - - [01/Jul/1995:00:00:%02d -0400] "GET /%d HTTP/1.0" 200 %d\n'
        log = self.write("log", "".join(line % (i, i % 7, 100 + i % 7) for i in range(60)) + "broken\n")
        self.assertEqual(run(f"--trace={log}").returncode, 2)
        done = run(f"--trace={log}", "--bad_lines=count", "--sizes=1KiB", "--policies=lru", "--entry_overhead=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("60 requests for 7 values", done.stdout)
        self.assertIn("1 bad lines skipped", done.stderr)

    def test_wrong_options_are_named(self) -> None:
        for arguments, reason in [([], "--trace is missing"),
                                  ([f"--trace={SAMPLE}", "--policies=best"], "unknown eviction policy 'best'"),
                                  ([f"--trace={SAMPLE}", "--sizes=7XB"], "'7XB' is not a size"),
                                  ([f"--trace={SAMPLE}", "--format=csv"], "--format=csv"),
                                  ([f"--trace={SAMPLE}", "--warmup_share=1"], "warm-up")]:
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
