"""The pure parts: answers, damage, bytes of HTTP, the table of probes, rows, report, changes of specs."""

import json
import os
import random
import sys
import tempfile
import unittest

sys.argv = sys.argv[:1]

import answers
import client_actor
import damage
import http_probes
import member_actor
import neighbour_actor
import report
import request_actor
import rows
import target
from answers import RIGHT, SAID, WRONG, Reply
from bystander import Seen
from http_answer import take, take_all

SEARCH = {"query": "a", "took_ms": 1.5, "total": 2, "partial": False, "coverage": {"complete": True, "quality": 1},
          "results": [{"id": "1", "title": "one", "has_summary": True}, {"id": "2", "title": "two", "has_summary": True}]}


def reply(value, status=200, **headers):
    return Reply(status, value if isinstance(value, bytes) else json.dumps(value).encode(), headers)


def changed(**members):
    return {**SEARCH, **members}


class AnswersTest(unittest.TestCase):
    expected = json.dumps(SEARCH).encode()

    def judge(self, value, **options):
        return answers.judge(self.expected, reply(value, **options))

    def test_what_varies_is_not_compared(self):
        self.assertEqual(self.judge(changed(took_ms=9, coverage={"complete": True, "quality": .5})), RIGHT)

    def test_another_result_or_total_is_wrong(self):
        self.assertEqual(self.judge(changed(total=3)), WRONG)
        self.assertEqual(self.judge(changed(results=SEARCH["results"][::-1])), WRONG)
        self.assertEqual(self.judge(changed(results=[])), WRONG)
        self.assertEqual(self.judge(b"not JSON"), WRONG)

    def test_an_answer_may_say_that_it_is_not_whole(self):
        self.assertEqual(self.judge(changed(total=0, results=[], partial=True)), SAID)
        self.assertEqual(self.judge(changed(total=0, coverage={"complete": False})), SAID)
        self.assertEqual(self.judge({"type": "about:blank"}, status=503), SAID)
        self.assertEqual(self.judge(b"", status=0), SAID)

    def test_a_result_may_say_that_its_document_is_lost_and_nothing_else_may_differ(self):
        lost = {"id": "1", "title": "", "has_summary": False}
        self.assertEqual(self.judge(changed(results=[lost, SEARCH["results"][1]])), SAID)
        self.assertEqual(self.judge(changed(results=[lost, {"id": "3", "title": "x", "has_summary": True}])), WRONG)
        self.assertEqual(self.judge(changed(results=[lost])), WRONG)
        self.assertEqual(self.judge(changed(total=7, results=[lost, SEARCH["results"][1]])), WRONG)

    def test_completions_say_it_by_their_header(self):
        whole, less = b'["mu",["mutex","mutt"]]', b'["mu",["mutex"]]'
        self.assertEqual(answers.judge(whole, reply(whole)), RIGHT)
        self.assertEqual(answers.judge(whole, reply(less)), WRONG)
        self.assertEqual(answers.judge(whole, reply(less, **{"cache-control": "no-store"})), SAID)

    def test_the_difference_names_its_place(self):
        text = answers.difference(self.expected, reply(changed(results=[SEARCH["results"][0], {**SEARCH["results"][1], "title": "x"}])))
        self.assertIn("results.1.title", text)


