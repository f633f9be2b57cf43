"""The program itself against a small server: how it ends, and what it prints."""

import http.server
import os
import subprocess
import sys
import tempfile
import threading
import unittest

CAPACITY = os.path.abspath(sys.argv.pop(1))
ANSWER = b'{"query":"","coverage":{"quality":0.5,"tiers":[],"cache":{"outcome":"miss"}},"results":[]}'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *arguments):
        pass


class CapacityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        cls.server.daemon_threads = True
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.temporary.name, "trace")
        with open(cls.trace, "w") as out:
            out.write("#neptune-trace v1\n" + "".join(f"{i * 1000}\tgold\tq {i}\n" for i in range(50)))

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        cls.temporary.cleanup()

    def run_capacity(self, *arguments):
        port = self.server.server_address[1]
        return subprocess.run([CAPACITY, f"--target=http://127.0.0.1:{port}", f"--trace={self.trace}",
                               "--trial_s=0.5", "--warmup_s=0", "--lateness_p99_ms_max=60000", *arguments],
                              capture_output=True, text=True, timeout=120)

    def test_a_goal_that_is_met_everywhere_ends_at_the_highest_rate(self):
        report = os.path.join(self.temporary.name, "report")
        result = self.run_capacity("--goal=loss:0,coverage:0.5", "--rate_start=10", "--rate_max=20",
                                   f"--report={report}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("capacity: at least 20.0 requests a second, met 3 times in a row", result.stdout)
        self.assertEqual(result.stdout.count("(confirming)"), 2)
        self.assertTrue(os.path.exists(os.path.join(report, "report.html")))

    def test_a_goal_out_of_reach_is_said_to_be_so(self):
        result = self.run_capacity("--goal=coverage:0.9", "--rate_start=8", "--trial_s=0.3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("NOT MET  coverage 0.5000 of 0.9", result.stdout)
        self.assertIn("the goal was not met", result.stderr)

    def test_a_wrong_goal_is_named(self):
        result = self.run_capacity("--goal=p99:soon")
        self.assertEqual(result.returncode, 2)
        self.assertIn("p99:soon", result.stderr)


if __name__ == "__main__":
    unittest.main()
