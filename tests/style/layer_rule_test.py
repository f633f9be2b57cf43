"""The build rules refuse what the layers forbid.

The rules' own file is run: its Starlark is within Python's syntax, so Python runs it with a stand-in for
`native` and with a `fail` that raises.
"""

import os
import unittest
from unittest.mock import MagicMock

from source_tree import SourceTree
from style_test import workspace

import build_rules


_DECLARING_NAMES = ("rule", "attr", "provider", "aspect", "CcInfo", "DefaultInfo", "depset")
_OTHER_ARGUMENTS = {"neptune_fuzz_test": {"srcs": [], "corpus": []}}


class Refused(Exception):
    pass


class FakeNative:
    """Records the targets that reach Bazel's own rules."""

    def __init__(self, package):
        self.package = package
        self.targets = []

    def package_name(self):
        return self.package

    def __getattr__(self, rule):
        return lambda **attributes: self.targets.append((rule, attributes["name"]))


def _fail(message):
    raise Refused(message)


def _select(choices):
    return choices["//conditions:default"]


def declare(package, rule, deps):
    """Calls a project rule as a BUILD file of `package` would; the targets it makes."""
    native = FakeNative(package)
    # Rules that the file declares itself need only be declarable here.
    declarations = {name: MagicMock() for name in _DECLARING_NAMES}
    scope = {"native": native, "fail": _fail, "select": _select, **declarations}
    path = os.path.join(workspace(), build_rules.RULES_FILE)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), scope)
    scope[rule](name="target", deps=deps, **_OTHER_ARGUMENTS.get(rule, {}))
    return native.targets


class LayerRuleTest(unittest.TestCase):
    def assert_refused(self, package, dep, rule="neptune_library"):
        with self.assertRaises(Refused, msg=f"{rule}: {package} -> {dep}"):
            declare(package, rule, [dep])

    def assert_allowed(self, package, dep, rule="neptune_library"):
        made = [name for _, name in declare(package, rule, [dep])]
        self.assertIn(made, (["target"], ["target.so"]))

    def test_every_pair_of_layers(self):
        layers = build_rules.constant(SourceTree(workspace()), "NEPTUNE_LAYERS")
        for i, upper in enumerate(layers):
            for lower in layers[: i + 1]:
                self.assert_allowed(f"neptune/{upper}", f"//neptune/{lower}:x")
            for higher in layers[i + 1:]:
                self.assert_refused(f"neptune/{upper}", f"//neptune/{higher}:x")

    def test_every_rule_checks(self):
        for rule in (
            "neptune_library", "neptune_test", "neptune_binary", "neptune_benchmark", "neptune_module",
            "neptune_fuzz_test",
        ):
            self.assert_refused("neptune/base", "//neptune/dac:x", rule)
            self.assert_allowed("neptune/dac", "//neptune/base:x", rule)

    def test_folders_inside_a_layer_belong_to_it(self):
        self.assert_allowed("neptune/world/sim", "//neptune/world:network")
        self.assert_refused("neptune/world/sim", "//neptune/thread:x")

    def test_unknown_layer_is_refused(self):
        self.assert_refused("neptune/base", "//neptune/unheard_of:x")

    def test_runtime_uses_no_product(self):
        self.assert_refused("neptune/node", "//index/core/search")

    def test_examples_stand_outside_the_runtime(self):
        self.assert_allowed("neptune/examples/micro", "//neptune")
        self.assert_refused("neptune/examples/micro", "//neptune/dac:dac")
        self.assert_refused("neptune/dac", "//neptune/examples/micro:x")
        self.assert_allowed("tools/lab", "//neptune/examples/micro:x")

    def test_index_core_uses_the_base_only(self):
        self.assert_allowed("index/core/search", "//neptune/base:status")
        self.assert_refused("index/core/search", "//neptune/world:loop")
        self.assert_refused("index/core/search", "//neptune")

    def test_tiers_do_not_know_each_other(self):
        self.assert_refused("cache", "//index/tier:tier")
        self.assert_refused("docserver", "//frontend:x")
        self.assert_allowed("frontend", "//index/tier:tier")


if __name__ == "__main__":
    unittest.main()
