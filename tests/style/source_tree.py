"""The files that the style rules look at, and what a rule reports."""

import os
import re
from typing import List, NamedTuple

# Generated or foreign; nothing below these is ours to judge.
_SKIPPED_FOLDERS = {".git", "__pycache__", "data/var"}
_SUFFIXES = {
    ".h", ".cc", ".py", ".sh", ".bzl", ".proto", ".textproto", ".md", ".BUILD", ".bazelrc", ".css", ".js",
}
_NAMES = {"BUILD", "WORKSPACE", ".bazelrc", ".gitignore"}
# Folders whose files without a suffix are scripts.
_SCRIPT_FOLDERS = {"tools", "tools/deploy", ".ci"}
# What tests feed to the code may hold anything.
_FIXTURE_FOLDERS = {"testdata", "fuzz_corpus"}

_NOT_CODE = re.compile(
    r"""(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<digits>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<rest>//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')""",
    re.DOTALL | re.VERBOSE,
)


class Violation(NamedTuple):
    path: str
    line: int
    rule: str
    reason: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.reason}"


def code_only(text: str) -> str:
    """C++ text with comments and literals blanked; every line keeps its number."""

    def blank(match):
        if match.lastgroup == "digits":
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    return _NOT_CODE.sub(blank, text)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


class SourceTree:
    """All source files below a folder; paths are relative to it, with forward slashes."""

    def __init__(self, root: str):
        self.root = root
        self.files: List[str] = []
        self.folders: List[str] = []
        for folder, subfolders, names in os.walk(root):
            relative = os.path.relpath(folder, root).replace(os.sep, "/")
            prefix = "" if relative == "." else relative + "/"
            subfolders[:] = sorted(s for s in subfolders if not self._is_skipped(prefix, s))
            self.folders.append("" if relative == "." else relative)
            self.files += [prefix + name for name in sorted(names) if _is_source(prefix, name)]

    @staticmethod
    def _is_skipped(prefix: str, name: str) -> bool:
        is_bazel_link = prefix == "" and name.startswith("bazel-")
        return is_bazel_link or name in _SKIPPED_FOLDERS or prefix + name in _SKIPPED_FOLDERS

    def text(self, path: str) -> str:
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        return os.path.exists(os.path.join(self.root, path))

    def with_suffix(self, *suffixes: str) -> List[str]:
        return [path for path in self.files if path.endswith(suffixes)]

    def named(self, name: str) -> List[str]:
        return [path for path in self.files if path.rsplit("/", 1)[-1] == name]


def _is_source(prefix: str, name: str) -> bool:
    if _FIXTURE_FOLDERS.intersection(prefix.split("/")):
        return False
    stem, suffix = os.path.splitext(name)
    if name in _NAMES or suffix in _SUFFIXES:
        return True
    return suffix == "" and not stem.startswith(".") and prefix.rstrip("/") in _SCRIPT_FOLDERS
