"""The generator against a server of this test: what it counts, and what its clients do."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PARTIAL = b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"partial\": 1}"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers each request by what its path says, with a thread for each connection."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._listener.getsockname()[1]
        self.connection_count = 0
        self.left_count = 0  # connections that ended while an answer was due
        self.largest_at_once = 0
        self._lock = threading.Lock()
        self._at_once = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connection_count += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(ConnectionError), connection:
            pending = b""
            while True:
                while b"\r\n\r\n" not in pending:
                    got = connection.recv(65536)
                    if not got:
                        return
                    pending += got
                head, _, pending = pending.partition(b"\r\n\r\n")
                if not self._answer(connection, head.split(b" ")[1]):
                    return

    def _answer(self, connection, path):
        with self._lock:
            self._at_once += 1
            self.largest_at_once = max(self.largest_at_once, self._at_once)
        try:
            if path == b"/never":
                if connection.recv(1) == b"":
                    with self._lock:
                        self.left_count += 1
                return False
            connection.sendall({b"/ok": OK, b"/partial": PARTIAL, b"/busy": BUSY, b"/closing": CLOSING}[path])
            return path != b"/closing"
        finally:
            with self._lock:
                self._at_once -= 1

    def close(self):
        with contextlib.suppress(OSError):  # closed before
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()


class GeneratorTest(unittest.TestCase):
    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.server = Server()

    def tearDown(self):
        self.server.close()
        self._temporary.cleanup()

    def requests(self, *paths):
        path = os.path.join(self._temporary.name, "requests" + paths[0].replace("/", "-"))
        with open(path, "wb") as file:
            for one in paths:
                request = f"GET {one} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                file.write(b"%d\n%s" % (len(request), request))
        return path

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, f"--port={self.server.port}", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)

    def load(self, requests, *arguments):
        done = self.run_program(f"--requests={requests}", "--seconds=0.5", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_closed_loop_keeps_its_connections(self):
        seen = self.load(self.requests("/ok"), "--connections=4")
        self.assertGreater(seen["answered"], 20)
        self.assertEqual(seen["failed"] + seen["refused"] + seen["timed_out"], 0)
        self.assertEqual(self.server.connection_count, 4)
        self.assertLessEqual(self.server.largest_at_once, 4)
        self.assertGreater(seen["p99_ms"], 0)

    def test_answers_are_counted_by_what_they_are(self):
        seen = self.load(self.requests("/ok", "/partial", "/busy"), "--connections=1", "--unwanted=\"partial\": 1")
        self.assertLessEqual(abs(seen["incomplete"] - seen["refused"]), 1)
        self.assertEqual(seen["statuses"], {"503": seen["refused"]})
        self.assertEqual(seen["good"] + seen["incomplete"], seen["answered"])

    def test_a_server_that_closes_is_connected_to_again(self):
        seen = self.load(self.requests("/closing"), "--connections=2")
        self.assertGreater(seen["answered"], 10)
        self.assertEqual(seen["failed"], 0)
        self.assertGreaterEqual(self.server.connection_count, seen["answered"])

    def test_an_open_loop_sends_at_its_rate_whatever_is_answered(self):
        seen = self.load(self.requests("/never"), "--rate=100", "--timeout_ms=50")
        self.assertGreater(seen["sent"], 20)
        self.assertLess(seen["sent"], 100)
        self.assertEqual(seen["timed_out"], seen["sent"])
        deadline = time.monotonic() + 10
        while self.server.left_count < seen["sent"] and time.monotonic() < deadline:
            time.sleep(.01)
        self.assertEqual(self.server.left_count, seen["sent"])

    def test_idle_connections_stay_beside_the_load(self):
        seen = self.load(self.requests("/ok"), "--rate=50", "--idle_connections=40")
        self.assertEqual(seen["idle"], {"wanted": 40, "opened": 40, "alive": 40})
        self.assertEqual(seen["answered"], seen["sent"])

    def test_heavy_requests_are_measured_apart(self):
        seen = self.load(self.requests("/ok"), "--rate=50", "--heavy=" + self.requests("/partial"),
                         "--heavy_connections=2", "--unwanted=partial")
        self.assertEqual(seen["incomplete"], 0)
        self.assertEqual(seen["heavy"]["incomplete"], seen["heavy"]["answered"])
        self.assertGreater(seen["heavy"]["answered"], 10)

    def test_a_server_that_is_not_there_is_a_failure_and_no_busy_loop(self):
        self.server.close()
        seen = self.load(self.requests("/ok"), "--connections=2")
        self.assertEqual(seen["answered"], 0)
        self.assertGreater(seen["failed"], 0)
        self.assertLess(seen["failed"], 200)

    def test_wrong_arguments_are_named(self):
        for arguments in (["--connections=1"], ["--requests=x", "--connections=1", "--rate=2"],
                          ["--requests=" + self.requests("/ok")]):
            done = self.run_program(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("server_load:", done.stderr)


if __name__ == "__main__":
    unittest.main()
