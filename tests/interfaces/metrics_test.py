"""Tests the metrics of nodes of simulated clusters: format, names, reference page, dashboard."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, NamedTuple, Set

import exposition
from scripted_cluster import run_script, send

PROGRAM, PAGE, DASHBOARD = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
FRONTENDS, STORES = ("web-1", "web-2"), ("store-1", "store-2", "store-3", "store-4")
# Nodes by the page's column "shown by"; None: no node of these clusters shows the metric.
SHOWN_BY = {
    "every node": FRONTENDS + STORES, "callers": FRONTENDS + STORES, "frontend": FRONTENDS,
    "frontend with a log": FRONTENDS, "frontend with HTTPS": FRONTENDS, "cache": FRONTENDS,
    "document servers": STORES, "index tiers, document servers": STORES, "services with a time limit": STORES, "streams": STORES,
    "leader of statistics": STORES, "nodes with replicas": STORES,
    "nodes with live documents": STORES, "nodes with certificates": None, "node programs": None
}
BASE_UNITS = {"seconds": "_seconds", "bytes": "_bytes"}
OTHER_UNITS = re.compile(
    r"_(ms|us|ns|millis\w*|micros\w*|nanos\w*|minutes|hours|kb|kib|mb|mib|gb|percent)(_|$)")
FUNCTIONS = {
    "sum", "avg", "max", "min", "count", "rate", "increase", "histogram_quantile", "by", "without"
}
# Labels that Prometheus adds to every series.
TARGET_LABELS = {"instance", "job"}
SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)(\{[^}]*\})?(\[\$__rate_interval\])?")
MATCHER = re.compile(r'([a-zA-Z_]\w*)(=~|!~|!=|=)"([^"]*)"')


class Row(NamedTuple):
    name: str
    type: str
    labels: Set[str]
    unit: str
    shown_by: str
    help: str


def page_rows(text: str) -> List[Row]:
    rows = []
    for line in text.splitlines():
        if re.match(r"\| `(neptune|search)_", line):
            name, kind, labels, unit, shown_by, help_text = [
                cell.strip() for cell in line.split("|")[1:-1]
            ]
            rows.append(
                Row(name.strip("`"), kind, set(re.findall(r"`(\w+)`", labels)), unit, shown_by,
                    help_text))
    return rows


def merge(families: Dict[str, exposition.Family], more: Dict[str, exposition.Family]) -> None:
    for name, family in more.items():
        if name in families:
            families[name].samples.update(family.samples)
        else:
            families[name] = family


def expression_problems(expression: str, families: Dict[str, exposition.Family]) -> List[str]:
    """Returns the names in the expression that do not exist."""
    found = []
    selected: List[exposition.Family] = []
    groups = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", expression))))
    bare = re.sub(r"\bby \([^)]*\)", "by", expression)
    for name, matchers, span in SELECTOR.findall(re.sub(r"\b\d[\d.]*\b", "", bare)):
        if name in FUNCTIONS:
            continue
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        is_part = base != name and base in families and families[base].type == "histogram"
        family = families.get(base if is_part else name)
        if family is None or (family.type == "histogram") != is_part:
            found.append(f"no metric {name}")
            continue
        selected.append(family)
        if bool(span) != (is_part or family.type == "counter"):
            found.append(f"{name} is a {family.type}: its rate is wanted, or no rate")
        for label, operator, value in MATCHER.findall(matchers):
            there = {dict(labels).get(label) for _, labels in family.samples}
            wanted = value.split("|") if operator.endswith("~") else [value]
            found += [f"{name} has no {label}={one!r}" for one in wanted if one not in there]
        if name.endswith("_bucket") and "le" not in groups:
            found.append(f"{name} is not summed by le")
    for label in groups - TARGET_LABELS - {"le"}:
        found += [
            f"{family.name} has no label {label}" for family in selected
            if label not in family.label_names()
        ]
    return found + ([] if selected else ["no metric at all"])


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        nodes = FRONTENDS + STORES
        work = [{"do": "run", "ms": 2000},
                send("/search?q=license&format=json"),
                send("/search?q=licens"),
                send("/suggest?q=li"),
                send("/search?q=license", node="web-2"), {"do": "run", "ms": 1000},
                send("/documents", "POST", {"Content-Type": "application/json"},
                     '{"url": "http://a.test/", "text": "x"}'),
                send("/metrics")]
        steps = work + [{"do": "metrics", "node": node} for node in nodes]
        cls.texts = {}
        cls.families: Dict[str, exposition.Family] = {}
        cls.shown: Dict[str, Set[str]] = {}
        all_on = [["frontend", "access_log", "access.log"], ["tier1", "tier1_partitions", "4"],
                  ["tier1", "tier2_partitions", "4"]]
        for name, seen in (("live", run_script(PROGRAM, steps, live=True,
                                               parameters=all_on)), ("dev",
                                                                     run_script(PROGRAM, steps))):
            cls.texts[name + " over HTTP"] = seen[len(work) - 1].body
            for node, text in zip(nodes, seen[len(work):]):
                cls.texts[f"{name} {node}"] = text
                families = exposition.read(text)
                merge(cls.families, families)
                for family in families:
                    cls.shown.setdefault(family, set()).add(node)
        merge(cls.families, cls.of_https())
        with open(PAGE, encoding="utf-8") as file:
            cls.rows = page_rows(file.read())

    @classmethod
    def of_https(cls) -> Dict[str, exposition.Family]:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
            subprocess.run([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a.test",
                "-keyout", key, "-out", certificate
            ],
                           check=True,
                           capture_output=True)
            os.chmod(key, 0o600)
            text = run_script(PROGRAM, [{"do": "metrics", "node": "web-1"}],
                              parameters=[["frontend", "http_key_file", key],
                                          ["frontend", "http_certificate_file", certificate]])[0]
        cls.texts["https"] = text
        families = exposition.read(text)
        for family in families:
            cls.shown.setdefault(family, set()).add("web-1")
        return families

    def test_metrics_conform_to_the_format(self) -> None:
        for name, text in self.texts.items():
            with self.subTest(name):
                self.assertGreater(len(exposition.read(text)), 10)

    def test_the_reader_is_strict(self) -> None:
        good = ('# HELP a_seconds x\n# TYPE a_seconds histogram\na_seconds_bucket{le="1"} 1\n'
                'a_seconds_bucket{le="+Inf"} 2\na_seconds_sum 3.5\na_seconds_count 2\n')
        self.assertEqual(exposition.read(good)["a_seconds"].type, "histogram")
        for old, new in ((" 2\na_seconds_sum", " 0\na_seconds_sum"), ("count 2", "count 3"),
                         ('"+Inf"', '"2"'), ("# HELP a_seconds x\n", ""), ("3.5", "3,5"),
                         ("3.5", "0x3"), ('{le="1"}', '{le="1",le="1"}'), ('{le="1"}', '{le="1}'),
                         ("_sum", "_total"), ("histogram", "histo"), ("a_seconds_sum 3.5\n", ""),
                         ("2\n", "2"), ('{le="1"}', '{1e="1"}'), ('{le="1"}', '{le="\\x"}')):
            changed = good[:-1] if (old, new) == ("2\n", "2") else good.replace(old, new, 1)
            with self.subTest(changed), self.assertRaises(exposition.FormatError):
                exposition.read(changed)
        with self.assertRaises(exposition.FormatError):
            exposition.read(good + good)

    def test_names_end_in_base_units(self) -> None:
        for family in self.families.values():
            with self.subTest(family.name):
                self.assertIsNone(OTHER_UNITS.search(family.name))
                self.assertEqual(family.type == "counter", family.name.endswith("_total"))
                if family.type == "histogram":
                    self.assertTrue(family.name.endswith(("_seconds", "_bytes")))

    def test_the_page_lists_exactly_the_metrics_shown(self) -> None:
        names = [row.name for row in self.rows]
        self.assertEqual(names, sorted(set(names)))
        not_here = {row.name for row in self.rows if SHOWN_BY[row.shown_by] is None}
        self.assertEqual(set(names) - not_here, set(self.families))
        self.assertLessEqual(len(not_here), 2)

    def test_the_page_has_the_help_texts(self) -> None:
        for row in self.rows:
            family = self.families.get(row.name)
            if family is None:
                continue
            with self.subTest(row.name):
                self.assertEqual((row.type, row.labels, row.help),
                                 (family.type, family.label_names(), family.help))
                self.assertLessEqual(self.shown[row.name], set(SHOWN_BY[row.shown_by]))
                if row.shown_by == "every node":
                    self.assertEqual(self.shown[row.name], set(SHOWN_BY[row.shown_by]))

    def test_the_pages_units_are_those_of_the_names(self) -> None:
        for row in self.rows:
            for unit, ending in BASE_UNITS.items():
                self.assertEqual(row.unit == unit, ending in row.name, row.name)

    def test_the_dashboard_uses_existing_metrics(self) -> None:
        with open(DASHBOARD, encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        expressions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 50)
        for expression in expressions:
            with self.subTest(expression):
                self.assertEqual(expression_problems(expression, self.families), [])

    def test_the_dashboard_is_valid(self) -> None:
        with open(DASHBOARD, encoding="utf-8") as file:
            dashboard = json.load(file)
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {(place["x"] + x, place["y"] + y)
                     for x in range(place["w"])
                     for y in range(place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            self.assertLessEqual(place["x"] + place["w"], 24)
            taken |= cells
            for target in panel.get("targets", []):
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    self.assertRegex(target["expr"], rf"by \([^)]*\b{label}\b", panel["title"])

    def test_wrong_expressions_are_noticed(self) -> None:
        for wrong in (
                "sum (rate(search_answer_total[$__rate_interval]))",
                "sum by (klass) (rate(search_answers_total[$__rate_interval]))",
                'sum (rate(search_answers_total{outcome="good"}[$__rate_interval]))',
                'sum (rate(search_answers_total{result="complete"}[$__rate_interval]))',
                "sum (search_answers_total)", "sum (rate(search_gate_limit[$__rate_interval]))",
                "sum (rate(search_http_seconds[$__rate_interval]))", "sum (1)",
                "histogram_quantile(0.9, sum (rate(search_http_seconds_bucket[$__rate_interval])))"
        ):
            with self.subTest(wrong):
                self.assertNotEqual(expression_problems(wrong, self.families), [])


if __name__ == "__main__":
    unittest.main()
