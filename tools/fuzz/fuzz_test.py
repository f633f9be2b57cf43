"""Tests of report.py, and of what fuzz.py does with a program that stands in for a fuzz target."""

import json
import os
import stat
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import fuzz  # noqa: E402
import report  # noqa: E402

LOG = """INFO: Running with entropic power schedule
#1024: cov: 10 ft: 12 corp: 3 exec/s: 512 oom/timeout/crash: 0/0/0 time: 2s job: 1 dft_time: 0
#4096: cov: 14 ft: 20 corp: 5 exec/s: 1024 oom/timeout/crash: 0/0/1 time: 4s job: 2 dft_time: 0
"""
LCOV = """SF:/tree/of/build/wire/frame.cc
DA:1,5
DA:2,0
DA:3,7
end_of_record
SF:/tree/of/build/other/xwire/frame.cc
DA:1,99
end_of_record
SF:/tree/of/build/wire/frame.cc
DA:2,1
end_of_record
"""


class ReportTest(unittest.TestCase):
    def test_progress_is_the_last_count_and_the_mean_rate(self):
        self.assertEqual(report.progress(LOG), report.Progress(4096, 768))
        self.assertEqual(report.progress("nothing ran"), report.Progress(0, 0))

    def test_lines_are_those_of_the_file_and_of_all_its_objects(self):
        counts = report.line_counts(LCOV, ["wire/frame.cc"])
        self.assertEqual(counts, {"wire/frame.cc": {1: 5, 2: 1, 3: 7}})
        self.assertEqual(str(report.share({1: 1, 2: 0, 3: 2, 4: 0})), "50 %")
        self.assertEqual(str(report.share({})), "-")

    def test_place_that_no_input_reaches_is_missed(self):
        sources = {"a.cc": "int f() {\n  return entry;\n}\n"}
        reaches = {"a.cc": "return entry;"}
        self.assertEqual(report.missed_places(reaches, sources, {"a.cc": {2: 3}}), [])
        self.assertEqual(report.missed_places(reaches, sources, {"a.cc": {1: 3, 2: 0}}), ["a.cc: return entry;"])
        self.assertEqual(report.missed_places(reaches, sources, {}), ["a.cc: return entry;"])
        self.assertEqual(report.missed_places({"a.cc": ""}, sources, {}), [])

    def test_small_inputs_are_kept_first_and_within_both_limits(self):
        new = {"large": 50, "small": 2, "middle": 9, "other": 9}
        self.assertEqual(report.worth_keeping(new, 20, 100), ["small", "middle", "other"])
        self.assertEqual(report.worth_keeping(new, 20, 11), ["small", "middle"])
        self.assertEqual(report.worth_keeping(new, 100, 1000), ["small", "middle", "other", "large"])
        self.assertEqual(report.worth_keeping(new, 100, -5), [])

    def test_failures_are_findings_missed_places_and_problems(self):
        self.assertEqual(report.Result("//a:b", findings=("slow-unit-1",)).failures(), [])
        self.assertEqual(len(report.Result("//a:b", findings=("crash-1", "oom-2"), missed=("a.cc: x",)).failures()), 3)
        self.assertEqual(report.Result("//a:b", problem="it is not built").failures(), ["//a:b: it is not built"])

    def test_table_has_a_row_for_each_target_and_the_sum(self):
        rows = report.table([report.Result("//a:b", 5, 12000, 40, 2, {"a/b.cc": report.Share(9, 10)}),
                             report.Result("//a:c", 5, 500, 7, 0, {}, ("a.cc: x",), ("crash-1",))]).split("\n")
        self.assertEqual(rows[2], "| `//a:b` | 5 | 12,000 | 40 | 2 | `b.cc` 90 % | none |")
        self.assertEqual(rows[3], "| `//a:c` | 5 | 500 | 7 | 0 | - | crash-1, misses `a.cc: x` |")
        self.assertEqual(rows[4], "| 2 targets | 10 | 12,500 | | 2 | | 2 |")


