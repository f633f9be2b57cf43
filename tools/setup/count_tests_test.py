"""Tests of count_tests.py: event files as Bazel writes them, and what is made of them."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import count_tests  # noqa: E402


def configured(label, is_test=True):
    size = {"testSize": "SMALL"} if is_test else {}
    return {"id": {"targetConfigured": {"label": label}}, "configured": size}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def result(label, xml_path):
    output = {"name": "test.xml", "uri": "file://" + xml_path.replace(" ", "%20")}
    return {
        "id": {"testResult": {"label": label}},
        "testResult": {"testActionOutput": [{"name": "test.log", "uri": "file:///x"}, output]},
    }


class CountTestsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def xml(self, name, cases):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write("<testsuites><testsuite name='S'>")
            for case, state in cases:
                out.write(f"<testcase classname='S' name='{case}' result='{state}'/>")
            out.write("</testsuite></testsuites>")
        return path

    def test_counts_targets_by_status(self):
        events = [configured("//a:1"), configured("//a:2"), configured("//a:lib", is_test=False),
                  summary("//a:1", "PASSED"), summary("//a:2", "TIMEOUT")]
        outcome = count_tests.outcome_of(events)
        self.assertEqual(outcome.passed, ["//a:1"])
        self.assertEqual(outcome.failed, {"//a:2": "timeout"})

    def test_a_target_without_result_failed(self):
        outcome = count_tests.outcome_of([configured("//a:1")])
        self.assertEqual(outcome.failed, {"//a:1": "no status"})

    def test_a_flaky_target_passed(self):
        self.assertEqual(count_tests.outcome_of([summary("//a:1", "FLAKY")]).passed, ["//a:1"])

    def test_a_target_with_all_cases_skipped_is_skipped(self):
        path = self.xml("all cases.xml", [("One", "skipped"), ("Two", "skipped")])
        outcome = count_tests.outcome_of([result("//a:1", path), summary("//a:1", "PASSED")])
        self.assertEqual((outcome.passed, outcome.skipped), ([], ["//a:1"]))

    def test_a_target_with_one_case_skipped_passed_and_names_it(self):
        path = self.xml("one.xml", [("One", "skipped"), ("Two", "completed")])
        outcome = count_tests.outcome_of([result("//a:1", path), summary("//a:1", "PASSED")])
        self.assertEqual(outcome.passed, ["//a:1"])
        self.assertEqual(outcome.skipped_cases, ["//a:1 S.One"])

    def test_a_damaged_result_file_counts_as_run(self):
        path = os.path.join(self.folder, "bad.xml")
        with open(path, "w", encoding="utf-8") as out:
            out.write("<testsuites>")
        outcome = count_tests.outcome_of([result("//a:1", path), summary("//a:1", "PASSED")])
        self.assertEqual(outcome.passed, ["//a:1"])

    def test_reads_events_up_to_a_line_that_is_cut_off(self):
        path = os.path.join(self.folder, "events.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(json.dumps(summary("//a:1", "PASSED")) + "\n" + '{"id": {"testSum')
        self.assertEqual(count_tests.outcome_of(count_tests.read_events(path)).passed, ["//a:1"])

    def test_no_test_at_all_is_no_success(self):
        path = os.path.join(self.folder, "events.json")
        with open(path, "w", encoding="utf-8"):
            pass
        self.assertEqual(count_tests.main([path]), 1)

    def test_what_else_failed_makes_the_status_a_failure(self):
        path = os.path.join(self.folder, "events.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(json.dumps(summary("//a:1", "PASSED")) + "\n")
        self.assertEqual(count_tests.main([path]), 0)
        self.assertEqual(count_tests.main(["--also_failed=the build", path]), 1)


if __name__ == "__main__":
    unittest.main()
