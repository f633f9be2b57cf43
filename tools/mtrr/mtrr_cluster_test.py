"""Threads of a running cluster changed and measured: two nodes as processes.

mtrr_cluster_test.py MTRR NEPTUNED MODULE
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

MTRR, NEPTUNED, MODULE = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:4]
TOKEN = "a-token-of-sixteen-characters-or-more"
START_LIMIT_S = 30.0
POLL_PAUSE_S = 0.02

SPEC = """# Kept: a remark.
name: "{name}"
multicast_group: "239.192.7.31:{port}"
admin_token_file: "token"
service_classes {{ name: "gold" }}
service_classes {{ name: "bronze" }}
services {{
  name: "micro"
  module: "micro"
  concurrency: 4  # at first
}}
nodes {{ name: "a" hosts {{ service: "micro" }} }}
nodes {{ name: "b" hosts {{ service: "micro" }} }}
"""

PLAN = {"service": "micro", "other_threads": 1, "service_rate": 400, "alpha": 0, "saturation_point": 1,
        "classes": [{"name": "gold", "threads": 3, "arrival_rate": 50, "queue_length_max": 40},
                    {"name": "bronze", "threads": 2, "arrival_rate": 20, "queue_length_max": 40}]}
PLANNED = (6, {"gold": 3, "bronze": 2})

# A MicroRequest of 2 ms: field 2, local_mean_ns.
PAYLOAD = b"\x10\x80\x89\x7a"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """Two nodes, and what the cluster tool leaves of them."""

    def __init__(self, folder):
        self.folder = folder
        self.nodes = {}
        self.endpoints = {}
        with open(os.open(self.path("token"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as token:
            token.write(TOKEN)
        with open(self.path("spec.textproto"), "w") as spec:
            spec.write(SPEC.format(name=f"mtrr-{os.getpid()}", port=free_port()))
        for node in ("a", "b"):
            self.start(node)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, node):
        os.makedirs(self.path("state", "nodes", node), exist_ok=True)
        started = self.path("state", "nodes", node, "started")
        if os.path.exists(started):
            os.remove(started)
        self.nodes[node] = subprocess.Popen(
            [NEPTUNED, "--spec=" + self.path("spec.textproto"), "--node=" + node, "--started_file=" + started,
             "--module_dir=" + os.path.dirname(MODULE)], stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while not os.path.exists(started):
            if time.monotonic() - begin > START_LIMIT_S or self.nodes[node].poll() is not None:
                raise AssertionError(f"node {node} does not start")
            time.sleep(POLL_PAUSE_S)
        with open(started) as lines:
            self.endpoints[node] = dict(line.split() for line in lines)

    def stop(self, node):
        self.nodes[node].kill()
        self.nodes[node].wait()

    def admin(self, node):
        return self.endpoints[node]["admin"]

    def threads(self, node):
        with urllib.request.urlopen(f"http://{self.admin(node)}/services") as answer:
            service = json.load(answer)["services"][0]
        return service["concurrency"], {
            one["name"]: one["threads"] for one in service["classes"] if one["threads"] is not None}


class MtrrClusterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cluster = Cluster(folder.name)
        self.addCleanup(lambda: [self.cluster.stop(node) for node in ("a", "b")])
        self.write("plan.json", json.dumps(PLAN).encode())

    def write(self, name, content):
        with open(self.cluster.path(name), "wb") as out:
            out.write(content)

    def mtrr(self, command, *arguments):
        path = self.cluster.path
        return subprocess.run([MTRR, command, *arguments, "--spec=" + path("spec.textproto"),
                               "--state=" + path("state")], capture_output=True, text=True, timeout=120)

    def apply(self):
        return self.mtrr("apply", "--plan=" + self.cluster.path("plan.json"))

    def spec(self):
        with open(self.cluster.path("spec.textproto")) as spec:
            return spec.read()

    def test_a_plan_is_kept_by_all_nodes_and_by_those_that_start_later(self):
        result = self.apply()
        self.assertEqual(result.returncode, 0, result.stderr)
        for node in ("a", "b"):
            self.assertEqual(self.cluster.threads(node), PLANNED)
            self.assertIsNone(self.cluster.nodes[node].poll(), "without a restart")
        self.assertIn("# Kept: a remark.", self.spec())
        self.assertIn("concurrency: 6  # at first\n", self.spec())
        self.cluster.stop("b")
        self.cluster.start("b")
        self.assertEqual(self.cluster.threads("b"), PLANNED)
        watched = self.mtrr("watch", "--plan=" + self.cluster.path("plan.json"), "--interval_s=0.2",
                            "--windows=3")
        self.assertEqual(watched.returncode, 0, watched.stdout + watched.stderr)

    def test_all_nodes_or_none(self):
        before = self.cluster.threads("a")
        spec = self.spec()
        self.cluster.stop("b")
        result = self.apply()
        self.assertEqual(result.returncode, 1)
        self.assertIn("node b", result.stderr)
        self.assertIn("the other nodes are unchanged", result.stderr)
        self.assertEqual(self.cluster.threads("a"), before)
        self.assertEqual(self.spec(), spec)

    def test_a_class_that_the_cluster_does_not_have_is_refused(self):
        self.write("plan.json", json.dumps(PLAN).replace("bronze", "silver").encode())
        before = self.cluster.threads("a")
        result = self.apply()
        self.assertEqual(result.returncode, 2)
        self.assertIn("silver", result.stderr)
        self.assertEqual(self.cluster.threads("a"), before)

    def test_a_service_is_profiled_while_it_runs(self):
        self.write("payloads", PAYLOAD + b"\n")
        before = self.cluster.threads("a")
        calls = ",".join(self.cluster.endpoints[node]["calls"] for node in ("a", "b"))
        out = self.cluster.path("profile.json")
        result = self.mtrr("profile", "--service=micro", "--service_class=gold", "--threads=1,2,4",
                           f"--target=neptune://{calls}/micro/0/Run", "--queries=" + self.cluster.path("payloads"),
                           "--warmup_s=0.1", "--length_s=0.5", "--repetitions=1", "--out=" + out)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out) as profile:
            profile = json.load(profile)
        self.assertEqual([point["threads"] for point in profile["points"]], [1, 2, 4])
        self.assertGreater(profile["processor_s"], 0)
        for node in ("a", "b"):
            self.assertEqual(self.cluster.threads(node), before)


if __name__ == "__main__":
    unittest.main()
