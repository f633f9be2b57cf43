"""Checks feeds of a simulated cluster against the specifications of their formats.

RFC 4287 (Atom), the RSS 2.0 specification, OpenSearch 1.1.
"""

import re
import sys
import unittest
import urllib.parse
import xml.etree.ElementTree as ElementTree
from typing import List, Optional

from scripted_cluster import run_script, send

PROGRAM = sys.argv.pop(1)
ATOM = "{http://www.w3.org/2005/Atom}"
OPEN_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"
# RFC 4287 4.1.1, 4.1.2: children by maximum and minimum number.
FEED_ONCE = ("generator", "icon", "id", "logo", "rights", "subtitle", "title", "updated")
FEED_ANY = ("author", "category", "contributor", "link", "entry")
ENTRY_ONCE = ("content", "id", "published", "rights", "source", "summary", "title", "updated")
ENTRY_ANY = ("author", "category", "contributor", "link")
REQUIRED = ("id", "title", "updated")
CHANNEL = ("title", "link", "description", "language", "copyright", "managingEditor", "webMaster",
           "pubDate", "lastBuildDate", "category", "generator", "docs", "cloud", "ttl", "image",
           "rating", "textInput", "skipHours", "skipDays", "item")
ITEM = ("title", "link", "description", "author", "category", "comments", "enclosure", "guid",
        "pubDate", "source")


def is_absolute(address: Optional[str]) -> bool:
    return bool(address) and urllib.parse.urlsplit(address).scheme != "" and " " not in address


def children(element: ElementTree.Element, name: str) -> List[ElementTree.Element]:
    return element.findall(name)


def atom_problems(feed: ElementTree.Element) -> List[str]:
    found = [] if feed.tag == ATOM + "feed" else [f"root {feed.tag}"]
    found += _atom_children("feed", feed, FEED_ONCE, FEED_ANY)
    entries = children(feed, ATOM + "entry")
    if not children(feed, ATOM + "author") and any(
            not children(e, ATOM + "author") for e in entries):
        found.append("feed: no author, nor in every entry")
    for entry in entries:
        found += _atom_children("entry", entry, ENTRY_ONCE, ENTRY_ANY)
        if not children(entry, ATOM + "content"):
            if not any(
                    link.get("rel", "alternate") == "alternate"
                    for link in children(entry, ATOM + "link")):
                found.append("entry: neither content nor an alternate link")
    identifiers = [entry.findtext(ATOM + "id") for entry in entries]
    if len(set(identifiers)) != len(identifiers):
        found.append("feed: entries with one id")
    if not any(link.get("rel") == "self" for link in children(feed, ATOM + "link")):
        found.append("feed: no link to itself")
    return found


def _atom_children(what: str, element: ElementTree.Element, once: tuple, more: tuple) -> List[str]:
    found = []
    for name in REQUIRED:
        if not (element.findtext(ATOM + name) or "").strip():
            found.append(f"{what}: no {name}")
    for child in element:
        name = child.tag[len(ATOM):]
        if not child.tag.startswith(ATOM):
            continue
        if name not in once + more:
            found.append(f"{what}: {name} may not stand here")
        if name in once and len(children(element, child.tag)) > 1:
            found.append(f"{what}: {name} twice")
        if name in ("updated", "published") and not re.fullmatch(DATE, child.text or ""):
            found.append(f"{what}: {name} {child.text!r} is not a date of RFC 3339")
        if name == "id" and not is_absolute(child.text):
            found.append(f"{what}: id {child.text!r} is not an absolute IRI")
        if name == "link" and not is_absolute(child.get("href")):
            found.append(f"{what}: link to {child.get('href')!r}")
        if name in ("title", "subtitle", "summary", "rights") and \
                child.get("type", "text") not in ("text", "html", "xhtml"):
            found.append(f"{what}: {name} of type {child.get('type')!r}")
        if name == "author" and not (child.findtext(ATOM + "name") or "").strip():
            found.append(f"{what}: an author without a name")
    seen = [(link.get("type"), link.get("hreflang"))
            for link in children(element, ATOM + "link")
            if link.get("rel", "alternate") == "alternate"]
    return found + ([f"{what}: alternate links alike"] if len(set(seen)) < len(seen) else [])


