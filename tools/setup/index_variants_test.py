"""Tests of index_variants.py on manifests as //tools:build_index writes them."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import index_variants  # noqa: E402


def part(name, implementation):
    return {"name": name, "implementation": implementation, "partitions": []}


class IndexVariantsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def options(self, text):
        with open(os.path.join(self.folder, "manifest.json"), "w", encoding="utf-8") as out:
            out.write(text)
        return index_variants.options(self.folder)

    def test_names_every_variant_the_default_first(self):
        parts = [part("tier1.other", "other"), part("tier1", "segment"), part("tier2", "segment"),
                 part("docs", "rocksdb"), part("docs.flat_file", "flat_file")]
        self.assertEqual(self.options(json.dumps({"parts": parts})),
                         ["--index_tiers=segment,other", "--document_stores=rocksdb,flat_file"])

    def test_no_index_has_no_variants(self):
        self.assertEqual(index_variants.options(self.folder), [])

    def test_a_damaged_manifest_has_no_variants(self):
        for text in ("", "{", "[]", '{"parts": 1}', '{"parts": [{"name": "tier1"}]}'):
            self.assertEqual(self.options(text), [], text)


if __name__ == "__main__":
    unittest.main()
