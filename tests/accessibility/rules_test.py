"""Each rule reports a page that violates it, no other rule does, and none reports a good page.

rules_test.py
"""

import os
import re
import tempfile
import unittest

import checker
from bad_pages import FAULTS, GOOD
from browser import Browser


class RulesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.page = os.path.join(folder.name, "page.html")

    def problems_of(self, text: str) -> list:
        with open(self.page, "w", encoding="utf-8") as file:
            file.write(text)
        return checker.problems(self.browser, "file://" + self.page)

    def test_a_page_without_faults_has_no_problems(self) -> None:
        self.assertEqual(self.problems_of(GOOD), [])

    def test_each_fault_is_found_by_its_rule_alone(self) -> None:
        for fault in FAULTS:
            with self.subTest(rule=fault.rule, fault=fault.new):
                self.assertIn(fault.old, GOOD)
                found = self.problems_of(GOOD.replace(fault.old, fault.new))
                self.assertEqual({problem.rule for problem in found}, {fault.rule, *fault.also}, found)

    def test_no_rule_is_without_a_fault(self) -> None:
        sources = checker.RULES
        with open(checker.__file__, encoding="utf-8") as file:
            sources += file.read()
        rules = set(re.findall(r'(?:report|Problem)\("\d\.\d+\.\d+", "([a-z-]+)"', sources))
        self.assertEqual(rules, {fault.rule for fault in FAULTS})


if __name__ == "__main__":
    unittest.main()
