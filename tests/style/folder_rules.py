"""Rules on folders and documents: names, a README in each, paths in documents that exist."""

import glob
import os
import posixpath
import re
from typing import Iterator, List

from build_rules import target_names
from source_tree import SourceTree, Violation, line_of

BANNED_FOLDER_NAMES = {"common", "util", "utils", "misc", "helper", "helpers", "manager"}
TOP_FOLDERS = ("frontend", "cache", "index", "docserver", "neptune", "tools", "data", "tests")
_SOURCE_SUFFIXES = (".h", ".cc", ".py", ".proto")
# Made by programs, so absent from a fresh tree.
_GENERATED = ("data/var",)

_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(r"[\w.*{},/+-]+")
# The options of a command and what it names; both also stand in blocks.
_COMMAND = re.compile(r"\bbazel (?:build|run|test)((?:[ \t]+(?:\\\n[ \t]*)?(?!-- )[^\s`#]+)+)")
_FILE_SUFFIXES = (".h", ".cc", ".proto", ".md", ".py", ".bzl", ".sh", ".textproto")


def folder_names(tree: SourceTree) -> Iterator[Violation]:
    for folder in tree.folders:
        if folder.rsplit("/", 1)[-1] in BANNED_FOLDER_NAMES:
            yield Violation(folder, 1, "folder-name", "says nothing about what is inside")


def top_folders(tree: SourceTree) -> Iterator[Violation]:
    """A program run with wrong arguments makes folders in unexpected places, and some have been committed."""
    for folder in tree.folders:
        if folder and "/" not in folder and folder not in TOP_FOLDERS and not folder.startswith("."):
            yield Violation(folder, 1, "top-folder", "not one of " + ", ".join(TOP_FOLDERS))


def readmes(tree: SourceTree) -> Iterator[Violation]:
    with_sources = {posixpath.dirname(path) for path in tree.with_suffix(*_SOURCE_SUFFIXES)}
    for folder in sorted(with_sources):
        if not tree.exists(posixpath.join(folder, "README.md")):
            yield Violation(folder or ".", 1, "readme", "a folder with sources and no README.md")


def document_paths(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(".md"):
        text = _without_fences(tree.text(path))
        for match in _CODE_SPAN.finditer(text):
            token = match.group(1).strip()
            if _names_a_path(token) and not _found(tree, posixpath.dirname(path), token):
                yield Violation(path, line_of(text, match.start()), "path", f"'{token}' does not exist")
        for match in _LINK.finditer(text):
            target = match.group(1).split("#")[0]
            is_local = target and not re.match(r"[a-z]+:", target)
            if is_local and not tree.exists(posixpath.join(posixpath.dirname(path), target)):
                yield Violation(path, line_of(text, match.start()), "link", f"'{target}' does not exist")


def commands(tree: SourceTree) -> Iterator[Violation]:
    """The targets of the commands that documents show, also in blocks."""
    for path in tree.with_suffix(".md"):
        text = tree.text(path)
        for match in _COMMAND.finditer(text):
            for word in match.group(1).split():
                label = word.rstrip(",.;:()") if "..." not in word else ""
                is_ours = label.startswith(tuple(f"//{folder}" for folder in TOP_FOLDERS)) and not label.endswith(":all")
                if is_ours and _names_a_path(label) and not _label_exists(tree, label):
                    yield Violation(path, line_of(text, match.start()), "command", f"'{label}' does not exist")


def _without_fences(text: str) -> str:
    """Blanks fenced blocks, which hold pictures and commands; lines keep their numbers."""
    return re.sub(
        r"^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL | re.MULTILINE
    )


def _names_a_path(token: str) -> bool:
    if token.startswith("//"):
        return re.fullmatch(r"//[\w./-]*(?::[\w./+-]+)?", token) is not None and "..." not in token
    if not _PATH.fullmatch(token) or token.startswith(("/", "-", "*")):
        return False
    in_repository = token.startswith(tuple(folder + "/" for folder in TOP_FOLDERS) + ("../",))
    return in_repository or ("/" not in token and len(token) > 4 and token.endswith(_FILE_SUFFIXES))


def _found(tree: SourceTree, folder: str, token: str) -> bool:
    if token.startswith("//"):
        return _label_exists(tree, token)
    if token.startswith(_GENERATED) or ("/" not in token and tree.named(token)):
        return True
    return all(
        any(_matches(tree, posixpath.join(base, one)) for base in (folder, ""))
        for one in _expand_braces(token)
    )


def _matches(tree: SourceTree, pattern: str) -> bool:
    return bool(glob.glob(os.path.join(glob.escape(tree.root), pattern)))


def _expand_braces(token: str) -> List[str]:
    match = re.search(r"\{([^{}]*)\}", token)
    if not match:
        return [token]
    before, after = token[: match.start()], token[match.end():]
    return [one for choice in match.group(1).split(",") for one in _expand_braces(before + choice + after)]


def _label_exists(tree: SourceTree, label: str) -> bool:
    package, _, name = label[2:].partition(":")
    build = posixpath.join(package, "BUILD")
    if not tree.exists(build):
        return False
    target = name or package.rsplit("/", 1)[-1]
    # A list comprehension names its targets in the tuples that it goes through.
    return target in target_names(tree, build) or f'"{target}"' in tree.text(build) or tree.exists(posixpath.join(package, target))


COMPATIBILITY_FILE = "COMPATIBILITY.md"
_VERSION_ROW = re.compile(r"^\|[^|]*\| `(k\w+)` (\d+)[^|]*\| `([\w./]+)` \|", re.MULTILINE)


def documented_versions(tree: SourceTree) -> Iterator[Violation]:
    """The table of versions has the constants that the code has."""
    if not tree.exists(COMPATIBILITY_FILE):
        return
    text = tree.text(COMPATIBILITY_FILE)
    for match in _VERSION_ROW.finditer(text):
        name, documented, path = match.groups()
        found = re.search(r"\b%s = (\d+);" % name, tree.text(path)) if tree.exists(path) else None
        if found is None or found[1] != documented:
            has = found[1] if found else "none"
            yield Violation(COMPATIBILITY_FILE, line_of(text, match.start()), "version",
                            f"{name} is {documented} here and {has} in {path}")


SECURITY_FILE = "SECURITY.md"
_PROMISES = re.compile(r"^## Promises\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^\| (?!promise \|)(?P<promise>[^|]*) \|(?P<tests>.*)\|$", re.MULTILINE)
_LABEL = re.compile(r"`(//[^`]+)`")


def promises(tree: SourceTree) -> Iterator[Violation]:
    """Each promise of the security page names tests, which exist."""
    if not tree.exists(SECURITY_FILE):
        return
    text = tree.text(SECURITY_FILE)
    section = _PROMISES.search(text)
    rows = list(_ROW.finditer(section[1])) if section else []
    if not rows:
        yield Violation(SECURITY_FILE, 1, "promise", "no table of promises")
    for row in rows:
        line = line_of(text, section.start(1) + row.start())
        labels = _LABEL.findall(row["tests"])
        for label in labels:
            if not label.endswith("_test") or not _label_exists(tree, label):
                yield Violation(SECURITY_FILE, line, "promise", f"'{label}' is not a test")
        if not labels:
            yield Violation(SECURITY_FILE, line, "promise", f"no test holds '{row['promise'][:60]}'")


RULES = (documented_versions, folder_names, top_folders, readmes, document_paths, commands, promises)
