"""Rules on what documents quote from the code: messages that programs print, and members that gdb recipes name."""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional

from source_tree import SourceTree, Violation, line_of
from type_rules import definitions

DEBUGGING_FILE = "DEBUGGING.md"
_QUOTING_FILES = (DEBUGGING_FILE, "COMPATIBILITY.md")

_CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_COMMANDS = ("bazel ", "clang-format", "curl ", "gdb ", "go ")
# A message is prose; one capital letter or a number in it stands for a value.
_MESSAGE = re.compile(r"[a-z][\w',;:-]*(?: [\w',;:-]+){2,}")
_VALUE = re.compile(r"\b(?:[A-Z]|[0-9]+)\b")
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def quoted_messages(tree: SourceTree) -> Iterator[Violation]:
    """What stands between the values of a quoted message is found in the strings of one source file."""
    literals: Optional[List[str]] = None
    for path in filter(tree.exists, _QUOTING_FILES):
        text = tree.text(path)
        for match in _CODE_SPAN.finditer(text):
            if not _MESSAGE.fullmatch(match[1]) or match[1].startswith(_COMMANDS):
                continue
            if literals is None:
                literals = [_literals(tree.text(source)) for source in tree.with_suffix(".h", ".cc")]
            parts = [part.strip() for part in _VALUE.split(match[1])]
            if not any(all(part in of_file for part in parts) for of_file in literals):
                yield Violation(path, line_of(text, match.start()), "quoted-message", f"no program prints '{match[1]}'")


def _literals(text: str) -> str:
    """The strings of C++ text, one a line; neighbours that the compiler joins are one."""
    return "\n".join(_STRING.findall(re.sub(r'"\s*\n\s*"', "", text)))


_RECIPE = re.compile(r"^```\n(?=\(gdb\)|define )(?P<steps>.*?)^```", re.DOTALL | re.MULTILINE)
_FUNCTION_STEP = re.compile(r"\(gdb\) frame function (\w+)")
_SET_STEP = re.compile(r"\bset (\$\w+) = (?:\*\(neptune::(?P<cast>\w+) \*\*\)&)?(?P<chain>[$\w].*)")
_CHAIN = re.compile(r"(?<![\w$.>])(?P<root>\$?[a-z]\w*)(?P<members>(?:(?:\.|->)\w+(?:\[\w+\])?)+)")
_ELEMENT = "_M_start"  # of a std::vector, as the recipes write it


class _Member(NamedTuple):
    type: str     # the class, without its namespace
    element: str  # the first template argument


class _Classes:
    """The classes of the tree by their last name, and the members whose names end in '_' or are those of a struct."""

    def __init__(self, tree: SourceTree):
        self._bodies: Dict[str, str] = {}
        for path in tree.with_suffix(".h"):
            for definition in definitions(tree.text(path), path):
                self._bodies[definition.name.rsplit("::", 1)[-1]] = definition.body

    def __contains__(self, name: str) -> bool:
        return name in self._bodies

    def member(self, class_name: str, name: str) -> Optional[_Member]:
        declared = re.search(
            r"(?P<type>(?!return\b)\b[\w:]+)(?:<(?P<element>[\w:]+)[^;]*>)?[\s*&]*(?:const\s+)?\b%s\s*(?:=[^;]*|\{[^;]*\})?;" % re.escape(name),
            self._bodies[class_name])
        if not declared:
            return None
        return _Member(declared["type"].rsplit("::", 1)[-1], (declared["element"] or "").rsplit("::", 1)[-1])

    def anywhere(self, name: str) -> bool:
        return any(self.member(class_name, name) for class_name in self._bodies)


def gdb_recipes(tree: SourceTree) -> Iterator[Violation]:
    """Each member that a recipe of the debugging page names exists in the class that the recipe takes it from."""
    if not tree.exists(DEBUGGING_FILE):
        return
    text = tree.text(DEBUGGING_FILE)
    classes = _Classes(tree)
    for recipe in _RECIPE.finditer(text):
        types: Dict[str, str] = {}  # of the variables, where known
        line = line_of(text, recipe.start("steps"))
        for number, step in enumerate(recipe["steps"].split("\n"), line):
            step = step.split("#")[0]
            function = _FUNCTION_STEP.search(step)
            if function:
                types.update(_locals(tree, function[1], classes))
            last = None
            for chain in _CHAIN.finditer(step):
                last, wrong = _follow(classes, types.get(chain["root"]), chain["members"])
                if wrong:
                    yield Violation(DEBUGGING_FILE, number, "gdb-recipe", wrong)
            assigned = _SET_STEP.search(step)
            if assigned and assigned["cast"] and assigned["cast"] not in classes:
                yield Violation(DEBUGGING_FILE, number, "gdb-recipe", f"there is no class '{assigned['cast']}'")
            if assigned and (assigned["cast"] or last):
                types[assigned[1]] = assigned["cast"] or last


def _locals(tree: SourceTree, function: str, classes: _Classes) -> Dict[str, str]:
    """The variables of known classes that stand in the file of a function."""
    for path in tree.with_suffix(".cc"):
        text = tree.text(path)
        if re.search(r"^\w[\w ]* %s\(" % function, text, re.MULTILINE):
            return {name: type_ for type_, name in re.findall(r"^  (\w+) (\w+)[({;]", text, re.MULTILINE) if type_ in classes}
    return {}


def _follow(classes: _Classes, type_name: Optional[str], members: str):
    """The class at the end of a chain of members, if known, and what is wrong with the chain, if anything."""
    element = ""
    for name, index in re.findall(r"(?:\.|->)(\w+)(\[\w+\])?", members):
        if name.startswith("_M_"):  # of the C++ library
            type_name = element if name == _ELEMENT and index else None
            continue
        if type_name not in classes:
            if name.endswith("_") and not classes.anywhere(name):
                return None, f"no class has a member '{name}'"
            type_name = None
            continue
        member = classes.member(type_name, name)
        if member is None:
            is_method = re.search(r"(?:\.|->)%s\(" % name, members)
            return None, None if is_method else f"'{type_name}' has no member '{name}'"
        type_name, element = member
    return type_name, None


RULES = (quoted_messages, gdb_recipes)
