"""The program itself against its null server: files, exit statuses, messages, a full disk."""

import gzip
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import unittest

REPLAY = os.path.abspath(sys.argv.pop(1))
COMMON = ["--lateness_p99_ms_max=60000", "--duration_s=1", "--repeat"]


def trace_file(folder, lines):
    path = os.path.join(folder, "trace")
    with open(path, "w") as out:
        out.write("#neptune-trace v1\n" + "".join(lines))
    return path


def run(arguments, file_size_max=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_max, file_size_max))

    return subprocess.run([REPLAY] + arguments, capture_output=True, text=True, timeout=120,
                          preexec_fn=limit if file_size_max else None)


class ReplayTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        lines = [f"{i * 2000}\t{'gold' if i % 10 == 0 else 'bronze'}\tquery {i}\n" for i in range(500)]
        self.trace = trace_file(self.folder, lines)
        self.report = os.path.join(self.folder, "run")

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.report, name)

    def replay(self, *more, **limits):
        return run(["--null_server", f"--trace={self.trace}", f"--report={self.report}", *COMMON, *more],
                   **limits)

    def test_writes_every_file_of_the_report(self):
        result = self.replay("--warmup_s=0.2", "--label=first")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.load(open(self.path("summary.json")))
        self.assertTrue(summary["valid"])
        self.assertEqual(summary["all"]["requests"], 400)
        self.assertEqual(summary["all"]["answered"], 400)
        self.assertEqual(summary["classes"]["gold"]["requests"], 40)
        self.assertEqual(summary["all"]["cache_hit_share"], 1)
        with gzip.open(self.path("requests.csv.gz"), "rt") as rows:
            self.assertEqual(len(rows.readlines()), 501)
        self.assertIn("HISTFAAAA", open(self.path("latency.hlog")).read())
        self.assertIn("#[Max     =", open(self.path("latency-gold.hgrm")).read())
        page = open(self.path("report.html")).read()
        self.assertIn("<h1>first</h1>", page)
        self.assertEqual(page.count("<img"), 5)
        self.assertNotIn("src=\"http", page)

    def test_a_full_disk_loses_no_measurement(self):
        # Room for the measurements (500 of 40 bytes and the set-up), not for the page with its plots.
        result = self.replay(file_size_max=24 * 1024)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the measurements are saved in", result.stderr)
        self.assertIn("report.html", result.stderr)
        self.assertIn("answers a second", result.stdout)
        self.assertFalse(os.path.exists(self.path("report.html")))
        self.assertTrue(os.path.exists(self.path("summary.json")))
        again = run([f"--from={self.report}"])
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(json.load(open(self.path("summary.json")))["all"]["requests"], 500)
        self.assertTrue(os.path.exists(self.path("report.html")))

    def test_no_room_for_the_measurements_is_said_before_the_run(self):
        result = self.replay(file_size_max=8 * 1024)
        self.assertEqual(result.returncode, 1)
        self.assertIn("bytes for its measurements", result.stderr)

    def test_a_target_that_refuses_connections_is_named(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        result = run([f"--target=http://127.0.0.1:{port}", f"--trace={self.trace}",
                      f"--report={self.report}"])
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"127.0.0.1:{port} refuses connections", result.stderr)
        self.assertIn("is the cluster running?", result.stderr)

    def test_a_malformed_line_fails_or_is_counted(self):
        trace = trace_file(self.folder, ["0\tgold\ta\n", "rubbish\n", "1000\tgold\tb\n"])
        common = ["--null_server", f"--trace={trace}", f"--report={self.report}",
                  "--lateness_p99_ms_max=60000"]
        failed = run(common)
        self.assertEqual(failed.returncode, 2)
        self.assertIn(f"{trace}:3: not three fields", failed.stderr)
        counted = run(common + ["--bad_lines=count"])
        self.assertEqual(counted.returncode, 0, counted.stderr)
        self.assertIn("1 bad lines skipped", counted.stderr)
        self.assertEqual(json.load(open(self.path("summary.json")))["all"]["requests"], 2)

    def test_events_are_marked_and_their_commands_run(self):
        events = os.path.join(self.folder, "events")
        proof = os.path.join(self.folder, "proof")
        with open(events, "w") as out:
            out.write(f"0.3\tsomething happens\ttouch {proof}\n")
        result = self.replay(f"--events={events}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(os.path.exists(proof))
        self.assertIn("something happens", open(self.path("report.html")).read())

    def test_wrong_arguments_say_what_to_do(self):
        for arguments, message in [([], "--trace is missing"),
                                   ([f"--trace={self.trace}"], "--report is missing"),
                                   ([f"--trace={self.trace}", f"--report={self.report}", "--target=x"],
                                    "--target=x")]:
            result = run(arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