def rss_problems(rss: ElementTree.Element) -> List[str]:
    if rss.tag != "rss" or rss.get("version") != "2.0" or [child.tag for child in rss
                                                          ] != ["channel"]:
        return ["no rss 2.0 with one channel"]
    channel = rss[0]
    found = [
        f"channel: no {name}" for name in ("title", "link", "description")
        if not (channel.findtext(name) or "").strip()
    ]
    for element, names in [(channel, CHANNEL)
                          ] + [(item, ITEM) for item in children(channel, "item")]:
        plain = [child.tag for child in element if not child.tag.startswith("{")]
        found += [
            f"{element.tag}: {name} may not stand here" for name in plain if name not in names
        ]
        found += [
            f"{element.tag}: {name} twice" for name in set(plain) - {"item", "category"}
            if plain.count(name) > 1
        ]
        if element.find("link") is not None and not is_absolute(element.findtext("link")):
            found.append(f"{element.tag}: link {element.findtext('link')!r}")
    guids = [item.findtext("guid") for item in children(channel, "item")]
    if len(set(guids)) != len(guids):
        found.append("channel: items with one guid")
    for item in children(channel, "item"):
        if not item.findtext("title") and not item.findtext("description"):
            found.append("item: neither title nor description")
        guid = item.find("guid")
        if guid is not None and guid.get("isPermaLink",
                                         "true") == "true" and not is_absolute(guid.text):
            found.append("item: its guid says that it is a link")
    return found


def open_search_problems(parent: ElementTree.Element, item_count: int) -> List[str]:
    found = []
    for name in ("totalResults", "startIndex", "itemsPerPage"):
        values = [child.text or "" for child in children(parent, OPEN_SEARCH + name)]
        if len(values) != 1 or not values[0].isdigit():
            found.append(f"{name}: {values}")
    if not found and int(parent.findtext(OPEN_SEARCH + "itemsPerPage")) < item_count:
        found.append("more items than a page has")
    roles = [query.get("role") for query in children(parent, OPEN_SEARCH + "Query")]
    return found + ([] if "request" in roles else ["no Query of role request"])


class FeedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        queries = ("license", "zzqqxx", "license&start=3&count=2", "%3Cb%3E%26%22+license")
        steps = [
            send(f"/search?q={query}&format={format}")
            for query in queries
            for format in ("atom", "rss")
        ]
        steps += [{"do": "kill", "node": node} for node in ("store-1", "store-2")]
        steps += [
            send(f"/search?q=license&format={format}", headers={"Cache-Control": "no-cache"})
            for format in ("atom", "rss")
        ]
        cls.answers = [answer for answer in run_script(PROGRAM, steps) if answer is not None]

    def test_feeds_conform_to_their_formats(self) -> None:
        item_count = 0
        for answer in self.answers:
            with self.subTest(answer.target):
                self.assertEqual(answer.status, 200, answer.body)
                root = ElementTree.fromstring(answer.body.encode())
                if "atom" in answer.target:
                    items = children(root, ATOM + "entry")
                    problems = atom_problems(root) + open_search_problems(root, len(items))
                else:
                    items = children(root[0], "item")
                    problems = rss_problems(root) + open_search_problems(root[0], len(items))
                self.assertEqual(problems, [])
                item_count += len(items)
        self.assertGreater(item_count, 20)

    def test_missing_and_forbidden_elements_are_found(self) -> None:
        atom, rss = self.answers[0].body, self.answers[1].body
        for name in ("id", "title", "updated", "name", "href"):
            changed = re.sub(rf"<{name}>[^<]*</{name}>|href=\"[^\"]*\""
                             if name == "href" else rf"<{name}>[^<]*</{name}>",
                             "",
                             atom,
                             count=1)
            self.assertNotEqual(atom_problems(ElementTree.fromstring(changed.encode())), [], name)
        for name in ("title", "link", "description"):
            changed = re.sub(rf"<{name}>[^<]*</{name}>", "", rss, count=1)
            self.assertNotEqual(rss_problems(ElementTree.fromstring(changed.encode())), [], name)
        for text, problems in ((atom, atom_problems), (rss, rss_problems)):
            added = re.sub(r"(<title)", r"<title>x</title>\1", text, count=1)
            self.assertNotEqual(problems(ElementTree.fromstring(added.encode())), [])


if __name__ == "__main__":
    unittest.main()
