"""Tests the keys of the search box with completions, a combobox of the ARIA Authoring Practices, in
a real browser with a live simulated cluster, under the content security policy and without scripts.

completion_test.py SCRIPTED_CLUSTER
"""

import json
import os
import sys
import unittest
from typing import Any, List

import checker
from bridge import Bridge
from browser import Browser

CLUSTER = os.path.abspath(sys.argv.pop(1))

TYPED = "re"
OPEN = "document.getElementById('completions')?.hidden === false"
OPTIONS = "[...document.querySelectorAll('#completions [role=option]')].map((option) => option.textContent)"
SHUT = "document.getElementById('completions').hidden"
NOTE_VIOLATIONS = """window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));"""


class CompletionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.cluster = Bridge(CLUSTER)
        cls.addClassCleanup(cls.cluster.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.command("Page.addScriptToEvaluateOnNewDocument", source=NOTE_VIOLATIONS)

    def setUp(self) -> None:
        self.browser.open(self.cluster.url + "/")
        self.browser.evaluate("document.getElementById('query').focus()")

    def box(self, expression: str) -> Any:
        return self.browser.evaluate("document.getElementById('query')." + expression)

    def options(self) -> List[str]:
        return self.browser.evaluate(OPTIONS)

    def active(self) -> str:
        """Text of the active option, which must also be the selected one; empty if none."""
        return self.browser.evaluate(
            """(() => { const named = document.getElementById('query').getAttribute('aria-activedescendant');
                 const selected = [...document.querySelectorAll('#completions [aria-selected=true]')];
                 if (selected.length !== (named ? 1 : 0)) return 'not the one that is selected';
                 if (!named) return '';
                 return selected[0].id === named ? selected[0].textContent : 'another than selected'; })()""")

    def type(self) -> List[str]:
        """Waits until the completions of the whole typed text are shown, and returns them."""
        answer = self.cluster.do({"do": "send", "node": "web-1", "target": "/suggest?q=" + TYPED})
        options = json.loads(answer["body"])[1]
        self.assertGreater(len(options), 2)
        self.browser.type(TYPED)
        self.browser.wait_for(f"{OPEN} && JSON.stringify({OPTIONS}) === JSON.stringify({json.dumps(options)})")
        return options

    def test_typing_opens_a_list_announced_to_screen_readers(self) -> None:
        options = self.type()
        box, = self.browser.described("combobox")
        self.assertEqual((box["name"], box["expanded"]), ("Search the documents", True))
        self.assertEqual(self.box("getAttribute('aria-controls')"), "completions")
        self.assertEqual([option["name"] for option in self.browser.described("option")], options)
        self.assertEqual(self.browser.described("listbox")[0]["name"], "Completions")
        self.assertEqual(self.browser.evaluate("document.querySelector('[role=status]').textContent"),
                         f"{len(options)} completions")
        self.assertEqual((self.active(), self.box("value")), ("", TYPED))

    def test_down_and_up_cycle_through_list_and_typed_text(self) -> None:
        options = self.type()
        for key, order in (("ArrowDown", options + [""]), ("ArrowUp", options[::-1] + [""])):
            for expected in order:
                self.browser.press(key)
                self.assertEqual(self.active(), expected)
                self.assertEqual(self.box("value"), expected or TYPED)

    def test_enter_searches_for_the_active_completion(self) -> None:
        options = self.type()
        self.browser.press("ArrowDown")
        self.browser.press("Enter")
        self.browser.wait_for("location.pathname === '/search' && document.readyState === 'complete'")
        self.assertEqual(self.browser.evaluate("new URLSearchParams(location.search).get('q')"), options[0])

    def test_enter_without_one_searches_for_the_typed_text(self) -> None:
        self.type()
        self.browser.press("Enter")
        self.browser.wait_for("location.pathname === '/search' && document.readyState === 'complete'")
        self.assertEqual(self.browser.evaluate("location.search"), "?q=" + TYPED)

    def test_escape_restores_and_then_clears(self) -> None:
        self.type()
        self.browser.press("ArrowDown")
        self.browser.press("Escape")
        self.assertTrue(self.browser.evaluate(SHUT))
        self.assertEqual((self.box("value"), self.box("getAttribute('aria-expanded')")), (TYPED, "false"))
        self.assertEqual(self.box("hasAttribute('aria-activedescendant')"), False)
        self.browser.press("Escape")
        self.assertEqual(self.box("value"), "")

    def test_home_and_end_edit_the_completion(self) -> None:
        for key in ("Home", "End", "ArrowLeft"):
            with self.subTest(key):
                self.setUp()
                first = self.type()[0]
                self.browser.press("ArrowDown")
                self.browser.press(key)
                self.assertEqual((self.active(), self.box("value")), ("", first))
                expected = {"Home": 0, "End": len(first), "ArrowLeft": len(first) - 1}[key]
                self.assertEqual(self.box("selectionStart"), expected)
                self.browser.press("Escape")
                self.assertEqual(self.box("value"), first)

    def test_tab_keeps_the_shown_text(self) -> None:
        first = self.type()[0]
        self.browser.press("ArrowDown")
        self.browser.press("Tab")
        self.assertEqual(self.browser.evaluate("document.activeElement.textContent"), "Search")
        self.assertTrue(self.browser.evaluate(SHUT))
        self.assertEqual(self.box("value"), first)

    def test_a_closed_list_opens_again(self) -> None:
        options = self.type()
        for key, alt, active in (("ArrowDown", False, options[0]), ("ArrowUp", False, options[-1]),
                                 ("ArrowDown", True, "")):
            with self.subTest(key, alt=alt):
                self.browser.press("Escape")
                self.assertTrue(self.browser.evaluate(SHUT))
                self.browser.press(key, alt=alt)
                self.browser.wait_for(OPEN)
                self.assertEqual(self.active(), active)
        self.browser.press("ArrowUp", alt=True)
        self.assertTrue(self.browser.evaluate(SHUT))
        self.assertEqual(self.box("value"), TYPED)

    def test_a_page_that_has_a_query_completes_it_on_down(self) -> None:
        self.browser.open(self.cluster.url + "/search?q=" + TYPED)
        self.browser.evaluate("document.getElementById('query').focus()")
        self.browser.press("ArrowDown")
        self.browser.wait_for(OPEN)
        self.assertEqual(self.active(), self.options()[0])

    def test_a_pointer_chooses_too(self) -> None:
        options = self.type()
        box = self.browser.evaluate(
            "(({x, y, width, height}) => [x + width / 2, y + height / 2])("
            "document.querySelectorAll('#completions [role=option]')[1].getBoundingClientRect())")
        self.browser.click(*box)
        self.browser.wait_for("location.pathname === '/search' && document.readyState === 'complete'")
        self.assertEqual(self.browser.evaluate("new URLSearchParams(location.search).get('q')"), options[1])

    def test_the_open_list_is_accessible(self) -> None:
        self.type()
        self.browser.press("ArrowDown")
        self.browser.evaluate(checker.RULES)
        self.assertEqual(self.browser.evaluate("accessibility.structure()"), [])
        for scheme in checker.SCHEMES:
            self.browser.media(prefers_color_scheme=scheme)
            self.assertEqual(self.browser.evaluate("accessibility.contrast()"), [], scheme)
        self.assertEqual(self.browser.unnamed(checker.NAMED_ROLES), [])

    def test_the_policy_lets_this_script_run_and_no_other(self) -> None:
        self.type()
        self.assertEqual(self.browser.evaluate("violations"), [])
        self.browser.evaluate("""(() => { const other = document.createElement('script');
            other.textContent = 'window.ran = true'; document.body.append(other); })()""")
        self.browser.wait_for("violations.length > 0")
        self.assertIn("script-src", self.browser.evaluate("violations")[0])
        self.assertFalse(self.browser.evaluate("Boolean(window.ran)"))

    def test_without_scripts_the_box_searches(self) -> None:
        self.browser.scripts(run=False)
        self.addCleanup(self.browser.scripts, run=True)
        self.browser.open(self.cluster.url + "/")
        self.assertEqual(len(self.browser.described("combobox")), 0)
        self.browser.evaluate("document.getElementById('query').focus()")
        self.browser.type("license")
        self.browser.press("Enter")
        self.browser.wait_for("location.pathname === '/search' && document.readyState === 'complete'")
        self.assertGreater(self.browser.evaluate("document.querySelectorAll('.results > li').length"), 3)


if __name__ == "__main__":
    unittest.main()
