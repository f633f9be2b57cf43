"""Runs axe-core over the pages that our own rules check, and over the planted faults, and reports where the two differ.

axe_test.py PREVIEW SCRIPTED_CLUSTER

The pinned version comes from npm; without npm or network the test is skipped. It fails if axe-core finds a violation, of
WCAG or of its best practices, on one of our pages that is not among the DIFFERENCES.
"""

import base64
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from typing import Dict, List, Set

import checker
from bad_pages import FAULTS, GOOD
from bridge import Bridge
from browser import Browser
from pages import live_pages, served_samples

PREVIEW, CLUSTER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

PACKAGE = "axe-core@4.10.2"
INTEGRITY = "sha512-RE3mdQ7P3FRSe7eqCWoeQ/Z9QXrtniSjp1wUjt5nRC3WIpz5rSCve6o3fsZ2aCpJtrZjSZgjwXAoTO5k4tEI0w=="
NPM_TIMEOUT_S = 120
RUN = """axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations.map((violation) => [
  violation.id, violation.help, violation.tags.find((tag) => /^wcag\\d{3,}$/.test(tag)) ?? "best practice",
  violation.nodes.map((node) => node.html.slice(0, 120))]))"""
# What axe-core rejects and we do not, and why.
DIFFERENCES = {
    "meta-refresh": "a page is reloaded only if its address asks for it, and our rule `refresh` wants a link that stops it"
}
# Rules whose planted faults axe-core must find, or its silence about our pages says nothing.
SURELY_FOUND = {"text-contrast", "picture"}
SIZES = (checker.DESKTOP, checker.PHONE)


def axe_script() -> str:
    """The text of axe.min.js. Raises unittest.SkipTest if it cannot be had, ValueError if it is another one."""
    npm = shutil.which("npm")
    if npm is None:
        raise unittest.SkipTest("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([npm, "pack", PACKAGE, "--silent"], cwd=folder, timeout=NPM_TIMEOUT_S, check=True,
                                  stdout=subprocess.PIPE, text=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise unittest.SkipTest(f"npm does not deliver {PACKAGE}: {error}")
        path = os.path.join(folder, done.stdout.split()[-1])
        with open(path, "rb") as file:
            digest = base64.b64encode(hashlib.sha512(file.read()).digest()).decode()
        if "sha512-" + digest != INTEGRITY:
            raise ValueError(f"{PACKAGE} has the hash sha512-{digest}")
        with tarfile.open(path) as archive:
            return archive.extractfile("package/axe.min.js").read().decode()


class AxeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.axe = axe_script()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def violations(self, address: str) -> Dict[str, str]:
        """Violations by the name of their rule, over all looks."""
        found: Dict[str, str] = {}
        for size in SIZES:
            for scheme in checker.SCHEMES:
                self.browser.size(**size)
                self.browser.media(prefers_color_scheme=scheme)
                self.browser.open(address)
                self.browser.evaluate(self.axe)
                for rule, text, criterion, places in self.browser.evaluate(RUN):
                    found.setdefault(rule, f"{criterion}: {text}: {places[:3]}")
        return found

    def check(self, name: str, address: str) -> None:
        with self.subTest(name):
            found = {rule: text for rule, text in self.violations(address).items() if rule not in DIFFERENCES}
            self.assertEqual(found, {}, address)

    def test_axe_finds_nothing_on_the_samples(self) -> None:
        with served_samples(PREVIEW) as samples:
            for name, address in samples.items():
                self.check(name, address)

    def test_axe_finds_nothing_on_live_pages(self) -> None:
        with contextlib.closing(Bridge(CLUSTER)) as cluster:
            for name, target in live_pages(cluster).items():
                self.check(name, cluster.url + target)

    def test_planted_faults_are_compared(self) -> None:
        """Prints which of our planted faults axe-core finds; fails if it rejects the good page or finds nothing bad."""
        missed: List[str] = []
        found: Dict[str, Set[str]] = {}
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            for fault in FAULTS:
                self._write(page, GOOD.replace(fault.old, fault.new))
                rules = self.violations("file://" + page)
                if rules:
                    found.setdefault(fault.rule, set()).update(rules)
                else:
                    missed.append(f"{fault.rule}: {fault.new[:60]!r}")
            self._write(page, GOOD)
            self.assertEqual(self.violations("file://" + page), {})
        for rule, rules in sorted(found.items()):
            print(f"{rule}: axe-core reports {', '.join(sorted(rules))}")
        print(f"axe-core reports nothing for {len(missed)} of {len(FAULTS)} planted faults:")
        print("\n".join("  " + text for text in missed))
        self.assertLessEqual(SURELY_FOUND, set(found), "axe-core did not run, or did not see the pages")

    @staticmethod
    def _write(path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    unittest.main()
