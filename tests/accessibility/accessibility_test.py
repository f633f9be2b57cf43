"""Checks every page for users and operators against WCAG 2.1 AA in a real browser: the samples of
//frontend/render, with unusual texts and failures, and the pages of a live simulated cluster.

accessibility_test.py PREVIEW SCRIPTED_CLUSTER
"""

import functools
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from typing import Dict, List

import checker
from bridge import STOP_POLL_S, Bridge
from browser import Browser

PREVIEW, CLUSTER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

STORES = ("store-1", "store-2", "store-3", "store-4")
LIVE_PAGES = {
    "home": "/", "results": "/search?q=license", "deep": "/search?q=license&start=10", "none": "/search?q=zzqqxx",
    "spelling": "/search?q=lisense", "beyond": "/search?q=license&start=900", "help": "/help", "console": "/console",
    "console that renews itself": "/console?refresh=3600", "traces": "/tracez", "error": "/search?q=a&start=-1",
    "no page": "/nowhere", "no document": "/doc/x", "node": "/statusz"
}


class PageFiles(http.server.SimpleHTTPRequestHandler):
    """Serves pages by name, like the frontend."""
    def translate_path(self, path: str) -> str:
        file = super().translate_path(path)
        return file if os.path.exists(file) else file + ".html"

    def log_message(self, *_) -> None:
        pass


class AccessibilityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def check(self, address: str) -> None:
        self.assertEqual(checker.problems(self.browser, address), [], address)


class SamplePagesTest(AccessibilityTest):
    def test_every_sample_is_accessible(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run([PREVIEW, folder.name], check=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(PageFiles, directory=folder.name))
        thread = threading.Thread(target=server.serve_forever, args=(STOP_POLL_S,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        names = [name[:-len(".html")] for name in sorted(os.listdir(folder.name)) if name.endswith(".html")]
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(name):
                self.check(f"http://127.0.0.1:{server.server_port}/{name}")


class LivePagesTest(AccessibilityTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.cluster = Bridge(CLUSTER)
        cls.addClassCleanup(cls.cluster.close)
        answer = cls.cluster.do({"do": "send", "node": "web-1", "target": "/search?q=license&format=json"})
        cls.pages = dict(LIVE_PAGES)
        cls.pages["trace"] = "/tracez?id=" + answer["headers"]["traceparent"].split("-")[1]
        cls.pages["document"] = "/doc/%s?q=license" % json.loads(answer["body"])["results"][0]["id"]

    def test_every_page_is_accessible(self) -> None:
        for name, target in self.pages.items():
            with self.subTest(name):
                self.check(self.cluster.url + target)

    def test_titles_are_unique(self) -> None:
        titles: Dict[str, List[str]] = {}
        for name in ("home", "results", "none", "help", "console", "traces", "error", "document", "node"):
            self.browser.open(self.cluster.url + self.pages[name])
            titles.setdefault(self.browser.evaluate("document.title"), []).append(name)
        self.assertEqual([names for names in titles.values() if len(names) > 1], [])

    def test_the_skip_link_moves_the_focus_into_the_content(self) -> None:
        for name in ("home", "results", "console"):
            self.browser.open(self.cluster.url + self.pages[name])
            self.browser.evaluate(checker.RULES)
            self.browser.evaluate("accessibility.watch()")
            for key in ("Tab", "Enter"):
                self.browser.press(key)
            self.browser.wait_for("document.activeElement.matches('main')")

    def test_answers_that_are_incomplete_or_refused_are_accessible(self) -> None:
        cluster = Bridge(CLUSTER, live=True)
        self.addCleanup(cluster.close)
        cluster.run(2)
        for nodes, page, words in ((STORES[:3], "/search?q=license", "This answer is incomplete"),
                                   (STORES[3:], "/search?q=other", "not available")):
            for node in nodes:
                cluster.do({"do": "kill", "node": node})
            self.check(cluster.url + page)
            self.assertIn(words, self.browser.evaluate("document.querySelector('main').textContent"))


if __name__ == "__main__":
    unittest.main()
