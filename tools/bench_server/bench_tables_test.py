"""The pure parts: lines and verdicts, tables, specs, questions, rates, requests, descriptions."""

import os
import unittest

import lines
import questions
import servers
import spec_text
import table
from lines import ONE, SIX, Line, Place, judge
from rate_search import RateSearch
from redis_pipe import redis_request
from servers import Described

LOW = Place("low", "cpu_s_per_1000")
SPEC = '''name: "dev"
multicast_group: "239.192.7.1:7400"
services {
  name: "cache"
  module: "query_cache"
  partition_count: 2
}
services {
  name: "frontend"
  module: "frontend"
  parameters { key: "cache_partitions" value: "2" }
  parameters { key: "spelling" value: "true" }
}
nodes {
  name: "web-1"
  hosts { service: "cache" }
  hosts {
    service: "frontend"
    parameters { key: "http_port" value: "8080" }
  }
}
'''


def measured(server, values, row="low", variant="plain", figure="cpu_s_per_1000"):
    return [{"row": row, "server": server, "variant": variant, "round": number, "figures": {figure: value}}
            for number, value in enumerate(values)]


class LinesTest(unittest.TestCase):
    line = Line("cost", ONE, LOW, True, .5, peer=LOW)

    def test_the_best_peer_of_the_row_is_compared(self):
        found = judge(measured(ONE, [1]) + measured("slow", [9]) + measured("fast", [4]), self.line)
        self.assertEqual((found.other_server, found.other, found.verdict), ("fast", 4, "met"))

    def test_every_round_must_reach_the_line(self):
        peer = measured("peer", [2, 2, 2])
        self.assertEqual(judge(measured(ONE, [.9, 1, .8]) + peer, self.line).verdict, "met")
        self.assertEqual(judge(measured(ONE, [.9, 1.1, .8]) + peer, self.line).verdict, "open")
        self.assertEqual(judge(measured(ONE, [1.1, 1.2, 1.3]) + peer, self.line).verdict, "missed")

    def test_rounds_are_compared_with_each_other(self):
        found = judge(measured(ONE, [1, 2]) + measured("peer", [2, 5]), self.line)
        self.assertEqual(found.ratios, [.5, .4])
        self.assertEqual((found.ours, found.other), (1, 2))

    def test_without_a_peer_nothing_is_claimed(self):
        self.assertEqual(judge(measured(ONE, [1]), self.line).verdict, "not measured")
        self.assertEqual(judge(measured("peer", [1]), self.line).verdict, "not measured")

    def test_the_default_cluster_is_compared_with_one_process(self):
        line = next(one for one in lines.LINES if one.title == "default cluster against one process")
        found = judge(measured(ONE, [2]) + measured(SIX, [3.2]) + measured("peer", [1]), line)
        self.assertEqual((found.other_server, found.ratios, found.verdict), (ONE, [1.6], "missed"))

    def test_a_bound_without_another_figure_is_the_figure_itself(self):
        line = next(one for one in lines.LINES if one.title == "64 connections: refused or failed")
        lost = measured(ONE, [0, 0], row="closed_64", figure="lost")
        self.assertEqual(judge(lost, line).verdict, "met")
        lost += [{**lost[0], "round": 2, "figures": {"lost": 3}}]
        self.assertEqual(judge(lost, line).verdict, "open")

    def test_larger_is_better_where_the_line_is_a_least_one(self):
        line = Line("rate", ONE, Place("max_rate", "rate"), False, 4, peer=Place("max_rate", "rate"))
        rates = measured(ONE, [900], row="max_rate", figure="rate")
        for name, value in (("a", 200), ("b", 300)):
            rates += measured(name, [value], row="max_rate", figure="rate")
        found = judge(rates, line)
        self.assertEqual((found.other_server, found.ratios, found.verdict), ("b", [3], "missed"))

    def test_every_line_names_a_figure_once(self):
        keys = [(one.title, one.server) for one in lines.LINES]
        self.assertEqual(len(keys), len(set(keys)))


class TableTest(unittest.TestCase):
    def test_lines_have_their_bound_ratio_and_verdict(self):
        text = table.lines_table(measured(ONE, [.5, .6]) + measured("tantivy", [3, 3]))
        self.assertIn("| processor s per 1,000 answers | ours_one | <= 0.2 x | 0.5 | 3 (tantivy) | 0.167 to 0.2 | met |",
                      text)
        self.assertIn("not measured", text)

    def test_figures_have_a_column_for_each_server_ours_first(self):
        text = table.figures_table(measured("groonga", [3]) + measured(ONE, [2, 1]))
        self.assertEqual(text.split("\n")[0], f"| best round | {ONE} | groonga |")
        self.assertIn("| processor s per 1,000 | 1 | 3 |", text)

    def test_numbers_are_short(self):
        self.assertEqual([table.number(value) for value in (None, 0, .01234, 12.345, 12345.6)],
                         ["-", "0", "0.0123", "12.3", "12,346"])


class SpecTextTest(unittest.TestCase):
    def test_name_group_and_ports_change(self):
        text = spec_text.with_identity(spec_text.with_http_ports(SPEC, [9001]), "bench", "239.1.1.1:9")
        self.assertIn('name: "bench"', text)
        self.assertIn('multicast_group: "239.1.1.1:9"', text)
        self.assertIn('key: "http_port" value: "9001"', text)
        self.assertIn('name: "web-1"', text)
        self.assertEqual(spec_text.http_port_count(SPEC), 1)

    def test_without_the_cache_nothing_mentions_it(self):
        text = spec_text.without_cache(SPEC)
        self.assertNotIn('"cache"', text)
        self.assertIn('key: "cache_partitions" value: "0"', text)

    def test_parameters_are_added_or_replaced(self):
        text = spec_text.with_frontend_parameters(SPEC, {"spelling": "false", "trace_share": "0"})
        self.assertIn('key: "spelling" value: "false"', text)
        self.assertNotIn('key: "spelling" value: "true"', text)
        self.assertIn('  parameters { key: "trace_share" value: "0" }\n}\n', text)
        with self.assertRaises(ValueError):
            spec_text.with_frontend_parameters("", {"a": "b"})


