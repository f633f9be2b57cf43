"""Tests of mutate.py: lists that do not fit, and what a mutation changes; and that the real list fits the tree."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))  # in the source tree, whose files the list names
sys.path.insert(0, HERE)

import mutate  # noqa: E402


def mutation(**changes):
    one = {"name": "n", "area": "lane", "file": "a/b.cc", "before": "  return x;", "after": "  return y;",
           "test": "//a:b_test"}
    one.update(changes)
    return one


class MutateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name
        os.makedirs(os.path.join(self.tree, "a"))
        self.write("a/b.cc", "int f() {\n  return x;\n}\n  twice;\n  twice;\n")
        self.write("a/BUILD", 'neptune_test(\n    name = "b_test",\n)\n')

    def write(self, name, text):
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as out:
            out.write(text)

    def errors(self, *mutations):
        return mutate.list_errors(list(mutations), self.tree)

    def test_list_that_fits(self):
        self.assertEqual(self.errors(mutation()), [])

    def test_lines_that_are_gone_or_not_unique(self):
        self.assertEqual(self.errors(mutation(before="gone")), ["n: its line occurs 0 times in a/b.cc"])
        self.assertEqual(self.errors(mutation(before="  twice;")), ["n: its line occurs 2 times in a/b.cc"])

    def test_files_tests_and_areas_that_do_not_exist(self):
        self.assertEqual(self.errors(mutation(file="a/c.cc")), ["n: a/c.cc does not exist"])
        self.assertEqual(self.errors(mutation(test="//a:c_test")), ["n: //a:c_test does not exist"])
        self.assertEqual(self.errors(mutation(test="//c:c_test")), ["n: //c:c_test does not exist"])
        self.assertEqual(self.errors(mutation(area="moon")), ["n: no area is called moon"])

    def test_lists_that_are_wrong(self):
        self.assertEqual(self.errors({"name": "n"}), ["n: no area, file, before, after, test"])
        self.assertEqual(self.errors(mutation(), mutation()), ["n: the name occurs twice"])
        self.assertEqual(self.errors(mutation(after="  return x;")), ["n: it changes nothing"])

    def test_mutation_changes_its_line_only(self):
        self.assertEqual(mutate.mutated("a\n  return x;\n  return x;b\n", mutation()),
                         "a\n  return y;\n  return x;b\n")

    def test_chosen_by_area_and_name(self):
        both = [mutation(), mutation(name="m", area="agent")]
        self.assertEqual(mutate.chosen(both, ["agent"], []), [both[1]])
        self.assertEqual(mutate.chosen(both, [], ["n"]), [both[0]])
        with self.assertRaises(ValueError):
            mutate.chosen(both, ["moon"], [])

    def test_verdicts(self):
        self.assertEqual(mutate.verdict(3), "found")
        self.assertEqual(mutate.verdict(0), "NOT FOUND")
        self.assertEqual(mutate.verdict(1), "does not build")

    def test_the_real_list_fits_the_tree(self):
        tree = os.path.dirname(os.path.dirname(HERE))
        mutations = mutate.read_list(os.path.join(HERE, "mutations.json"))
        self.assertEqual(mutate.list_errors(mutations, tree), [])
        self.assertEqual({one["area"] for one in mutations}, set(mutate.AREAS))


if __name__ == "__main__":
    unittest.main()