# Stands in for a target: says what a run of libFuzzer says, finds one input that merging keeps, and crashes on one.
STAND_IN = """#!/bin/bash
echo "$* stack=$(ulimit -s)" >>calls
for last; do :; done
case "$*" in
  *-merge=1*) set -- "$@"; out="${@: -2:1}"; printf new >"$out/0123456789abcdef0123456789abcdef01234567" ;;
  *-fork=1*)
    echo "#100: cov: 1 ft: 1 corp: 1 exec/s: 50 oom/timeout/crash: 0/0/1 time: 1s job: 1" >&2
    printf bad >findings/crash-1 ;;
  *-runs=0*) exit 1 ;;
esac
"""


class FuzzTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.addCleanup(setattr, fuzz, "TREE", fuzz.TREE)
        fuzz.TREE = os.path.join(self.folder, "tree")
        os.makedirs(os.path.join(fuzz.TREE, "a"))
        self.write("tree/a/parser.cc", "return entry;\n")
        self.write("bin/a/t", STAND_IN)
        self.write("bin/a/t.runfiles/main/a/testdata/seed", "seed")
        self.write("bin/a/t.runfiles/main/a/t", "the program")
        self.write("bin/a/t.runfiles/main/neptune/libneptune.so", "a library")
        os.chmod(os.path.join(self.folder, "bin/a/t"), stat.S_IRWXU)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_target(self, minutes=1.0, keeps=True, label="//a:t"):
        row = {"reaches": {"a/parser.cc": "return entry;"}, "keep": "a/testdata"}
        options = fuzz.Options(minutes, 1, os.path.join(self.folder, "out"), 512, 4096, keeps)
        return fuzz.Target(label, row, os.path.join(self.folder, "bin"), options).run()

    def calls(self):
        return fuzz.text_of(os.path.join(self.folder, "out/a/t/calls")).split("\n")

    def test_result_has_what_the_run_has_shown(self):
        result = self.run_target()
        self.assertEqual((result.runs, result.rate, result.kept, result.findings), (100, 50, 1, ("crash-1",)))
        self.assertEqual(result.problem, "its inputs fail; see lines.log")
        kept = os.listdir(os.path.join(fuzz.TREE, "a/testdata"))
        self.assertEqual(kept, ["0123456789abcdef"])

    def test_seeds_are_the_corpus_alone(self):
        self.run_target()
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "out/a/t/seeds"))), 1)

    def test_target_has_the_stack_of_production(self):
        self.run_target()
        self.assertTrue(all(call.endswith("stack=512") for call in self.calls() if call))

    def test_second_run_adds_the_minutes_that_are_missing(self):
        self.run_target(1.0)
        self.run_target(1.0)
        self.assertEqual(sum("-fork=1" in call for call in self.calls()), 1)
        self.assertEqual(self.run_target(1.5).runs, 200)
        self.assertTrue(any("-max_total_time=30 " in call for call in self.calls()))

    def test_tree_is_left_alone_if_wanted(self):
        self.assertEqual(self.run_target(keeps=False).kept, 0)
        self.assertFalse(os.path.exists(os.path.join(fuzz.TREE, "a/testdata")))

    def test_target_without_a_program_is_a_problem(self):
        self.assertEqual(self.run_target(label="//a:absent").problem, "it is not built")

    def test_targets_are_chosen_by_their_label(self):
        registry = {"targets": {"//b:x": {}, "//a:y": {}}}
        self.assertEqual(list(fuzz.chosen(registry, "")), ["//a:y", "//b:x"])
        self.assertEqual(list(fuzz.chosen(registry, "x$")), ["//b:x"])

    def test_registry_names_places_that_exist(self):
        tree = os.path.dirname(os.path.dirname(HERE))
        rows = json.loads(fuzz.text_of(fuzz.REGISTRY))["targets"]
        for label, row in rows.items():
            self.assertTrue(row["reaches"], label)
            for path, text in row["reaches"].items():
                self.assertIn(text, fuzz.text_of(os.path.join(tree, path)), f"{label} {path}")


if __name__ == "__main__":
    unittest.main()
