"""The guestbook example as its README walks through it, and its capsule changed while it runs: programs as processes, a
real Redis that hangs.

guestbook_test.py NEPTUNED MODULE CLIENT SPEC CAPSULES
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

REDIS = shutil.which("redis-server")
START_LIMIT_S = 30.0
POLL_PAUSE_S = 0.02
# What the files of the example name.
REDIS_PORT = "6399"
ADMIN_PORT = "7428"
GROUP = "239.192.7.27:7427"
RESIDENTS_MAX = 40
# Of a test's own.
TOKEN = "a-token-of-sixteen-characters-or-more"

NEPTUNED, MODULE, CLIENT, SPEC, CAPSULES = (os.path.abspath(path) for path in sys.argv[1:6])


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def wait_until(condition, what: str) -> None:
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > START_LIMIT_S:
            raise AssertionError(f"after {START_LIMIT_S} s still not: {what}")
        time.sleep(POLL_PAUSE_S)


def answers(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def copy_with(path: str, folder: str, changes: dict) -> str:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in changes.items():
        text = text.replace(old, new)
    copy = os.path.join(folder, os.path.basename(path))
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text)
    return copy


class Visit:
    """What the client printed."""

    def __init__(self, output: str) -> None:
        self.output = output
        signed, greeted = output[output.index("signed:"):].split("greeted meanwhile:")
        self.signed = int(re.match(r"signed: (\d+) answered", signed).group(1))
        self.greeted = int(re.match(r" (\d+) answered", greeted).group(1))
        self.failures = {what: int(count)
                         for count, what in re.findall(r"(\d+) failed: .*?([^:\n]+)\n", signed)}


@unittest.skipUnless(REDIS, "SKIPPED: no redis-server")
class GuestbookTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.redis_port = free_port()
        self.admin_port = free_port()
        self.redis = self.start([REDIS, "--port", self.redis_port, "--bind", "127.0.0.1",
                                 "--save", "", "--dir", folder.name])
        self.write_token(os.path.join(folder.name, "token"))
        # The capsule file is the whole cluster's, so that the client reads it too.
        changes = {REDIS_PORT: self.redis_port, ADMIN_PORT: self.admin_port,
                   GROUP: f"239.192.7.27:{free_port()}",
                   '  capsule_file: "capsules.conf"\n': "",
                   '"guestbook"\nmulticast': f'"guestbook-{os.getpid()}"\n'
                                             'capsule_file: "capsules.conf"\n'
                                             'admin_token_file: "token"\nmulticast'}
        copy_with(CAPSULES, folder.name, changes)
        self.spec = copy_with(SPEC, folder.name, changes)
        started = os.path.join(folder.name, "started")
        self.start([NEPTUNED, "--spec=" + self.spec, "--node=book", "--started_file=" + started,
                    "--module_dir=" + os.path.dirname(MODULE)])
        wait_until(lambda: os.path.exists(started), "the node has started")
        wait_until(lambda: answers(self.redis_port), "Redis answers")

    def start(self, arguments) -> subprocess.Popen:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def write_token(self, path: str) -> None:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            file.write(TOKEN)

    def administer(self, method: str, query: str = "", body: str = "") -> str:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.admin_port}/capsules{query}", method=method,
            data=body.encode() or None, headers={"Authorization": "Bearer " + TOKEN})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    def assert_outcome(self, visit: Visit, signed: int, timed_out: int = 0, refused: int = 0) -> None:
        failures = {" Connection timed out": timed_out, " Connection refused": refused}
        self.assertEqual((visit.signed, visit.greeted), (signed, 200), visit.output)
        self.assertEqual(visit.failures, {what: n for what, n in failures.items() if n}, visit.output)

    def sign(self, count: int) -> Visit:
        done = subprocess.run([CLIENT, "--spec=" + self.spec, f"--sign={count}", "--greet=200"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Visit(done.stdout)

    def test_a_redis_that_hangs_holds_only_those_who_sign(self) -> None:
        self.assert_outcome(self.sign(30), signed=30)

        self.redis.send_signal(signal.SIGSTOP)
        self.assert_outcome(self.sign(30), signed=0, timed_out=30)
        self.assert_outcome(self.sign(RESIDENTS_MAX + 20), signed=0, timed_out=RESIDENTS_MAX, refused=20)
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics").read().decode()
        self.assertRegex(page, r'neptune_capsule_\w+\{[^}]*capsule="redis"')

        self.redis.send_signal(signal.SIGCONT)
        self.assert_outcome(self.sign(30), signed=30)

    def test_what_the_capsule_is_may_be_changed_while_it_runs(self) -> None:
        shown = self.administer("GET")
        self.assertIn(f"resident_count_max: {RESIDENTS_MAX}", shown)
        self.administer("POST", body=f"capsule redis {{ match: inet:127.0.0.1:{self.redis_port}"
                                     " resident_count_max: 10 timeout_ms: 200 }")
        self.redis.send_signal(signal.SIGSTOP)
        self.assert_outcome(self.sign(25), signed=0, timed_out=10, refused=15)
        # Destroyed, it takes no more: they wait in the next one of the stack.
        self.administer("POST", body="capsule other { match: inet:127.0.0.0/8"
                                     " resident_count_max: 5 timeout_ms: 200 }")
        self.administer("DELETE", query="?name=redis")
        self.assert_outcome(self.sign(25), signed=0, timed_out=5, refused=20)
        self.redis.send_signal(signal.SIGCONT)
        self.administer("DELETE", query="?name=other")
        self.assert_outcome(self.sign(30), signed=30)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
