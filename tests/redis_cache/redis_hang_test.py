"""A node whose query cache is in a Redis that hangs: everything else on the node continues. Real processes, a real Redis.

redis_hang_test.py NEPTUNED CALL QUERY_CACHE_MODULE
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from waiting import answers, free_port, wait_until

REDIS = shutil.which("redis-server")
START_LIMIT_S = 30.0
# LookupRequest and InsertRequest (cache/cache.proto): key "apple", version 7, value "red".
LOOKUP = "\n\x05apple\x10\x07"
INSERT = LOOKUP + "\x1a\x03red"

NEPTUNED, CALL, MODULE = (os.path.abspath(path) for path in sys.argv[1:4])

# One worker thread for both caches.
SPEC = """
name: "redis-hang-{pid}" multicast_group: "239.192.7.28:{group_port}"
services {{
  name: "remote" module: "query_cache" queue_length_max: 200
  parameters {{ key: "implementation" value: "redis" }}
  parameters {{ key: "server" value: "127.0.0.1:{redis_port}" }}
  parameters {{ key: "server_timeout_ms" value: "1000" }}
}}
services {{ name: "local" module: "query_cache" queue_length_max: 200 }}
nodes {{ name: "one" worker_threads: 1 hosts {{ service: "remote" }} hosts {{ service: "local" }} }}
"""


class RedisHangTest(unittest.TestCase):
    def setUp(self) -> None:
        self.assertTrue(REDIS, "redis-server is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        redis_port = free_port()
        self.redis = self.start([REDIS, "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "",
                                 "--dir", folder.name])
        self.spec = os.path.join(folder.name, "cluster.textproto")
        with open(self.spec, "w", encoding="utf-8") as file:
            file.write(SPEC.format(pid=os.getpid(), group_port=free_port(), redis_port=redis_port))
        started = os.path.join(folder.name, "started")
        self.start([NEPTUNED, "--spec=" + self.spec, "--node=one", "--started_file=" + started,
                    "--module_dir=" + os.path.dirname(MODULE)])
        wait_until(lambda: os.path.exists(started), START_LIMIT_S, "the node has started")
        wait_until(lambda: answers(redis_port), START_LIMIT_S, "redis answers")

    def start(self, arguments) -> subprocess.Popen:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def begin_calls(self, service: str, method: str, request: str, count: int) -> subprocess.Popen:
        return subprocess.Popen(
            [CALL, "--spec=" + self.spec, "--service=" + service, "--method=" + method,
             "--request=" + request, f"--count={count}", f"--write={method == 'Insert'}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end_calls(self, process: subprocess.Popen):
        """How many were answered, and what was printed."""
        output = process.communicate()[0].decode(errors="replace")
        found = re.search(r"(\d+) answered", output)
        self.assertTrue(found, output)
        return int(found.group(1)), output

    def call(self, service: str, method: str, request: str, count: int):
        return self.end_calls(self.begin_calls(service, method, request, count))

    def test_a_redis_that_hangs_holds_only_those_who_ask_it(self) -> None:
        self.assertEqual(self.call("remote", "Insert", INSERT, 1)[0], 1)
        count, output = self.call("remote", "Lookup", LOOKUP, 30)
        self.assertEqual(count, 30, output)
        self.assertIn("red", output)

        self.redis.send_signal(signal.SIGSTOP)
        asking = self.begin_calls("remote", "Lookup", LOOKUP, 60)
        count, output = self.call("local", "Lookup", LOOKUP, 100)
        self.assertEqual(count, 100, output)
        count, output = self.end_calls(asking)
        self.assertEqual(count, 0, output)
        count, output = self.call("local", "Lookup", LOOKUP, 100)
        self.assertEqual(count, 100, output)

        self.redis.send_signal(signal.SIGCONT)
        count, output = self.call("remote", "Lookup", LOOKUP, 30)
        self.assertEqual(count, 30, output)
        self.assertIn("red", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
