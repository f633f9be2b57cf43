"""Tests the Python client (tools/client) with a frontend of a simulated cluster.

A real HTTP server stands before the cluster and hands each request on.
"""

import importlib.util
import re
import sys
import unittest
from typing import Any, List

from bridge import Bridge

PROGRAM, CLIENT = sys.argv.pop(1), sys.argv.pop(1)


def load_client() -> Any:
    spec = importlib.util.spec_from_file_location("neptune_search", CLIENT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ns = load_client()


class ClientOnClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.cluster = Bridge(PROGRAM, live=True,
                             parameters=[["frontend", "document_write_timeout_ms", "1000"]])
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.run(2)  # until every partition has a primary
        # The client's waits advance the time of the cluster.
        cls.client = ns.Client(cls.cluster.url, timeout_s=60, sleep=cls.cluster.run)

    def titles_of(self, query: str) -> List[str]:
        return [result["title"] for result in self.client.results(query, limit=100)]

    def test_pages_together_equal_one_large_page(self) -> None:
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
        texts = self.client.suggest("lice")
        self.assertTrue(texts)
        for text in texts:
            self.assertTrue(any(word.startswith("lice") for word in re.split(r"\W+", text.lower())), text)
        first = next(self.client.results("license"))
        stored = self.client.document(first["id"])
        self.assertEqual({name: stored[name] for name in ("id", "url", "title", "site")},
                         {name: first[name] for name in ("id", "url", "title", "site")})
        self.assertIn("license", stored["text"].lower())
        self.assertEqual(len(self.client.console()["nodes"]), 6)
        self.assertEqual(self.client.status()["node"], "web-1")
        self.assertTrue(self.client.is_ready(complete=True))
        trace = self.client.search("license", trace=True)["trace"]
        self.assertEqual(trace["spans"][0]["name"], "search")

    def test_a_correction_is_said_and_can_be_declined(self) -> None:
        self.assertEqual(self.client.search("lisense")["corrected"]["query"], "license")
        typed = self.client.search("lisense", as_typed=True)
        self.assertEqual((typed["corrected"], typed["total"]), (None, 0))

    def test_demands_that_nothing_meets_are_said_and_can_be_insisted_on(self) -> None:
        page = self.client.search("license +zzqqy")
        self.assertEqual(page["relaxed"]["demands"], ["zzqqy"])
        self.assertGreater(page["total"], 0)
        exactly = self.client.search("license +zzqqy", exactly=True)
        self.assertEqual((exactly["relaxed"], exactly["total"]), (None, 0))
        plain = self.client.search("license +zzqqy", plain=True)
        self.assertEqual((plain["relaxed"], plain["total"]), (None, page["total"]))

    def test_documents_are_added_changed_and_removed(self) -> None:
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

    def test_errors_have_their_own_types(self) -> None:
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
    def test_waits_until_it_may_retry(self) -> None:
        cluster = Bridge(PROGRAM, parameters=[["frontend", "http_rate_per_second", "0.5"],
                                              ["frontend", "http_rate_burst", "1"]])
        self.addCleanup(cluster.close)
        waits: List[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            cluster.run(seconds)

        client = ns.Client(cluster.url, api_key="gold-test-key", timeout_s=60, sleep=wait)
        for _ in range(3):
            client.search("license")
        self.assertEqual(waits, [2.0, 2.0])


if __name__ == "__main__":
    unittest.main()
