"""Applies all rules to one page: rules.js in every look, keyboard use, the accessibility tree."""

import os
from typing import List, NamedTuple

from browser import Browser

with open(os.path.join(os.path.dirname(__file__), "rules.js"), encoding="utf-8") as _file:
    RULES = _file.read()
# Desktop; a phone, or 400 % of a desktop; 200 % of a desktop.
DESKTOP, PHONE, ZOOMED = {"width": 1280}, {"width": 320}, {"width": 640, "scale": 2}
SCHEMES = ("light", "dark")
NAMED_ROLES = ("button", "checkbox", "combobox", "DisclosureTriangle", "heading", "img", "image", "link", "listbox",
               "meter", "option", "radio", "region", "searchbox", "slider", "spinbutton", "table", "textbox")
# 1.4.12: text spacing that users may set.
SPACED = """(() => { const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
                     p { margin-bottom: 2em !important }`);
  document.adoptedStyleSheets = [sheet]; })()"""
TEXT_TWICE = """(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync("html { font-size: 200% !important }");
  document.adoptedStyleSheets = [sheet]; })()"""
AS_IT_IS = "document.adoptedStyleSheets = []"


class Problem(NamedTuple):
    criterion: str
    rule: str
    look: str
    where: str
    what: str


def problems(browser: Browser, address: str) -> List[Problem]:
    """Returns the problems of the page; each finding of a rule once per look."""
    browser.size(**DESKTOP)
    browser.media(prefers_color_scheme="light")
    browser.open(address)
    browser.evaluate(RULES)
    return (_found(browser, "structure") + _names(browser) + _colours(browser) + _layouts(browser) + _motion(browser) +
            _keys(browser))


def _found(browser: Browser, rules: str, look: str = "") -> List[Problem]:
    return [Problem(p["criterion"], p["rule"], look, p["where"], p["what"])
            for p in browser.evaluate(f"accessibility.{rules}()")]


def _names(browser: Browser) -> List[Problem]:
    return [Problem("4.1.2", "accessible-name", "", where, "has no name") for where in browser.unnamed(NAMED_ROLES)]


def _colours(browser: Browser) -> List[Problem]:
    found = []
    for scheme in SCHEMES:
        for contrast in ("no-preference", "more"):
            browser.media(prefers_color_scheme=scheme, prefers_contrast=contrast)
            found += _found(browser, "contrast", f"{scheme}, contrast {contrast}")
    browser.media(prefers_color_scheme="light")
    return found


def _layouts(browser: Browser) -> List[Problem]:
    found = []
    for look, size in (("desktop", DESKTOP), ("320 px", PHONE), ("zoom 200 %", ZOOMED)):
        browser.size(**size)
        found += _found(browser, "layout", look)
    for look, size, change in (("text spaced", PHONE, SPACED), ("text twice as large", DESKTOP, TEXT_TWICE)):
        browser.size(**size)
        browser.evaluate(change)
        found += _found(browser, "layout", look)
        browser.evaluate(AS_IT_IS)
    browser.size(**DESKTOP)
    return found


def _motion(browser: Browser) -> List[Problem]:
    browser.media(prefers_reduced_motion="reduce")
    found = _found(browser, "motion")
    browser.media(prefers_color_scheme="light")
    return found


def _keys(browser: Browser) -> List[Problem]:
    """Tabs through the whole page and out of it, then back."""
    found = []
    for back, scheme in ((False, "light"), (True, "dark")):
        browser.media(prefers_color_scheme=scheme)
        found += _walk(browser, back)
    browser.media(prefers_color_scheme="light")
    return found


def _walk(browser: Browser, back: bool) -> List[Problem]:
    look = "Shift+Tab" if back else "Tab"
    count = browser.evaluate(f"accessibility.watch({str(back).lower()})")
    found: List[Problem] = []
    for expected in reversed(range(count - 1)) if back else range(count):
        browser.press("Tab", back)
        seen = browser.evaluate("accessibility.focused()")
        found += [Problem(p["criterion"], p["rule"], look, p["where"], p["what"]) for p in seen["found"]]
        if seen["position"] != expected:
            what = f"has the focus, stop {seen['position']} of the page's {count}, in place of {expected}"
            return found + [Problem("2.1.2", "keyboard", look, seen["where"], what)]
    browser.press("Tab", back)
    seen = browser.evaluate("accessibility.focused()")
    if count and seen["position"] == (0 if back else count - 1):
        found.append(Problem("2.1.2", "keyboard", look, seen["where"], "keeps the focus"))
    return found
