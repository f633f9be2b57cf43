"""The guestbook example as its README walks through it: programs as processes, a real Redis that hangs.

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
        changes = {REDIS_PORT: self.redis_port, ADMIN_PORT: self.admin_port,
                   GROUP: f"239.192.7.27:{free_port()}",
                   '"guestbook"\nmulticast': f'"guestbook-{os.getpid()}"\nmulticast'}
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

    def sign(self, count: int) -> Visit:
        done = subprocess.run([CLIENT, "--spec=" + self.spec, f"--sign={count}", "--greet=200"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Visit(done.stdout)

    def test_a_redis_that_hangs_holds_only_those_who_sign(self) -> None:
        visit = self.sign(30)
        self.assertEqual((visit.signed, visit.greeted), (30, 200), visit.output)

        self.redis.send_signal(signal.SIGSTOP)
        visit = self.sign(30)
        self.assertEqual((visit.signed, visit.greeted), (0, 200), visit.output)
        self.assertEqual(visit.failures, {" Connection timed out": 30}, visit.output)
        visit = self.sign(RESIDENTS_MAX + 20)
        self.assertEqual((visit.signed, visit.greeted), (0, 200), visit.output)
        self.assertEqual(visit.failures, {" Connection timed out": RESIDENTS_MAX,
                                          " Connection refused": 20}, visit.output)
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics").read().decode()
        self.assertRegex(page, r'neptune_capsule_\w+\{[^}]*capsule="redis"')

        self.redis.send_signal(signal.SIGCONT)
        visit = self.sign(30)
        self.assertEqual((visit.signed, visit.greeted), (30, 200), visit.output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
