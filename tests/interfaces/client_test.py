"""The Python client (tools/client) against a frontend of a simulated cluster.

A real HTTP server stands before the cluster and hands each request on.
"""

import http.server
import importlib.util
import json
import subprocess
import sys
import threading
import unittest
from typing import Any, List

PROGRAM, CLIENT = sys.argv.pop(1), sys.argv.pop(1)
STOP_POLL_S = 0.01
# Of one connection; what ends with its answer.
NOT_HANDED_ON = ("host", "connection", "transfer-encoding", "content-length", "keep-alive", "date",
                 "server")


def load_client() -> Any:
    spec = importlib.util.spec_from_file_location("neptune_search", CLIENT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ns = load_client()


class Bridge:
    """A simulated cluster whose first frontend is asked over real HTTP."""
    def __init__(self, **cluster: Any):
        self._process = subprocess.Popen([PROGRAM],
                                         stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL,
                                         text=True)
        self._lock = threading.Lock()
        self._say(cluster)
        bridge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                seen = bridge.do({
                    "do": "send", "node": "web-1", "method": self.command, "target": self.path,
                    "headers": {
                        name: value
                        for name, value in self.headers.items()
                        if name.lower() not in NOT_HANDED_ON
                    }, "body": self.rfile.read(size).decode()
                })
                body = seen["body"].encode()
                self.send_response(seen["status"])
                for name, value in seen["headers"].items():
                    if name.lower() not in NOT_HANDED_ON:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer  # pylint: disable=invalid-name

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(STOP_POLL_S,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _say(self, line: dict) -> None:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def do(self, step: dict) -> Any:
        with self._lock:
            self._say(step)
            return json.loads(self._process.stdout.readline())

    def run(self, seconds: float) -> None:
        self.do({"do": "run", "ms": int(1000 * seconds)})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class ClientOnClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.cluster = Bridge(live=True,
                             parameters=[["frontend", "document_write_timeout_ms", "1000"]])
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.run(2)  # until every partition has a primary
        # Where the client would wait, the cluster's time passes.
        cls.client = ns.Client(cls.cluster.url, timeout_s=60, sleep=cls.cluster.run)

    def titles_of(self, query: str) -> List[str]:
        return [result["title"] for result in self.client.results(query, limit=100)]

    def test_pages_together_are_the_results_that_one_page_has(self) -> None:
        whole = self.client.search("license", count=100, fresh=True)
        paged = [
            result["id"]
            for page in self.client.pages("license", page_size=30)
            for result in page["results"]
        ]
        self.assertEqual(paged[:100], [result["id"] for result in whole["results"]])
        self.assertEqual((len(paged), len(set(paged))), (whole["total"], whole["total"]))
        few = [result["id"] for result in self.client.results("license", limit=101)]
        self.assertEqual(few, paged[:101])

    def test_completions_documents_console_and_status(self) -> None:
        self.assertTrue(any(text.startswith("lice") for text in self.client.suggest("lice")))
        first = next(self.client.results("license"))
        self.assertIn("<html", self.client.document(first["id"]))
        self.assertEqual(len(self.client.console()["nodes"]), 6)
        self.assertEqual(self.client.status()["node"], "web-1")
        self.assertTrue(self.client.is_ready(complete=True))
        trace = self.client.search("license", trace=True)["trace"]
        self.assertEqual(trace["spans"][0]["name"], "search")

    def test_documents_come_change_and_go(self) -> None:
        number = self.client.put(
            {"url": "http://new.test/1", "title": "Zanzibar one", "text": "Zanzibar."})
        outcomes = list(
            self.client.change_many(
                [{"url": "http://new.test/2", "title": "Zanzibar two", "text": "Zanzibar too."},
                 {"x": 1}]))
        self.assertEqual([outcome["status"] for outcome in outcomes], [200, 400])
        self.assertIn("x", outcomes[1]["detail"])
        self.cluster.run(2)
        self.assertEqual(sorted(self.titles_of("zanzibar")), ["Zanzibar one", "Zanzibar two"])
        self.assertEqual(self.client.delete(number), number)
        self.client.delete_url("http://new.test/2")
        self.cluster.run(2)
        self.assertEqual(self.titles_of("zanzibar"), [])

    def test_a_key_is_one_request(self) -> None:
        one = {"url": "http://key.test/", "text": "Kilwa."}
        self.assertEqual(self.client.put(one, idempotency_key="k"),
                         self.client.put(one, idempotency_key="k"))
        with self.assertRaises(ns.Conflict):
            self.client.put(dict(one, text="Other."), idempotency_key="k")

    def test_errors_are_told_by_their_kind(self) -> None:
        with self.assertRaises(ns.BadRequest) as raised:
            self.client.search("a", start=-1)
        self.assertEqual(raised.exception.problem["parameter"], "start")
        with self.assertRaises(ns.BadRequest):
            self.client.put({"title": "no url"})
        with self.assertRaises(ns.NotFound):
            self.client.document(12345678901234567890 // 7)
        with self.assertRaises(ns.Unauthorized):
            ns.Client(self.cluster.url, api_key="nobody's").search("a")


class ClientThatAsksTooOftenTest(unittest.TestCase):
    def test_waits_until_it_may_ask_again(self) -> None:
        cluster = Bridge(parameters=[["frontend", "http_rate_per_second", "0.5"],
                                     ["frontend", "http_rate_burst", "1"]])
        self.addCleanup(cluster.close)
        waits: List[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            cluster.run(seconds)

        client = ns.Client(cluster.url, api_key="gold-demo-key", timeout_s=60, sleep=wait)
        for _ in range(3):
            client.search("license")
        self.assertEqual(waits, [2.0, 2.0])


if __name__ == "__main__":
    unittest.main()
