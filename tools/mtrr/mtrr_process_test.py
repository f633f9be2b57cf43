"""The program itself: from a profile of a live server to an allocation that it keeps, and how mistakes end."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request

MTRR, SERVER = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))

REQUEST = """
service: "work"
thread_count_max: 16
classes { name: "gold" profile: "gold.json" arrival_rate: 40 response_max_ms: 2000 cost { weight: 10 } }
classes { name: "bronze" profile: "gold.json" arrival_rate: 20 }
"""


class Server:
    """A threaded_server; 1 ms of processor and 9 of a device for eight at once."""

    def __init__(self):
        self.process = subprocess.Popen(
            [SERVER, "--processor_ms=0.5", "--device_ms=9", "--device_width=8", "--token=right"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[1])

    def services(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/services") as answer:
            return json.load(answer)["services"][0]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class MtrrTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.folder = tempfile.TemporaryDirectory()
        cls.write("queries", "one\ntwo\n")
        cls.write("token", "right\n")
        cls.write("wrong_token", "left\n")
        cls.write("request", REQUEST)
        cls.profiled = cls.mtrr(
            "profile", "--service=work", "--service_class=gold", "--threads=1,2,4,8,12", "--path=/request?q=",
            f"--target=http://127.0.0.1:{cls.server.port}", f"--queries={cls.path('queries')}",
            "--warmup_s=0.1", "--length_s=0.4", "--repetitions=1", f"--out={cls.path('gold.json')}")
        cls.planned = cls.mtrr("plan", f"--request={cls.path('request')}", f"--out={cls.path('plan.json')}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w") as out:
            out.write(text)

    @classmethod
    def mtrr(cls, *arguments, token="token"):
        access = [] if arguments[0] in ("predict", "plan") else [
            f"--admin=127.0.0.1:{cls.server.port}", f"--token_file={cls.path(token)}"]
        return subprocess.run([MTRR, *arguments, *access], capture_output=True, text=True, timeout=120)

    def test_a_profile_is_measured_and_the_threads_are_put_back(self):
        self.assertEqual(self.profiled.returncode, 0, self.profiled.stderr)
        with open(self.path("gold.json")) as profile:
            profile = json.load(profile)
        self.assertEqual([point["threads"] for point in profile["points"]], [1, 2, 4, 8, 12])
        self.assertGreater(profile["points"][3]["throughput"], 2 * profile["points"][0]["throughput"])
        self.assertGreater(profile["processor_s"], 0)

    def test_responses_are_predicted(self):
        result = self.mtrr("predict", f"--profile={self.path('gold.json')}", "--threads=2,8",
                           f"--csv={self.path('csv')}", f"--svg={self.path('svg')}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("8 threads; the quantum", result.stdout)
        with open(self.path("csv")) as table:
            self.assertEqual(len(table.readlines()), 41)
        with open(self.path("svg")) as plot:
            self.assertIn("<svg", plot.read())

    def test_a_plan_is_applied_and_kept(self):
        self.assertEqual(self.planned.returncode, 0, self.planned.stderr)
        with open(self.path("plan.json")) as plan:
            plan = json.load(plan)
        applied = self.mtrr("apply", f"--plan={self.path('plan.json')}")
        self.assertEqual(applied.returncode, 0, applied.stderr)
        state = self.server.services()
        threads = {one["name"]: one["threads"] for one in state["classes"] if one["threads"]}
        self.assertEqual(threads, {one["name"]: one["threads"] for one in plan["classes"]})
        self.assertEqual(state["concurrency"], sum(threads.values()) + plan["other_threads"])
        watched = self.mtrr("watch", f"--plan={self.path('plan.json')}", "--interval_s=0.2", "--windows=3")
        self.assertEqual(watched.returncode, 0, watched.stdout + watched.stderr)
        self.assertIn("threads busy", watched.stdout)
        with open(self.path("plan.json")) as text:
            other = text.read().replace('"threads": ', '"threads": 1')
        self.write("other.json", other)
        watched = self.mtrr("watch", f"--plan={self.path('other.json')}", "--interval_s=0.2", "--windows=3")
        self.assertEqual(watched.returncode, 1)
        self.assertIn("LEFT THE PLAN", watched.stdout)
        self.assertIn("apply the plan again", watched.stdout)

    def test_nothing_changes_without_the_token(self):
        before = self.server.services()["concurrency"]
        self.write("small.json", json.dumps({
            "service": "work", "other_threads": 1, "service_rate": 50, "alpha": 0, "saturation_point": 1,
            "classes": [{"name": "gold", "threads": 77, "arrival_rate": 1, "queue_length_max": 4}]}))
        result = self.mtrr("apply", f"--plan={self.path('small.json')}", token="wrong_token")
        self.assertEqual(result.returncode, 1)
        self.assertIn("token", result.stderr)
        self.assertIn("the other nodes are unchanged", result.stderr)
        self.assertEqual(self.server.services()["concurrency"], before)

    def test_what_the_node_refuses_is_said_in_its_words(self):
        self.write("large.json", json.dumps({
            "service": "work", "other_threads": 1, "service_rate": 50, "alpha": 0, "saturation_point": 1,
            "classes": [{"name": "gold", "threads": 4000, "arrival_rate": 1, "queue_length_max": 4}]}))
        result = self.mtrr("apply", f"--plan={self.path('large.json')}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("a concurrency of 4001", result.stderr)

    def test_a_promise_that_cannot_be_kept_has_no_plan(self):
        self.write("hard", REQUEST.replace("2000", "1"))
        result = self.mtrr("plan", f"--request={self.path('hard')}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("class 'gold' must answer within 0.001 s", result.stderr)

    def test_mistakes_are_named(self):
        for arguments, named in [(["profile"], "--service"), (["plan"], "--request"), (["apply"], "--plan"),
                                 (["predict"], "--profile"), (["predict", "--profile=nowhere"], "nowhere"),
                                 (["thread"], "'thread'"),
                                 (["plan", f"--request={self.path('token')}"], "has no field named")]:
            result = self.mtrr(*arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(named, result.stderr)


if __name__ == "__main__":
    unittest.main()
