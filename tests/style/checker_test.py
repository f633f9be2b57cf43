"""Canaries of the style rules: each planted violation must be found, and its innocent twin must not."""

import json
import os
import tempfile
import unittest

import build_rules
import document_rules
import folder_rules
import format_test
import fuzz_rules
import prose_rules
import proto_rules
import public_rules
import style_test
import text_rules
import type_rules
from source_tree import SourceTree, code_only

_RULES_FILE = 'NEPTUNE_LAYERS = ["base", "world", "wire"]\n'
_BANNER = "// A header.\n//\n// Threads: immutable.\n\n#pragma once\n"


class CanaryTest(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in {build_rules.RULES_FILE: _RULES_FILE, **files}.items():
            full_path = os.path.join(folder.name, path)
            os.makedirs(os.path.dirname(full_path), exist_ok=True)
            with open(full_path, "w", encoding="utf-8") as file:
                file.write(text)
        return SourceTree(folder.name)

    def found(self, rule, files):
        return [f"{v.path}:{v.line} {v.rule}" for v in rule(self.tree(files))]

    def check_call(self, rule, bad, good):
        found = self.found(text_rules.banned_calls, {"neptune/wire/a.cc": f"\n{bad};\n"})
        self.assertEqual(found, [f"neptune/wire/a.cc:2 {rule}"], bad)
        self.assertEqual(self.found(text_rules.banned_calls, {"neptune/wire/a.cc": good}), [])

    def test_sleep(self):
        self.check_call("no-sleep", "std::this_thread::sleep_for(x)", "// sleep_for(x)\n")
        self.check_call("no-sleep", "usleep (5)", 'const char* s = "usleep(5)";')

    def test_clock(self):
        self.check_call("no-clock", "std::chrono::steady_clock::now()", "loop.Now(); kernel.now();")
        self.check_call("no-clock", "WallClock::now()", "/* steady_clock::now() */")

    def test_chance(self):
        self.check_call("no-random-device", "std::random_device()()", "random.Next();")
        self.check_call("no-rand", "int x = rand() % 6", "operand(1); random.rand();")
        self.check_call("no-rand", "std::srand(1)", "strand(1);")

    def test_threads(self):
        self.check_call("no-detach", "thread.detach()", "Detach(); detach();")
        self.check_call("no-std-mutex", "std::shared_mutex m", "absl::Mutex m; LeafMutex n;")

    def test_world_may_do_what_others_may_not(self):
        calls = "std::chrono::steady_clock::now(); std::random_device()(); std::mutex m;"
        self.assertEqual(self.found(text_rules.banned_calls, {"neptune/world/real/a.cc": calls}), [])
        found = self.found(text_rules.banned_calls, {"neptune/thread/a.cc": calls})
        self.assertEqual(len(found), 2)

    def test_digit_separators_and_raw_strings_do_not_hide_code(self):
        text = "int a = 10'000; usleep(10'000);\n"
        self.assertIn("usleep(10'000)", code_only(text))
        self.assertNotIn("usleep", code_only('auto s = R"x(" usleep(1) )x";'))

    def test_words(self):
        for bad, rule in (
            ("// TO" "DO: later", "finished"), ("# FIX" "ME", "finished"),
            ("/wo" "rk/tree", "no-machine-path"), ("see `/ro" "ot/x`", "no-machine-path"),
            ("/ho" "me/me/.cache", "no-machine-path"),
        ):
            self.assertEqual(self.found(text_rules.banned_words, {"tools/x.sh": bad}), [f"tools/x.sh:1 {rule}"])
        good = "the root; tests/work/x; https://example.org/home/; ${HOME}/work/; mastodons; a/root/b"
        self.assertEqual(self.found(text_rules.banned_words, {"tools/x.sh": good}), [])

    def test_scripts_without_suffix_are_read(self):
        self.assertEqual(len(self.found(text_rules.banned_words, {"tools/up": "# TO" "DO"})), 1)

    def test_fixtures_may_hold_anything(self):
        files = {"tools/testdata/page.md": "TO" "DO", "bazel-out/x.md": "TO" "DO", "data/var/x.md": "TO" "DO"}
        self.assertEqual(self.found(text_rules.banned_words, files), [])

    def test_length(self):
        line_count_max = text_rules.LINE_COUNT_MAX
        self.assertEqual(len(self.found(text_rules.lengths, {"a.cc": "\n" * (line_count_max + 1)})), 1)
        self.assertEqual(self.found(text_rules.lengths, {"a.cc": "\n" * line_count_max}), [])

    def test_headers(self):
        def rules(path, text):
            return [found.split()[1] for found in self.found(text_rules.headers, {path: text})]

        self.assertEqual(rules("neptune/base/a.h", _BANNER), [])
        self.assertEqual(rules("neptune/base/a.h", "// A.\n\n#pragma once\n"), ["banner"])
        self.assertEqual(rules("cache/a.h", "// A.\n\n#pragma once\n"), [])
        self.assertEqual(rules("cache/a.h", "#pragma once\n// A.\n"), ["banner"])
        self.assertEqual(rules("cache/a.h", "// #pragma once\n"), ["pragma-once"])

    def test_folder_names(self):
        found = self.found(folder_rules.folder_names, {"cache/util/a.cc": "", "cache/memory/a.cc": ""})
        self.assertEqual(found, ["cache/util:1 folder-name"])

    def test_top_folders(self):
        files = {"cache/a.cc": "", ".ci/run": "", "bazel-out/a.md": "", "--help/index.html": ""}
        self.assertEqual(self.found(folder_rules.top_folders, files), ["--help:1 top-folder"])

    def test_readmes(self):
        files = {"cache/a.cc": "", "index/a.cc": "", "index/README.md": "", "data/a.textproto": ""}
        self.assertEqual(self.found(folder_rules.readmes, files), ["cache:1 readme"])

    def test_documented_versions(self):
        table = {folder_rules.COMPATIBILITY_FILE: "| frames | `kWire` 2, reads 1 | `neptune/wire/a.h` | refused |\n"}
        for code, count in (("constexpr int kWire = 2;", 0), ("constexpr int kWire = 3;", 1), ("", 1)):
            self.assertEqual(len(self.found(folder_rules.documented_versions, {**table, "neptune/wire/a.h": code})), count)

    def check_document(self, text, count):
        files = {
            "cache/README.md": text, "cache/lru.h": "", "cache/BUILD": 'x(name = "lru")\n', "index/tier/a.cc": "",
        }
        self.assertEqual(len(self.found(folder_rules.document_paths, files)), count, text)

    def test_document_paths_that_exist(self):
        for text in (
            "`lru.h` `cache/lru.h` `index/tier/` `../index/tier` `../cache/lru.h` `//cache:lru` `cache/*.h` `cache/lru.{h}`",
            "`data/var/x` `text/html` `a/b` `//cache/...` `.h` `GET /search` [l](lru.h) [w](https://e.org/x)",
            "```\n`cache/none.h`\n```",
        ):
            self.check_document(text, 0)

    def test_document_paths_that_do_not_exist(self):
        for text in ("`none.h`", "`cache/none`", "`//cache:none`", "`//none`", "`../cache/none`", "`../none/lru.h`", "`cache/lru.{h,cc}`", "[l](none.h)"):
            self.check_document(text, 1)

    def test_commands(self):
        def count(text):
            return len(self.found(folder_rules.commands, {"cache/README.md": text, "cache/BUILD": 'x(name = "lru")\n'}))

        for good in ("bazel run //cache:lru -- --file=//cache:none", "```\nbazel test -c opt //cache/... //cache:all\n```",
                     "`bazel build //cache:lru.` and //cache:none", "bazel run //yours:none", "bazel run --config=asan //cache:lru"):
            self.assertEqual(count(good), 0, good)
        for bad in ("`bazel run //cache:none`", "```\nbazel test --config=asan //cache:lru //cache:none\n```",
                    "bazel build \\\n    //cache:none", "bazel run //tools:none, which is new"):
            self.assertEqual(count(bad), 1, bad)

    def test_promises(self):
        def found(table, *names):
            build = "".join(f'x(name = "{name}")\n' for name in names)
            page = f"## Other\n\n| a | b |\n\n## Promises\n\n| promise | tests |\n|---|---|\n{table}\n\n## More\n\n| c | d |\n"
            return self.found(folder_rules.promises, {"SECURITY.md": page, "cache/BUILD": build})

        held = "| it holds | `//cache:a_test`, `//cache:b_test` |"
        self.assertEqual(found(held, "a_test", "b_test"), [])
        self.assertEqual(found(held, "a_test"), ["SECURITY.md:9 promise"])
        self.assertEqual(found("| it holds | `//cache:a` |", "a"), ["SECURITY.md:9 promise"])
        self.assertEqual(found(held + "\n| it may hold | |", "a_test", "b_test"), ["SECURITY.md:10 promise"])
        self.assertEqual(found(held + "\n| it may hold | trust us |", "a_test", "b_test"), ["SECURITY.md:10 promise"])
        self.assertEqual(self.found(folder_rules.promises, {"SECURITY.md": "## Promises\n"}), ["SECURITY.md:1 promise"])

    def test_raw_rules(self):
        raw = 'cc_library(name = "a")\n'
        self.assertEqual(self.found(build_rules.raw_rules, {"cache/BUILD": raw}), ["cache/BUILD:1 project-rules"])
        self.assertEqual(len(self.found(build_rules.raw_rules, {"neptune/wire/BUILD": raw})), 1)
        files = {"cache/BUILD": 'neptune_library(name = "a")\n', "tools/bazel/x/BUILD": raw, "neptune/BUILD": raw}
        self.assertEqual(self.found(build_rules.raw_rules, files), [])

    def test_build_format(self):
        def count(text):
            return len(self.found(build_rules.build_format, {"cache/BUILD": text}))

        target = 'neptune_library(\n    name = "a",\n    deps = [%s],\n)\n'
        for bad in ('":b", ":a"', '"//neptune", ":a"', '"@x//:a", "//neptune"', '":a_b", ":a"'):
            self.assertEqual(count(target % bad), 1, bad)
        for good in ('":a", ":b", "//neptune", "//neptune/base:ids", "@x//:a"', '\n":b",\n# last\n":a",\n', '":a", ":a_b"'):
            self.assertEqual(count(target % good), 0, good)
        for bad in ("x = 1", "x = 1\n\n", "x = 1 \n", "def f():\n\tpass\n"):
            self.assertEqual(count(bad), 1, bad)
        self.assertEqual(count("x = 1\n"), 0)

    def test_spec_list(self):
        files = {
            "tests/processes/BUILD": '_SPECS = ["//data/clusters:a.textproto"]\n',
            "data/clusters/a.textproto": 'name: "a"\nnodes {\n}\n',
            "data/clusters/b.textproto": 'name: "b"\nnodes {\n}\n',
            "data/traces/c.textproto": 'source: "x"\n',
            "tools/x/testdata/d.textproto": "nodes {\n}\n"
        }
        self.assertEqual(self.found(build_rules.spec_list, files), ["data/clusters/b.textproto:1 spec-list"])

    def test_layer_dependencies(self):
        build = 'neptune_library(\n    name = "a",\n    deps = [":b"] + select({"x": ["//neptune/%s:c"]}),\n)\n'
        for layer, count in (("base", 0), ("world", 0), ("wire", 1), ("none", 1)):
            found = self.found(build_rules.layer_dependencies, {"neptune/world/sim/BUILD": build % layer})
            self.assertEqual(found, ["neptune/world/sim/BUILD:3 layers"] * count, layer)
        self.assertEqual(len(self.found(build_rules.layer_dependencies, {"neptune/other/BUILD": ""})), 1)

    def test_layer_includes(self):
        include = '#include <map>\n#include "neptune/wire/frame.h"\n'
        for path, count in (("neptune/wire/a.cc", 0), ("neptune/base/a.cc", 1), ("index/core/a.h", 1), ("cache/a.h", 0)):
            self.assertEqual(self.found(build_rules.layer_includes, {path: include}), [f"{path}:2 layers"] * count)

    def test_documented_layers(self):
        rows = "| layer | what |\n|---|---|\n| `base` | x |\n| `%s` | x |\n| `%s` | x |\n"
        for document, count in ((rows % ("world", "wire"), 0), (rows % ("wire", "world"), 1), ("", 1)):
            files = {build_rules.ARCHITECTURE_FILE: document}
            self.assertEqual(len(self.found(build_rules.documented_layers, files)), count)

    def test_spec_comments(self):
        text = "message A {\n  // The name.\n  optional string a = 1;\n  int32 b = 2;  // b\n  repeated x.Y c = 3;\n}\n"
        found = self.found(proto_rules.spec_comments, {"data/cluster_spec.proto": text})
        self.assertEqual(found, ["data/cluster_spec.proto:5 spec-comment"])
        self.assertEqual(self.found(proto_rules.spec_comments, {"data/other.proto": text}), [])

    def test_comment_openings(self):
        def count(text):
            return len(self.found(prose_rules.comment_openings, {"cache/a.cc": text}))

        for bad in ("// Of the loop.\n", "int x;  // To the other nodes.\n", "// A.\n//\n// Whose turn it is.\n",
                    "f(\"//\");  // As before.\n"):
            self.assertEqual(count(bad), 1, bad)
        for good in ("// Offers it.\n", "// Written by the loop,\n// To the end.\n", '"// Of";\n', 'R"(\n// Of\n)";\n'):
            self.assertEqual(count(good), 0, good)

    def test_plain_words(self):
        files = {"cache/a.cc": "// It is to" "ld so.\n", "cache/README.md": "Begins a" "new.\n",
                 "cache/b.cc": 'f("to' 'ld");  // nobodys, newly, unfold\n',
                 "cache/c.py": "'''One.\n\nIs to" "ld.'''\n# to" "ld\nx = ('to" "ld', 'it was to" "ld')\n",
                 "cache/BUILD": "# A" "new.\nx()\n", "cache/d.sh": "echo to" "ld  # to" "ld\n",
                 "cache/e.proto": "// For" " ever.\nstring told = 1;\n",
                 "cache/f.cc": 'f("it was to' 'ld");\nf("User nobody\\nGroup nogroup");\nf(R"(\nis to' 'ld)");\n'}
        self.assertEqual(sorted(self.found(prose_rules.plain_words, files)), [f"cache/{at} plain-words" for at in (
            "BUILD:1", "README.md:1", "a.cc:1", "c.py:3", "c.py:4", "c.py:5", "d.sh:1", "e.proto:1", "f.cc:1", "f.cc:4")])
        for bad in ("// A line is no number.\n", "// Kept for" " ever.\n", "// Asked again and" " again.\n"):
            self.assertEqual(len(self.found(prose_rules.plain_words, {"cache/a.cc": bad})), 1, bad)
        for good in ("// There is no line.\n", "// A line is no longer one.\n", "// Empty if there\n// is no line.\n"):
            self.assertEqual(self.found(prose_rules.plain_words, {"cache/a.cc": good}), [], good)

    def test_words_left_only_become_fewer(self):
        self.addCleanup(prose_rules.WORDS_LEFT.pop, "cache/a.cc", None)
        for left, count in ((0, 2), (1, 2), (2, 0), (3, 1)):
            prose_rules.WORDS_LEFT["cache/a.cc"] = left
            files = {"cache/a.cc": "// It is to" "ld.\n// A" "new.\n"}
            self.assertEqual(len(self.found(prose_rules.plain_words, files)), count, left)

    def test_torn_comments(self):
        long_line = "// " + "word " * 16
        for bad in (f"{long_line}is\n// torn. And more.\n", f"  {long_line}`a`\n  // torn\n"):
            self.assertEqual(self.found(prose_rules.torn_comments, {"cache/a.h": bad}), ["cache/a.h:1 torn-comment"], bad)
        for good in (f"{long_line}is.\n// whole.\n", f"{long_line}is\n// Whole.\n", f"{long_line}is\n//   a list\n",
                     f"{long_line}is\n// {'w' * 20} long.\n", f"{long_line}is\n  // other\n", f"{long_line}is\n\n// other\n",
                     f"{long_line}is   a\n// table   b\n"):
            self.assertEqual(self.found(prose_rules.torn_comments, {"cache/a.h": good}), [], good)

    def test_empty_banner_lines(self):
        for bad in ("// Layer: wire.\n", "// A.\n// Source: none.\n", "# Source: none\n"):
            self.assertEqual(len(self.found(prose_rules.empty_banner_lines, {"cache/a.h": bad})), 1, bad)
        good = "// Layers: two.\n// Source: none" "theless [Kay01].\n// Threads: none.\n"
        self.assertEqual(self.found(prose_rules.empty_banner_lines, {"cache/a.h": good}), [])

    def test_columns(self):
        column_max = prose_rules.COLUMN_MAX
        self.assertEqual(len(self.found(prose_rules.columns, {"a.cc": "/" * (column_max + 1)})), 1)
        self.assertEqual(self.found(prose_rules.columns, {"a.cc": "/" * column_max}), [])

    def test_sources(self):
        page = {prose_rules.LITERATURE_FILE: "| key | paper |\n|---|---|\n| `[Kay01]` | Kay |\n"}
        cited = {"cache/a.h": "// Source: [Kay01] 5.2.\n"}
        self.assertEqual(self.found(prose_rules.sources, {**page, **cited}), [])
        self.assertEqual(len(self.found(prose_rules.sources, page)), 1)
        self.assertEqual(len(self.found(prose_rules.sources, cited)), 1)
        self.assertEqual(len(self.found(prose_rules.sources, {**page, **cited, "cache/b.h": "// design 4.9\n"})), 1)
        self.assertEqual(len(self.found(prose_rules.sources, {**page, **cited, "cache/b.h": "// [Kay02]\n"})), 1)

    def test_one_type_one_definition(self):
        def count(a, b):
            return len(self.found(type_rules.one_type_one_definition, {"cache/a.h": a, "index/b.h": b}))

        type_in = "namespace %s {\ntemplate <class T>\nclass ABSL_LOCKABLE A final : public B<T> {\n int a() { return 1; }\n};\n}\n"
        self.assertEqual(count(type_in % "x::y", type_in % "x::y"), 1)
        self.assertEqual(count(type_in % "x::y", "namespace x { namespace y { struct A {}; } }\n"), 1)
        self.assertEqual(count(type_in % "x::y", "namespace x { enum class A { kB }; }\n"), 0)
        self.assertEqual(count(type_in % "x::y", "namespace x::y { namespace { struct A {}; } }\n"), 0)
        self.assertEqual(count(type_in % "x::y", "namespace x::y { class A; void F(struct A* a) {} }\n"), 0)
        self.assertEqual(count(type_in % "x::y", "namespace x::y { void F() { struct A {}; } }\n"), 0)
        self.assertEqual(count("struct A { struct C {}; };", "struct B { struct C {}; };"), 0)

    def test_wide_types(self):
        def rules(text):
            return [found.split()[1] for found in self.found(type_rules.wide_types, {"cache/a.h": text})]

        private = "class A {\n public:\n  A();\n  int B() const { return f(1); }\n private:\n%s  std::function<void(int)> f_;\n};\n"
        method = "  ABSL_EXCLUSIVE_LOCKS_REQUIRED(m_) std::vector<std::pair<int, int>> M%d(int a = F(1, 2)) const;\n"
        most = type_rules.PRIVATE_METHOD_COUNT_MAX
        self.assertEqual(rules(private % "".join(method % i for i in range(most))), [])
        self.assertEqual(rules(private % "".join(method % i for i in range(most + 1))), ["wide-type"])
        pure = "struct A {\n  virtual ~A() = default;\n%s};\n"
        most = type_rules.PURE_VIRTUAL_COUNT_MAX
        self.assertEqual(rules(pure % ("  virtual void F(int) = 0;\n" * most)), [])
        self.assertEqual(rules(pure % ("  virtual void F(int) = 0;\n" * (most + 1))), ["wide-type"])
        parameters = "struct A {\n  void F(%s);\n};\n"
        most = type_rules.PARAMETER_COUNT_MAX
        self.assertEqual(rules(parameters % ", ".join(["M<int, int> a"] * most)), [])
        self.assertEqual(rules(parameters % ", ".join(["int a"] * (most + 1))), ["parameters"])
        constructor = "struct A {\n  explicit A(%s) : a(f(1, 2)), b{3} {}\n  ~A();\n};\n"
        self.assertEqual(rules(constructor % ", ".join(["int a"] * most)), [])
        self.assertEqual(rules(constructor % ", ".join(["int a"] * (most + 1))), ["parameters"])
        hidden = "namespace {\n%s}\n"
        self.assertEqual(rules(hidden % (parameters % ", ".join(["int a"] * (most + 1)))), ["parameters"])
        most = type_rules.PRIVATE_METHOD_COUNT_MAX
        self.assertEqual(rules(hidden % (private % "".join(method % i for i in range(most + 1)))), ["wide-type"])

    def test_wide_functions(self):
        def lines(text, path="cache/a.cc"):
            return [int(v.split(":")[1].split()[0]) for v in self.found(type_rules.wide_functions, {path: text})]

        most = type_rules.PARAMETER_COUNT_MAX
        few = ", ".join(["M<int, int> a = {1, 2}"] * most)
        many = ", ".join(["int a"] * (most + 1))
        for good in (f"int F({few});\n", f"namespace {{\nint F({few}) {{ g(1, 2, 3, 4, 5, 6, 7); }}\n}}\n", f"int A::F({many}) {{}}\n",
                     "TEST(A, B) {\n  F(1, 2, 3, 4, 5, 6, 7);\n}\n", "const int a = F(1, 2, 3, 4, 5, 6, 7);\n",
                     "M({.a = 1, .b = 2}, 3, 4, 5, 6, 7, 8);\n"):
            self.assertEqual(lines(good), [], good)
        for bad, line in ((f"int F({many});\n", 1), (f"namespace a {{\nnamespace {{\n\nint F({many}) {{\n}}\n}}\n}}\n", 4),
                          (f"int G() {{ {{ }} }}\nint a[] = {{1, 2}};\nint F({few}, int b = {{}}) {{\n}}\n", 3),
                          (f"extern \"C\" {{\nint F({many});\n}}\n", 2)):
            self.assertEqual(lines(bad), [line], bad)
        self.assertEqual(lines(f"int F({many});\n", "neptune/interpose/a.cc"), [])

    def test_out_parameters(self):
        def count(text, path="cache/a.h"):
            return len(self.found(type_rules.out_parameters, {path: text}))

        self.assertEqual(count("Status F(int a, bool* b, std::string* c, std::map<int, int>* d) const;\n"), 1)
        self.assertEqual(count("Status F(Reader* a, bool* b, double* c) {\n}\n"), 1)
        self.assertEqual(count("void F(Reader* a, neptune::Status* b, neptune::Data* c);\n"), 1)
        self.assertEqual(count("void F(Reader* a, neptune::Duration* b, neptune::TimePoint* c);\n"), 1)
        self.assertEqual(count("void F(Reader* a, other::Status* b, neptune::Data* c);\n"), 0)
        self.assertEqual(count("Status F(int a, bool* b, std::string* c, const int* d);\n"), 0)
        self.assertEqual(count("Status F(Reader* a, Builder* b, std::string* c);\n"), 0)
        self.assertEqual(count("int f(int* a, int* b, bool* c);\n", "neptune/interpose/a.h"), 0)

    def test_public_headers(self):
        page = {public_rules.LIST_FILE: "## Public headers\n\n| x | `neptune/wire/a.h` |\n\n## More\n\n`neptune/wire/b.h`\n",
                "neptune/wire/a.h": '#include "neptune/base/c.h"\n', "neptune/base/c.h": "", "neptune/wire/b.h": ""}
        user = {"cache/a.cc": '#include "neptune/wire/a.h"\n', "cache/b_test.cc": '#include "neptune/wire/b.h"\n'}
        before = public_rules.REACH_MAX
        self.addCleanup(setattr, public_rules, "REACH_MAX", before)
        for reach_max, count in ((2, 0), (1, 1), (3, 1)):
            public_rules.REACH_MAX = reach_max
            self.assertEqual(len(self.found(public_rules.public_headers, {**page, **user})), count, reach_max)
        public_rules.REACH_MAX = 2
        self.assertEqual(len(self.found(public_rules.public_headers, page)), 1)
        inside = {"cache/c.h": '#include "neptune/wire/b.h"\n'}
        self.assertEqual(self.found(public_rules.public_headers, {**page, **user, **inside}), ["cache/c.h:1 public-header"])
        for names, count in (("'neptune/wire/a.h', 'neptune/base/c.h', 'neptune/node/d.pb.h'", 0), ("'neptune/wire/a.h'", 1),
                             ("'neptune/wire/a.h', 'neptune/base/c.h', 'neptune/wire/b.h'", 1)):
            exports = {public_rules.EXPORT_FILE: f"PUBLIC_HEADERS = [{names}]\n"}
            self.assertEqual(len(self.found(public_rules.public_headers, {**page, **user, **exports})), count, names)

    def test_quoted_messages(self):
        code = 'Failed("log of ", name, " has "\n       "version ", v, ", expected ", kV); // no such text at all\n'
        for quoted, count in (("log of N has version 3, expected 4", 0), ("log of N has format 3", 1), ("no such text at all", 1),
                              ("bazel run it now", 0), ("two words", 0), ("log has version N", 1)):
            files = {"cache/a.cc": code, "DEBUGGING.md": f"A message `{quoted}` means so.\n"}
            self.assertEqual(len(self.found(document_rules.quoted_messages, files)), count, quoted)

    def test_gdb_recipes(self):
        files = {
            "neptune/a.h": "namespace neptune {\nclass Loop {\n  int f() { return count_; }\n  std::vector<Item> all_;\n"
                           "  int count_ = 0;\n};\n"
                           "class Node {\n  int g() { return loops_; }\n  const std::unique_ptr<Loop> loop_;\n};\n"
                           "struct Item {\n  int id;\n};\nclass Other {\n  int other_;\n};\n}\n",
            "neptune/a.cc": "int Run(Options o) {\n  Node node(o);\n}\n",
        }
        recipe = "```\n(gdb) frame function Run   # x.y_\n(gdb) set $loop = *(neptune::Loop **)&node.loop_\n%s\n```\n"
        for step, count in (("(gdb) print $loop->count_", 0), ("(gdb) print $loop->all_._M_impl._M_start[0].id", 0),
                            ("(gdb) print $any->other_", 0), ("(gdb) print $loop->all_.size()", 0),
                            ("(gdb) print $loop->other_", 1), ("(gdb) print node.loops_", 1), ("(gdb) print $any->none_", 1),
                            ("(gdb) print $loop->all_._M_impl._M_start[0].name", 1),
                            ("(gdb) set $x = *(neptune::None **)&node.loop_", 1)):
            found = self.found(document_rules.gdb_recipes, {**files, "DEBUGGING.md": recipe % step})
            self.assertEqual(found, ["DEBUGGING.md:4 gdb-recipe"] * count, step)

    def fuzz_files(self, **changes):
        row = {"reaches": {"neptune/wire/a.cc": "return frame;"}, "decodes": ["neptune/wire/a.h: DecodeFrame"]}
        registry = {"targets": {"//neptune/wire:a_fuzz_test": row}, "exempt": {}}
        files = {
            "neptune/wire/a.h": "StatusOr<Frame> DecodeFrame(std::string_view bytes);\nint ParseFlag(int argc);\n",
            "neptune/wire/a.cc": "Frame f() {\n  return frame;\n}\n",
            "neptune/wire/a_fuzz_test.cc": "(void)DecodeFrame(bytes);\n",
            "neptune/wire/BUILD": 'neptune_fuzz_test(\n    name = "a_fuzz_test",\n    srcs = ["a_fuzz_test.cc"],\n)\n',
            fuzz_rules.REGISTRY: registry,
        }
        files.update(changes)
        files[fuzz_rules.REGISTRY] = json.dumps(files[fuzz_rules.REGISTRY])
        return files

    def fuzz_violations(self, **changes):
        return [v.reason for v in fuzz_rules.fuzzed(self.tree(self.fuzz_files(**changes)))]

    def test_decoders_have_targets(self):
        self.assertEqual(self.found(fuzz_rules.fuzzed, self.fuzz_files()), [])
        self.assertEqual(self.found(fuzz_rules.fuzzed, {"neptune/wire/a.h": "int ParseX(std::string_view x);\n"}), [])
        header = "StatusOr<Frame> DecodeFrame(std::string_view bytes);\nbool ReadHead(\n    ByteReader& in);\n"
        self.assertIn("ReadHead reads bytes", self.fuzz_violations(**{"neptune/wire/a.h": header})[0])
        reduce = "registrar.Reduce(MethodName(kMergeOperator), Merge);\n"
        self.assertIn("kMergeOperator reads bytes", self.fuzz_violations(**{"index/reduce.cc": reduce})[0])
        registry = self.registry(exempt={"neptune/wire/a.h: ReadHead": "why", "index/": "why"})
        changes = {"neptune/wire/a.h": header, "index/reduce.cc": reduce, fuzz_rules.REGISTRY: registry}
        self.assertEqual(self.fuzz_violations(**changes), [])

    def registry(self, exempt=None, **row):
        whole = {"reaches": {"neptune/wire/a.cc": "return frame;"}, "decodes": ["neptune/wire/a.h: DecodeFrame"], **row}
        return {"targets": {"//neptune/wire:a_fuzz_test": whole}, "exempt": exempt or {}}

    def test_registry_fits_the_tree(self):
        for row, reason in (
            ({"decodes": ["neptune/wire/a.h: DecodeFrame through Decoder"]}, "do not name Decoder"),
            ({"decodes": ["neptune/wire/a.h: DecodeFrame", "neptune/wire/a.h: DecodeGone"]}, "there is no decoder"),
            ({"reaches": {"neptune/wire/a.cc": "return gone;"}}, "occurs 0 times"),
            ({"reaches": {"neptune/wire/a.cc": ""}}, "names no line"),
            ({"exempt": {"neptune/gone.h: ParseX": "why"}}, "is of no decoder"),
        ):
            found = self.fuzz_violations(**{fuzz_rules.REGISTRY: self.registry(**row)})
            self.assertEqual([reason in one for one in found], [True], (row, found))
        changes = {"neptune/wire/BUILD": 'neptune_fuzz_test(\n    name = "b_fuzz_test",\n    srcs = ["b.cc"],\n)\n'}
        self.assertEqual(len(self.fuzz_violations(**changes)), 2)

    def test_a_ratchet_only_goes_down(self):
        wide = "class A {\n%s};\n"
        most = type_rules.PRIVATE_METHOD_COUNT_MAX
        for count, ratchet, found in ((most + 2, most + 2, 0), (most + 3, most + 2, 1), (most + 1, most + 2, 1)):
            type_rules.WIDER_CLASSES["A"] = ratchet
            self.addCleanup(type_rules.WIDER_CLASSES.pop, "A", None)
            files = {"cache/a.h": wide % ("  int F();\n" * count)}
            self.assertEqual(len(self.found(type_rules.wide_types, files)), found, count)

    def test_format(self):
        tree = self.tree({".clang-format": "BasedOnStyle: Google\n", "a.cc": "int  a ;\n", "b.cc": "int b;\n"})
        self.assertEqual(len(format_test.badly_formatted(tree.root, ["a.cc", "b.cc"])), 1)
        self.assertEqual(format_test.badly_formatted(tree.root, ["b.cc"]), [])

    def test_every_rule_has_a_canary(self):
        with open(__file__, encoding="utf-8") as file:
            text = file.read()
        for rule in style_test.ALL_RULES:
            self.assertIn(f".{rule.__name__},", text)

    def test_innocent_tree_has_no_violations(self):
        tree = self.tree({"neptune/base/a.h": _BANNER, "neptune/base/README.md": "`a.h`\n"})
        self.assertEqual(style_test.violations(tree), [])


if __name__ == "__main__":
    unittest.main()
