"""Runs the guestbook example step by step as in its README, and changes its capsule while it runs:
programs as processes, with a real Redis and a real MariaDB that hang.

guestbook_test.py NEPTUNED CLIENT MODULE SPEC, the last two any of the example's
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from waiting import answers, free_port, wait_until

REDIS = shutil.which("redis-server")
MARIADB = shutil.which("mariadbd", path=os.environ.get("PATH", "") + ":/usr/sbin")
START_LIMIT_S = 30.0
# Ports named in the files of the example.
DATABASE_PORTS = {"redis": "6399", "mariadb": "6398"}
ADMIN_PORT = "7428"
GROUP = "239.192.7.27:7427"
KEY_FOLDER = "../../../data/var/clusters/guestbook/"
RESIDENTS_MAX = 40
# Token of this test.
TOKEN = "a-token-of-sixteen-characters-or-more"

NEPTUNED, CLIENT, MODULE, SPEC = (os.path.abspath(path) for path in sys.argv[1:5])
FILES = os.path.dirname(SPEC)


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
        failures = [(int(count), reason)
                    for count, reason in re.findall(r"(\d+) failed: (.*)\n", signed)]
        self.timed_out = self.count_of(failures, "Connection timed out", "system error: 110")
        self.refused = self.count_of(failures, "Connection refused", "(111)",
                                     "system error: 111")
        self.failed = sum(count for count, _ in failures)

    @staticmethod
    def count_of(failures, *reasons) -> int:
        return sum(count for count, what in failures if any(reason in what for reason in reasons))


class Guestbook:
    """One test case for each database."""

    database: str

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database_port = free_port()
        self.admin_port = free_port()
        self.server = self.start_database(folder.name)
        self.write_token(os.path.join(folder.name, "token"))
        configuration = self.database + ".conf"
        # All programs of the cluster use the capsule file, so the client reads it too.
        changes = {DATABASE_PORTS[self.database]: str(self.database_port),
                   ADMIN_PORT: str(self.admin_port),
                   GROUP: f"239.192.7.27:{free_port()}",
                   KEY_FOLDER: "",
                   f'  capsule_file: "{configuration}"\n': "",
                   '"guestbook"\nmulticast': f'"guestbook-{os.getpid()}"\n'
                                             f'capsule_file: "{configuration}"\n'
                                             'admin_token_file: "token"\nmulticast'}
        copy_with(os.path.join(FILES, configuration), folder.name, changes)
        self.spec = copy_with(os.path.join(FILES, self.database + ".textproto"), folder.name, changes)
        started = os.path.join(folder.name, "started")
        self.start([NEPTUNED, "--spec=" + self.spec, "--node=book", "--started_file=" + started,
                    "--module_dir=" + os.path.dirname(MODULE)])
        wait_until(lambda: os.path.exists(started), START_LIMIT_S, "the node has started")
        wait_until(lambda: answers(self.database_port), START_LIMIT_S, f"{self.database} answers")

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

    def sign(self, count: int) -> Visit:
        done = subprocess.run([CLIENT, "--spec=" + self.spec, f"--sign={count}", "--greet=200"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Visit(done.stdout)

    def assert_outcome(self, visit: Visit, signed: int, timed_out: int = 0, refused: int = 0) -> None:
        self.assertEqual((visit.signed, visit.timed_out, visit.refused, visit.failed, visit.greeted),
                         (signed, timed_out, refused, timed_out + refused, 200), visit.output)

    def test_a_hung_database_blocks_only_signers(self) -> None:
        self.assert_outcome(self.sign(30), signed=30)

        self.server.send_signal(signal.SIGSTOP)
        self.assert_outcome(self.sign(30), signed=0, timed_out=30)
        self.assert_outcome(self.sign(RESIDENTS_MAX + 20), signed=0, timed_out=RESIDENTS_MAX, refused=20)
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics").read().decode()
        self.assertRegex(page, r'neptune_capsule_\w+\{[^}]*capsule="' + self.database)

        self.server.send_signal(signal.SIGCONT)
        last = self.sign(30)
        self.assert_outcome(last, signed=30)
        self.assertGreater(int(re.search(r"ada has signed (\d+) times", last.output).group(1)), 30)

    def test_the_capsule_can_be_changed_at_run_time(self) -> None:
        self.assertIn(f"resident_count_max: {RESIDENTS_MAX}", self.administer("GET"))
        self.administer("POST", body=f"capsule {self.database} {{"
                                     f" match: inet:127.0.0.1:{self.database_port}"
                                     " resident_count_max: 10 timeout_ms: 200 }")
        self.server.send_signal(signal.SIGSTOP)
        self.assert_outcome(self.sign(25), signed=0, timed_out=10, refused=15)
        # A destroyed capsule admits no calls: they wait in the next capsule of the stack.
        self.administer("POST", body="capsule other { match: inet:127.0.0.0/8"
                                     " resident_count_max: 5 timeout_ms: 200 }")
        self.administer("DELETE", query="?name=" + self.database)
        self.assert_outcome(self.sign(25), signed=0, timed_out=5, refused=20)
        self.server.send_signal(signal.SIGCONT)
        self.administer("DELETE", query="?name=other")
        self.assert_outcome(self.sign(30), signed=30)


@unittest.skipUnless(REDIS, "SKIPPED: no redis-server")
class RedisGuestbookTest(Guestbook, unittest.TestCase):
    database = "redis"

    def start_database(self, folder: str) -> subprocess.Popen:
        return self.start([REDIS, "--port", str(self.database_port), "--bind", "127.0.0.1", "--save", "",
                           "--dir", folder])


@unittest.skipUnless(MARIADB, "SKIPPED: no mariadbd")
class MariadbGuestbookTest(Guestbook, unittest.TestCase):
    database = "mariadb"

    def start_database(self, folder: str) -> subprocess.Popen:
        data = os.path.join(folder, "data")
        os.mkdir(data)
        user = ["--user=root"] if os.geteuid() == 0 else []
        return self.start([MARIADB, "--no-defaults", *user, "--datadir=" + data,
                           "--socket=" + os.path.join(folder, "socket"), "--bind-address=127.0.0.1",
                           f"--port={self.database_port}", "--skip-grant-tables",
                           "--init-file=" + os.path.join(FILES, "mariadb.sql")])


class CapsuleFileTest(unittest.TestCase):
    def outcome(self, capsules: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            spec = copy_with(os.path.join(FILES, "redis.textproto"), folder,
                             {ADMIN_PORT: str(free_port()), GROUP: f"239.192.7.27:{free_port()}",
                              KEY_FOLDER: ""})
            if capsules:
                with open(os.path.join(folder, "redis.conf"), "w", encoding="utf-8") as file:
                    file.write(capsules)
            return subprocess.run([NEPTUNED, "--spec=" + spec, "--node=book",
                                   "--module_dir=" + os.path.dirname(MODULE)],
                                  capture_output=True, text=True, check=False, timeout=START_LIMIT_S)

    def test_a_wrong_file_stops_the_start_and_names_the_line(self) -> None:
        for capsules, reason in (
                ("capsule redis {\n match: inet:1.2.3.4.5\n}", "redis.conf:2: match: rule"),
                ("capsule redis {\n match: inet:*:1\n timeout: 5\n}", "redis.conf:3: unknown capsule field"),
                ("capsule redis {\n match: service:x\n policy: plugin library: no.so }", "no.so"),
                ("", "redis.conf")):
            with self.subTest(capsules=capsules):
                done = self.outcome(capsules)
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