class DamageTest(unittest.TestCase):
    def test_kinds_of_files(self):
        for path, kind in (("tier1/0/segment", "segment tier: segment"), ("docs/3/000008.sst", "rocksdb documents: sst"),
                           ("docs.flat_file/0/urls", "flat_file: urls"),
                           ("tier2.rocksdb_postings/1/MANIFEST-000012", "rocksdb_postings: MANIFEST"),
                           ("docs/0/LOCK", ""), ("docs/0/OPTIONS-000007", ""), ("manifest.json", ""), ("synonyms", "")):
            self.assertEqual(damage.kind_of(path), kind, path)

    def test_a_change_changes_something_within_the_file(self):
        rng, contents = random.Random(1), bytes(range(250)) * 3
        smears = 0
        for _ in range(2000):
            one = damage.draw_change(rng, "f", contents)
            self.assertEqual(contents[one.offset:one.offset + len(one.before)], one.before)
            self.assertEqual(len(one.after), len(one.before))
            self.assertNotEqual(one.before, one.after)
            smears += len(one.before) > 1
        self.assertTrue(500 < smears < 1500, smears)
        self.assertEqual(len(damage.draw_change(rng, "f", b"x").after), 1)

    def test_a_round_damages_each_partition_once(self):
        files = {"a": ["tier1/0/a", "tier1/1/a", "docs/0/a"], "b": ["tier1/0/b"]}
        drawn = damage.draw_round(random.Random(2), files)
        self.assertEqual(sorted(map(damage.partition_of, drawn)), ["docs/0", "tier1/0", "tier1/1"])
        seen = {path for seed in range(50) for path in damage.draw_round(random.Random(seed), files)}
        self.assertEqual(seen, {"tier1/0/a", "tier1/0/b", "tier1/1/a", "docs/0/a"})

    def test_a_seed_repeats_a_run(self):
        draw = lambda seed: [damage.draw_change(random.Random(seed), "f", b"abcdef" * 90) for _ in range(3)]
        self.assertEqual(draw(7), draw(7))
        self.assertNotEqual(draw(7), draw(8))

    def test_cuts_are_shorter_than_the_file(self):
        self.assertEqual(damage.cuts(1000), [0, 100, 500, 999])
        self.assertEqual(damage.cuts(1), [0])

    def test_served_files_are_found_by_kind(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (("tier1/0/segment", "x"), ("tier1/0/LOCK", "x"), ("tier1/1/segment", "x"), ("tier1/1/titles", "")):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="ascii") as file:
                    file.write(text)
            self.assertEqual(damage.served_files(root, ["tier1"]),
                             {"segment tier: segment": ["tier1/0/segment", "tier1/1/segment"]})


