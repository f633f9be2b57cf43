"""The SPDX document: pure parts, and the one that the build made.

    sbom_test.py SBOM VERSION_HEADER LIST
"""

import json
import re
import sys
import unittest

import sbom

MADE, HEADER, LIST = sys.argv[1:4]
del sys.argv[1:]


def text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


class PartsTest(unittest.TestCase):
    def test_names(self):
        self.assertEqual(sbom.names_of("# a list\nb\na # why\n\nb\n"), ["a", "b"])

    def test_only_installed_packages_have_versions(self):
        listing = "installed a 1.2-3 amd64\nconfig-files b 1 amd64\nnot-installed c  \n"
        self.assertEqual(sbom.installed_of(listing), {"a": ["1.2-3", "amd64"]})

    def test_a_missing_package_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "not installed: b"):
            sbom.document("1.0.0", ["a", "b"], {"a": ["1", "all"]})

    def test_equal_packages_give_an_equal_document_and_others_another_name(self):
        make = lambda version: sbom.document("1.0.0", ["g++"], {"g++": [version, "amd64"]})
        self.assertEqual(make("1"), make("1"))
        self.assertNotEqual(make("1")["documentNamespace"], make("2")["documentNamespace"])
        self.assertRegex(make("1:2+3")["packages"][1]["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
        self.assertIn("pkg:deb/debian/g%2B%2B@1%3A2%2B3?arch=amd64", json.dumps(make("1:2+3")))


class MadeTest(unittest.TestCase):
    def setUp(self):
        self.made = json.loads(text_of(MADE))

    def test_it_has_the_fields_that_the_format_requires(self):
        for field in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
            self.assertTrue(self.made[field], field)
        for package in self.made["packages"]:
            for field in ("SPDXID", "name", "downloadLocation"):
                self.assertTrue(package[field], package)
        identifiers = [package["SPDXID"] for package in self.made["packages"]] + [self.made["SPDXID"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for relation in self.made["relationships"]:
            self.assertIn(relation["spdxElementId"], identifiers)
            self.assertIn(relation["relatedSpdxElement"], identifiers)

    def test_it_has_the_project_and_each_package_of_the_list_with_its_version(self):
        versions = {package["name"]: package["versionInfo"] for package in self.made["packages"]}
        self.assertEqual(versions.pop("neptune-search"), re.search(r'kVersion\[\] = "([^"]+)"', text_of(HEADER))[1])
        self.assertEqual(sorted(versions), sbom.names_of(text_of(LIST)))
        self.assertTrue(all(re.match(r"\d", version) for version in versions.values()), versions)


if __name__ == "__main__":
    unittest.main()
