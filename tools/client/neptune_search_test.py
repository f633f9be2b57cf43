"""The Python client against a stand-in for the service that answers as each test tells it."""

import contextlib
import http.server
import io
import json
import os
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import neptune_search as ns

STOP_POLL_S = 0.01
COVERAGE = {"summary": "searched 2 of 2 partitions"}


class Asked(NamedTuple):
    method: str
    target: str
    headers: Dict[str, str]
    body: bytes


class StandIn:
    """Gives its answers in turn and remembers what it was asked."""
    def __init__(self, tls: Optional[ssl.SSLContext] = None):
        self.answers: List[Tuple[int, Dict[str, str], bytes]] = []
        self.asked: List[Asked] = []
        stand_in = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                stand_in.asked.append(
                    Asked(self.command, self.path, dict(self.headers), self.rfile.read(size)))
                status, headers, body = stand_in.answers.pop(0)
                if status == 0:  # broken off
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer  # pylint: disable=invalid-name

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(STOP_POLL_S,))
        self._thread.start()

    def say(self, answer: Any, status: int = 200, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, named, json.dumps(answer).encode()))

    def refuse(self, status: int, detail: str = "why", **headers: str) -> None:
        self.say({"type": "about:blank", "title": "No", "status": status, "detail": detail}, status,
                 **headers)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Clock:
    """A clock that advances only in sleep calls."""
    def __init__(self) -> None:
        self.now = 0.0
        self.slept: List[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def page(ids: List[int], start: int = 0, has_next: bool = False) -> Dict[str, Any]:
    links = {"self": "/search", **({"next": "/search"} if has_next else {})}
    results = [{
        "id": str(i), "title": f"Title {i}", "url": f"http://a.test/{i}", "snippet": "\x1b[2J"
    } for i in ids]
    return {
        "results": results, "links": links, "start": start, "did_you_mean": None, "total": 5,
        "total_is_exact": True, "coverage": COVERAGE
    }


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = StandIn()
        self.addCleanup(self.service.close)
        self.clock = Clock()
        self.client = self.make()

    def make(self, **options: Any) -> ns.Client:
        return ns.Client(f"http://127.0.0.1:{self.service.port}",
                         clock=lambda: self.clock.now,
                         sleep=self.clock.sleep,
                         **options)

    def test_results_go_on_over_pages_up_to_the_limit(self) -> None:
        self.service.say(page([1, 2, 3], has_next=True))
        self.service.say(page([4, 5, 6], 3, has_next=True))
        found = [result["id"] for result in self.client.results("a b&c", limit=5)]
        self.assertEqual(found, ["1", "2", "3", "4", "5"])
        self.assertEqual([asked.target for asked in self.service.asked], [
            "/search?q=a+b%26c&start=0&count=5&format=json",
            "/search?q=a+b%26c&start=5&count=5&format=json"
        ])

    def test_results_end_where_the_service_has_no_further_page(self) -> None:
        self.service.say(page([1, 2]))
        self.assertEqual(len(list(self.client.results("a"))), 2)
        self.assertEqual(list(self.client.results("a", limit=0)), [])
        self.assertEqual(len(self.service.asked), 1)

    def test_key_class_and_fresh_are_headers(self) -> None:
        self.service.say(page([]))
        self.make(api_key="k", service_class="gold").search("a", fresh=True, trace=True)
        asked = self.service.asked[0]
        self.assertEqual(asked.headers["X-Api-Key"], "k")
        self.assertEqual(asked.headers["Neptune-Service-Class"], "gold")
        self.assertEqual(asked.headers["Cache-Control"], "no-cache")
        self.assertIn("trace=1", asked.target)

    def test_operators_token_goes_with_operators_pages_only(self) -> None:
        client = self.make(operator_token="secret")
        for answer in ({"nodes": []}, {"sections": []}, page([])):
            self.service.say(answer)
        client.console()
        client.status()
        client.search("a")
        self.assertEqual([asked.headers.get("Authorization") for asked in self.service.asked],
                         ["Bearer secret", "Bearer secret", None])

    def test_writers_token_goes_with_changes_only(self) -> None:
        client = self.make(operator_token="secret", document_token="writer")
        for answer in ({"id": "7"}, {"id": "7"}, {"id": "7"}, {"documents": []}, page([])):
            self.service.say(answer)
        client.put({"url": "u"})
        client.delete(7)
        client.delete_url("u")
        list(client.change_many([{"delete": 7}]))
        client.search("a")
        self.assertEqual([asked.headers.get("Authorization") for asked in self.service.asked],
                         ["Bearer writer"] * 4 + [None])

    def test_suggestions_and_documents(self) -> None:
        self.service.say(["lic", ["license", "licence"]])
        self.assertEqual(self.client.suggest("lic"), ["license", "licence"])
        self.service.say({"id": "17", "text": "caf\u00e9"})
        self.assertEqual(self.client.document(17)["text"], "caf\u00e9")
        self.assertEqual(self.service.asked[1].target, "/doc/17?format=json")
        with self.assertRaises(ValueError):
            self.client.document("../metrics")

    def test_waits_as_long_as_it_is_told_and_asks_again(self) -> None:
        self.service.refuse(503, Retry_After="3")
        self.service.refuse(429, Retry_After="2")
        self.service.say(page([1]))
        self.assertEqual(len(self.client.search("a")["results"]), 1)
        self.assertEqual(self.clock.slept, [3.0, 2.0])

    def test_gives_up_rather_than_wait_past_its_time(self) -> None:
        self.service.refuse(429, Retry_After="11")
        with self.assertRaises(ns.TooManyRequests) as raised:
            self.client.search("a")
        self.assertEqual(raised.exception.problem["detail"], "why")
        self.assertEqual(self.clock.slept, [])

    def test_without_a_hint_its_pauses_grow_until_the_time_is_over(self) -> None:
        for _ in range(20):
            self.service.refuse(504)
        with self.assertRaises(ns.TimedOut):
            self.client.search("a")
        self.assertLess(sum(self.clock.slept), 10.0)
        self.assertGreater(len(self.clock.slept), 4)
        for i, slept in enumerate(self.clock.slept):
            most = min(ns.PAUSE_FIRST_S * 2**i, ns.PAUSE_MAX_S)
            self.assertTrue(most / 2 <= slept <= most, (i, slept))

    def test_what_waiting_does_not_help_is_told_at_once(self) -> None:
        for status, kind in ns.KINDS.items():
            if status in ns.RETRIED:
                continue
            self.service.refuse(status, "because")
            with self.assertRaises(kind) as raised:
                self.client.search("a")
            self.assertEqual(raised.exception.status, status)
            self.assertIn("because", str(raised.exception))
        self.service.say("not a problem", 500)
        with self.assertRaises(ns.SearchError) as raised:
            self.client.search("a")
        self.assertEqual((raised.exception.status, raised.exception.problem), (500, {}))
        self.assertEqual(self.clock.slept, [])

    def test_a_change_that_is_sent_again_has_the_same_key(self) -> None:
        self.service.answers.append((0, {}, b""))
        self.service.refuse(503, Retry_After="1")
        self.service.say({"id": "7"})
        self.service.say({"id": "7"})
        self.assertEqual(self.client.put({"url": "http://a.test/\u00e9", "text": "x"}), "7")
        self.assertEqual(self.client.put({"url": "http://a.test/"}, idempotency_key="mine"), "7")
        keys = [asked.headers["Idempotency-Key"] for asked in self.service.asked]
        self.assertEqual(len(set(keys[:3])), 1)
        self.assertNotEqual(keys[0], "mine")
        self.assertEqual(keys[3], "mine")
        self.assertEqual(json.loads(self.service.asked[2].body)["url"], "http://a.test/\u00e9")
        self.assertEqual(self.service.asked[0].headers["Content-Type"], "application/json")

    def test_removals_name_a_number_or_a_url(self) -> None:
        self.service.say({"id": "7"})
        self.service.say({"id": "8"})
        self.assertEqual((self.client.delete(7), self.client.delete_url("http://a.test/?b")),
                         ("7", "8"))
        self.assertEqual([(asked.method, asked.target) for asked in self.service.asked],
                         [("DELETE", "/documents/7"),
                          ("DELETE", "/documents?url=http%3A%2F%2Fa.test%2F%3Fb")])

    def test_many_changes_go_in_requests_of_bounded_size(self) -> None:
        lines = [{"delete": str(i)} for i in range(ns.BULK_LINES_MAX + 1)]
        for count in (ns.BULK_LINES_MAX, 1):
            self.service.say(
                {"failed": 0, "documents": [{"line": i + 1, "status": 200} for i in range(count)]})
        self.assertEqual(len(list(self.client.change_many(lines))), len(lines))
        sizes = [len(asked.body.splitlines()) for asked in self.service.asked]
        self.assertEqual(sizes, [ns.BULK_LINES_MAX, 1])
        self.assertEqual(self.service.asked[0].headers["Content-Type"], "application/x-ndjson")
        big = [{"text": "x" * (ns.BULK_SIZE_MAX // 2)} for _ in range(3)]
        self.assertEqual([body.count(b"\n") for body in ns._bulk_bodies(big)], [1, 1, 1])

    def test_readiness_is_asked_once(self) -> None:
        self.service.say({"ready": False}, 503, Retry_After="1")
        self.assertFalse(self.client.is_ready())
        self.service.say({"ready": True})
        self.assertTrue(self.client.is_ready(complete=True))
        self.assertEqual(self.service.asked[1].target, "/readyz?complete=1")

    def test_an_answer_that_is_no_json_is_an_error(self) -> None:
        self.service.answers.append((200, {}, b"<html>"))
        with self.assertRaises(ns.ConnectionFailed):
            self.client.search("a")

    def test_an_answer_that_is_broken_off_is_asked_for_again(self) -> None:
        self.service.say(page([1]), Content_Length="100000")
        self.service.say(page([1, 2]))
        self.assertEqual(len(self.client.search("a")["results"]), 2)
        self.assertEqual(len(self.clock.slept), 1)

    def test_an_answer_over_the_limit_is_not_read_to_its_end(self) -> None:
        with unittest.mock.patch.object(ns, "ANSWER_SIZE_MAX", 1000):
            self.service.answers.append((200, {}, b"x" * 100000))
            with self.assertRaises(ns.ConnectionFailed):
                self.client.search("a")
        self.assertEqual(len(self.service.asked), 1)

    def test_nobody_there_is_tried_until_the_time_is_over(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # no listener on this port
            client = ns.Client(f"http://127.0.0.1:{taken.getsockname()[1]}",
                               timeout_s=1,
                               clock=lambda: self.clock.now,
                               sleep=self.clock.sleep)
            with self.assertRaises(ns.ConnectionFailed):
                client.search("a")
        self.assertGreater(len(self.clock.slept), 1)

    def test_addresses_that_are_none(self) -> None:
        for url in ("127.0.0.1:8080", "ftp://a.test", "http://"):
            with self.assertRaises(ValueError):
                ns.Client(url)


class HttpsTest(unittest.TestCase):
    def test_only_a_server_whose_authority_is_believed_is_asked(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
            subprocess.run([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                "/CN=search.test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                certificate
            ],
                           check=True,
                           capture_output=True)
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate, key)
            service = StandIn(tls)
            self.addCleanup(service.close)
            url = f"https://127.0.0.1:{service.port}"
            service.say(page([1]))
            self.assertEqual(len(ns.Client(url, ca_file=certificate).search("a")["results"]), 1)
            clock = Clock()
            with self.assertRaises(ns.ConnectionFailed):
                ns.Client(url, clock=lambda: clock.now, sleep=clock.sleep).search("a")
            self.assertEqual((clock.slept, len(service.asked)), ([], 1))


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = StandIn()
        self.addCleanup(self.service.close)

    def run_command(self, *arguments: str) -> Tuple[int, str]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = ns.main([f"--url=http://127.0.0.1:{self.service.port}", *arguments])
        return status, out.getvalue()

    def test_prints_results_and_nothing_that_steers_a_terminal(self) -> None:
        self.service.say(page([1, 2]))
        status, text = self.run_command("a")
        self.assertEqual(status, 0)
        self.assertIn("2. Title 2", text)
        self.assertIn("searched 2 of 2 partitions", text)
        self.assertNotIn("\x1b", text)

    def test_prints_the_answer_as_it_is(self) -> None:
        self.service.say(page([1]))
        status, text = self.run_command("--json", "a")
        self.assertEqual((status, json.loads(text)), (0, page([1])))

    def test_tells_a_wrong_query_from_a_service_that_fails(self) -> None:
        self.service.refuse(400, "parameter q: wrong")
        self.assertEqual(self.run_command("a"), (2, "400 No: parameter q: wrong\n"))
        self.service.refuse(503, Retry_After="60")
        self.assertEqual(self.run_command("a")[0], 1)


if __name__ == "__main__":
    unittest.main()