class HttpAnswerTest(unittest.TestCase):
    def test_answers_are_taken_one_by_one(self):
        data = (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nAllow: GET\r\n\r\nab"
                b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n1;x\r\nc\r\n0\r\n\r\nHTTP/1.1 204 \r\n\r\n")
        found = take_all(data)
        self.assertEqual([one.status for one in found], [100, 200, 404, 204])
        self.assertEqual([one.body for one in found], [b"", b"ab", b"c", b""])
        self.assertEqual(found[1].headers["allow"], "GET")
        for size in range(len(data)):
            take_all(data[:size])  # never more than there is

    def test_an_unfinished_answer_is_none_and_other_bytes_an_error(self):
        self.assertIsNone(take(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"))
        self.assertIsNone(take(b"HTTP/1.1 200 OK\r\n\r\nab"))
        self.assertEqual(take(b"HTTP/1.1 200 OK\r\n\r\nab", has_ended=True)[0].body, b"ab")
        self.assertRaises(ValueError, take, b"<html>\r\n\r\n")

    def test_the_answer_to_head_has_no_body(self):
        found = take_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", head_first=True)
        self.assertEqual([one.body for one in found], [b"", b"x"])


class ProbesTest(unittest.TestCase):
    @staticmethod
    def probe(rule):
        return next(one for one in http_probes.PROBES if rule in one.rule)

    @staticmethod
    def answers(*statuses, **headers):
        return [take(b"HTTP/1.1 %d x\r\nContent-Length: 0\r\n" % status + b"".join(
            f"{name}: {value}\r\n".encode() for name, value in headers.items()) + b"\r\n")[0] for status in statuses]

    def test_the_table_is_whole(self):
        rules = [one.rule for one in http_probes.PROBES]
        self.assertEqual(len(set(rules)), len(rules))
        self.assertGreaterEqual(len(rules), 80)
        for one in http_probes.PROBES:
            self.assertRegex(one.rule, r"^(9110|9112|3986) [\d.]+: ")
            self.assertTrue(one.permitted, one.rule)
            self.assertNotIn(b"{", http_probes.filled(one.request, "/p", "/q", "h"), one.rule)

    def test_a_refused_request_must_be_the_last(self):
        probe = self.probe("no Host (MUST be 400)")
        self.assertEqual(http_probes.judge(probe, self.answers(400)), "")
        self.assertEqual(http_probes.judge(probe, self.answers(200)), "answered 200")
        self.assertEqual(http_probes.judge(probe, self.answers(400, 200)), "what follows was answered")
        self.assertEqual(http_probes.judge(probe, []), "no answer")

    def test_what_follows_a_good_request_must_be_answered(self):
        probe = self.probe("9112 3: a request")
        self.assertEqual(http_probes.judge(probe, self.answers(200, 200)), "")
        self.assertEqual(http_probes.judge(probe, self.answers(200)), "what follows was not answered")
        self.assertEqual(http_probes.judge(probe, self.answers(200, 400)), "what follows was answered 400")
        self.assertEqual(http_probes.judge(probe, self.answers(200, 200, 200)), "3 answers to two requests")

    def test_405_names_what_is_allowed(self):
        probe = self.probe("405 MUST have Allow")
        self.assertEqual(http_probes.judge(probe, self.answers(405, Allow="GET")), "")
        self.assertEqual(http_probes.judge(probe, self.answers(405)), "405 without allow")


class RowsTest(unittest.TestCase):
    def test_nothing_is_held_that_was_not_tried(self):
        self.assertEqual(rows.counted("disk", "a", 0, "t", "l", []).verdict, rows.NOT_MEASURED)
        self.assertEqual(rows.counted("disk", "a", 3, "t", "l", []).verdict, rows.HELD)
        self.assertEqual(rows.counted("disk", "a", 3, "t", "l", ["x"]).verdict, rows.NOT_HELD)
        self.assertEqual(rows.bounded("disk", "a", "t", "l", None, 1, "no").verdict, rows.NOT_MEASURED)
        self.assertEqual(rows.bounded("disk", "a", "t", "l", 1, 1, "1").verdict, rows.HELD)
        self.assertEqual(rows.bounded("disk", "a", "t", "l", 1.1, 1, "1").verdict, rows.NOT_HELD)

    def test_status(self):
        held, missed = rows.judged("disk", "a", "t", "l", "f", True), rows.judged("disk", "b", "t", "l", "f", False)
        nothing, limit = rows.not_measured("disk", "c", "l", "why"), rows.known_limit("disk", "d", "t", "l", "f")
        self.assertEqual(rows.exit_status([held, nothing, limit]), 0)
        self.assertEqual(rows.exit_status([held, missed]), 1)
        self.assertEqual(rows.exit_status([nothing]), 1)
        self.assertEqual(rows.exit_status([]), 1)

    def test_the_report_has_a_section_for_each_actor(self):
        found = [rows.judged("http", "a|b", "t", "l", "f", False), rows.judged("disk", "c", "t", "l", "f", True)]
        text = report.markdown(found, 7, "attack")
        self.assertLess(text.index("## disk"), text.index("## http"))
        self.assertIn("| a\\|b | t | l | f | **NOT HELD** |", text)
        self.assertIn("seed 7: 1 held, 1 NOT HELD, 0 not measured, 0 known limit", text)
        self.assertEqual(json.loads(report.as_json(found, 7, "attack"))["rows"][1]["verdict"], "held")


class FiguresTest(unittest.TestCase):
    def test_questions_without_an_answer_count_as_the_slowest(self):
        self.assertEqual(Seen([1.0] * 99 + [7.0], 0).quantile(.99), 7.0)
        self.assertEqual(Seen([1.0] * 100, 0).quantile(.99), 1.0)
        self.assertEqual(Seen([1.0] * 90, 10).quantile(.99), float("inf"))
        self.assertEqual(Seen([], 0).quantile(.99), float("inf"))

    def test_latency_is_held_to_the_larger_quiet_time(self):
        verdict = lambda quiet, during, failures=0: client_actor.latency_row("a", "t", quiet, during, failures, 1).verdict
        self.assertEqual(verdict([10, 8], 15), rows.HELD)
        self.assertEqual(verdict([10, 8], 15.1), rows.NOT_HELD)
        self.assertEqual(verdict([10, 8], 9, failures=1), rows.NOT_HELD)
        self.assertEqual(verdict([1, 1], 1.9), rows.HELD)
        self.assertEqual(verdict([1, 40], 20), rows.NOT_MEASURED)
        self.assertEqual(verdict([1, float("inf")], 20), rows.NOT_MEASURED)

    def test_memory_of_a_dead_node_is_not_held(self):
        self.assertEqual(client_actor.memory_row("a", "t", 5, []).verdict, rows.HELD)
        self.assertEqual(client_actor.memory_row("a", "t", 500, []).verdict, rows.NOT_HELD)
        self.assertEqual(client_actor.memory_row("a", "t", float("nan"), ["all"]).verdict, rows.NOT_HELD)

    def test_the_least_figures_of_a_request_count(self):
        cost = request_actor.Cost
        request = request_actor.Request("r", "t", lambda _: 200)
        verdicts = lambda costs, quiet, statuses=(200,): [
            row.verdict for row in request_actor.rows_of(request, costs, list(statuses), quiet, [])]
        quiet = cost(.01, 0, 1)
        self.assertEqual(verdicts([cost(2, 70, 9), cost(.5, 10, 4)], quiet), [rows.HELD, rows.HELD])
        self.assertEqual(verdicts([cost(2, 10, 9)], quiet), [rows.NOT_HELD, rows.NOT_HELD])
        self.assertEqual(verdicts([cost(.1, 10, 9)], cost(0, 0, 6)), [rows.HELD, rows.NOT_MEASURED])
        self.assertEqual(verdicts([cost(.1, 10, 1)], quiet, (0,))[0], rows.NOT_HELD)


class SpecsTest(unittest.TestCase):
    SPEC = '''services {
  name: "tier1"
  module: "index_tier"
  partition_count: 4
}
services {
  name: "docs"
  module: "document_server"
  parameters { key: "path" value: "docs" }
}
services {
  name: "frontend"
  module: "frontend"
  parameters { key: "tier1_partitions" value: "4" }
}
nodes {
  name: "a"
  hosts { service: "tier1" }
}
'''

    def test_partitions(self):
        self.assertEqual(target.partition_counts(self.SPEC), {"tier1": 4, "docs": 1, "frontend": 1})
        text = target.with_partitions(self.SPEC, 7)
        self.assertEqual(target.partition_counts(text), {"tier1": 7, "docs": 7, "frontend": 1})
        self.assertIn('"docs_partitions" value: "7"', text)

    def test_fields_and_parameters(self):
        self.assertIn('nodes {\n  name: "a"\n  memory_budget_mib: 64\n', target.with_node_field(self.SPEC, "memory_budget_mib: 64"))
        self.assertIn('module: "document_server"\n  parameters { key: "k" value: "v" }\n',
                      target.with_service_parameters(self.SPEC, ["docs"], {"k": "v"}))

    def test_datagrams_have_broken_forms_of_what_was_recorded(self):
        recorded = b"n" * 100
        found = neighbour_actor.datagrams(random.Random(1), [recorded])
        self.assertIn(recorded[:-17], found)
        self.assertNotIn(recorded, found)
        self.assertIn(b"", found)


class MemberTest(unittest.TestCase):
    def test_an_answer_of_the_cache_says_so(self):
        self.assertTrue(member_actor.is_from_cache({"coverage": {"cache": {"hit": True}}}))
        self.assertFalse(member_actor.is_from_cache({"coverage": {"cache": {"hit": False}}}))
        self.assertFalse(member_actor.is_from_cache({}))


if __name__ == "__main__":
    unittest.main()