class QuestionsTest(unittest.TestCase):
    def test_candidates_are_distinct_words_in_an_order_of_the_seed(self):
        asked = ["The World  War", "world war", "cats NEAR dogs", "of the", "x " * 20] + [f"word {i}" for i in range(50)]
        found = questions.candidates(asked)
        self.assertEqual(len(found), 51)
        self.assertIn("world war", found)
        self.assertEqual(found, questions.candidates(asked))
        self.assertNotEqual(found, questions.candidates(asked, seed=8))

    def test_only_queries_that_find_something_are_kept(self):
        self.assertEqual(questions.keep_found("abcabd", lambda query: query != "b", 3), ["a", "c", "a"])

    def test_heavy_queries_differ_and_have_nearly_all_words(self):
        words = questions.common_words(['{"text": "The red red fox"}', '{"text": "A red dog"}'])
        self.assertEqual(words[0], "red")
        self.assertEqual(set(words), {"red", "fox", "dog"})
        lists = questions.heavy_word_lists([f"w{i}" for i in range(300)])
        self.assertEqual(len({" ".join(one) for one in lists}), len(lists))
        self.assertTrue(all(len(set(one)) == 299 for one in lists))


class RateSearchTest(unittest.TestCase):
    def found(self, start, limit, **options):
        search = RateSearch(start, **options)
        trials = 0
        while (rate := search.next_rate()) is not None:
            search.record(rate <= limit)
            trials += 1
        return search.met, trials

    def test_finds_the_highest_rate_from_below_and_above(self):
        for start in (10, 100, 1000):
            met, _ = self.found(start, 137, trial_max=40)
            self.assertLessEqual(met, 137)
            self.assertGreater(met, 137 / 1.06)

    def test_ends_after_its_trials(self):
        self.assertEqual(self.found(100, -1, trial_max=5), (None, 5))
        self.assertEqual(self.found(1, 1e9, trial_max=3)[1], 3)


class RequestsTest(unittest.TestCase):
    def test_requests_are_what_goes_over_the_connection(self):
        self.assertEqual(servers.http_request(80, "/a?q=b"), b"GET /a?q=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n")
        self.assertTrue(servers.http_request(80, "/a", body="{}").startswith(b"POST /a HTTP/1.1\r\n"))
        self.assertTrue(servers.http_request(80, "/a", body="\u00e9").endswith(b"Content-Length: 2\r\n\r\n\xc3\xa9"))
        self.assertEqual(redis_request("A", "\u00e9"), b"*2\r\n$1\r\nA\r\n$2\r\n\xc3\xa9\r\n")


class DescribedTest(unittest.TestCase):
    description = {"name": "peer", "port": 9301, "start": ["peer", "serve"], "start_cached": ["peer", "--cache"],
                   "path": "/search?q={query}", "path_bare": "/search?snippet=0&q={query}", "whole": "\"hits\":[{"}

    def test_variants_follow_from_the_description(self):
        peer = Described(servers.Place("", 0), self.description)
        self.assertEqual(peer.variants, ("plain", "bare", "cached"))
        self.assertEqual(peer.argv("cached"), ["peer", "--cache"])
        self.assertIn(b"/search?q=a+b HTTP", peer.request("a b", "plain"))
        self.assertIn(b"snippet=0&q=a+b HTTP", peer.request("a b", "bare"))
        self.assertTrue(peer.is_whole(b'{"hits":[{}]}'))
        self.assertFalse(peer.is_whole(b'{"hits":[]}'))

    def test_queries_in_a_body_are_json(self):
        peer = Described(servers.Place("", 0), {**self.description, "body": '{"query": "{query}"}'})
        self.assertTrue(peer.request('a "b"', "plain").endswith(b'{"query": "a \\"b\\""}'))

    def test_a_wrong_description_is_refused(self):
        for change in ({"pathh": ""}, {}):
            wrong = {**self.description, **change}
            if not change:
                del wrong["whole"]
            with self.assertRaises(ValueError):
                Described(servers.Place("", 0), wrong)

    def test_our_adapters_know_what_is_whole(self):
        ours = servers.Ours(servers.Place(os.curdir, 1), ONE, "", {}, (1, 1))
        self.assertTrue(ours.is_whole(b'{"results":[{}],"partial":false}'))
        self.assertFalse(ours.is_whole(b'{"results":[{}],"partial":true}'))
        self.assertFalse(ours.is_whole(b'{"results":[],"partial":false}'))
        groonga = servers.Groonga(servers.Place("", 1))
        self.assertTrue(groonga.is_whole(b'[[0,1,2],[[[5],[["_key"]],["a"]]]]'))
        self.assertFalse(groonga.is_whole(b'[[0,1,2],[[[0],[["_key"]]]]]'))
        redis = servers.RediSearch(servers.Place("", 1))
        self.assertTrue(redis.is_whole(b"*3\r\n:1\r\n"))
        self.assertFalse(redis.is_whole(b"*1\r\n:0\r\n"))


if __name__ == "__main__":
    unittest.main()
