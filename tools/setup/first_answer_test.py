"""Tests of first_answer.py against a small HTTP server in this process."""

import contextlib
import http.server
import io
import json
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import first_answer  # noqa: E402


def answer(complete=True, titles=("One",)):
    return {
        "total": 1234, "total_is_exact": True, "took_ms": 1.5,
        "coverage": {"complete": complete, "partitions_asked": 4, "partitions_answered": 4},
        "results": [{"title": title, "site": "site"} for title in titles],
    }


class FirstAnswerTest(unittest.TestCase):
    def setUp(self):
        self.ready_after = 0
        self.answers = [answer()]
        self.paths = []
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                test.paths.append(self.path)
                if self.path == "/readyz":
                    test.ready_after -= 1
                    self.reply(200 if test.ready_after < 0 else 503, b"state")
                else:
                    one = test.answers.pop(0) if len(test.answers) > 1 else test.answers[0]
                    self.reply(200, json.dumps(one).encode())

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *unused):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)
        self.base = f"http://127.0.0.1:{self.server.server_port}"

    def run_program(self, *options, base=None):
        sys.argv = ["first_answer.py", "--base=" + (base or self.base), *options, "hash table"]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = first_answer.main()
        return status, out.getvalue(), err.getvalue()

    def test_prints_titles_time_and_coverage(self):
        status, out, _ = self.run_program()
        self.assertEqual(status, 0)
        self.assertIn("hash table: 1,234 documents in 1.5 ms; 4 of 4 partitions answered", out)
        self.assertIn("1. One  (site)", out)
        self.assertIn("/search?q=hash+table&count=3&format=json", self.paths)

    def test_waits_until_ready(self):
        self.ready_after = 2
        self.assertEqual(self.run_program()[0], 0)
        self.assertEqual(self.paths.count("/readyz"), 3)

    def test_waits_for_a_complete_answer(self):
        self.answers = [answer(complete=False), answer(titles=("Two",))]
        status, out, _ = self.run_program()
        self.assertEqual(status, 0)
        self.assertIn("1. Two", out)

    def test_prints_an_incomplete_answer_when_the_time_is_over(self):
        self.answers = [answer(complete=False)]
        self.assertEqual(self.run_program("--wait_s=0")[0], 0)

    def test_no_results_are_no_success(self):
        self.answers = [answer(titles=())]
        status, _, err = self.run_program("--wait_s=0")
        self.assertEqual(status, 1)
        self.assertIn("no results", err)

    def test_says_that_nothing_answers(self):
        status, _, err = self.run_program("--wait_s=0", base="http://127.0.0.1:1")
        self.assertEqual(status, 1)
        self.assertIn("gave no answer", err)

    def test_ends_with_the_cluster(self):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        status, _, err = self.run_program(f"--pid={child}", base="http://127.0.0.1:1")
        self.assertEqual(status, 1)
        self.assertIn("the cluster ended", err)

    def test_prints_no_control_characters(self):
        self.answers = [answer(titles=("a\x1b[2Jb",))]
        self.assertNotIn("\x1b", self.run_program()[1])


if __name__ == "__main__":
    unittest.main()
