"""Checks every page for users and operators against WCAG 2.1 AA in a real browser: the samples of
//frontend/render, with unusual texts and failures, and the pages of a live simulated cluster.

accessibility_test.py PREVIEW SCRIPTED_CLUSTER
"""

import os
import sys
import unittest
from typing import Dict, List

import checker
from bridge import Bridge
from browser import Browser
from pages import live_pages, served_samples

PREVIEW, CLUSTER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

STORES = ("store-1", "store-2", "store-3", "store-4")


class AccessibilityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def check(self, address: str) -> None:
        self.assertEqual(checker.problems(self.browser, address), [], address)


class SamplePagesTest(AccessibilityTest):
    def test_every_sample_is_accessible(self) -> None:
        with served_samples(PREVIEW) as samples:
            for name, address in samples.items():
                with self.subTest(name):
                    self.check(address)


class LivePagesTest(AccessibilityTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.cluster = Bridge(CLUSTER)
        cls.addClassCleanup(cls.cluster.close)
        cls.pages = live_pages(cls.cluster)

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
