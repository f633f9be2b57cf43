"""Rules on the types that C++ files define: one fully qualified name, one definition; classes that are not too wide.

A reader of its own, not a compiler: it follows braces and the words before them in text without comments and literals.
"""

import collections
import re
from typing import Dict, Iterator, List, NamedTuple, Optional

from source_tree import SourceTree, Violation, code_only, line_of

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_NAMESPACE = re.compile(r"\bnamespace(?:\s+(?P<name>[\w:]+))?\s*$")
_TYPE = re.compile(
    r"\b(?P<kind>class|struct|union|enum(?:\s+class)?)\s+(?:alignas\s*\([^()]*\)\s*)?(?:ABSL_\w+(?:\([^()]*\))?\s+)*"
    r"(?P<name>[A-Za-z_]\w*(?:::\w+)*)(?:\s+final)?(?:\s*:(?!:)[^;{}]*)?\s*$")
_TEMPLATE = re.compile(r"\btemplate\s*<")


class Definition(NamedTuple):
    """A type as a file defines it; `body` holds what is between its braces, blanked where a comment was."""

    name: str
    path: str
    line: int
    kind: str
    body: str


class _Scope(NamedTuple):
    name: Optional[str]  # None: hidden from other files, such as an anonymous namespace or a function's body
    is_type: bool
    begin: int
    kind: str
    head: int


def _without_preprocessor(text: str) -> str:
    return _PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), code_only(text))


def definitions(text: str, path: str, with_hidden: bool = False) -> List[Definition]:
    """The types that `text` defines where other files could define the same name; with the others if `with_hidden`."""
    code = _without_preprocessor(text)
    found = []
    scopes: List[_Scope] = []
    statement = 0  # where the words before the next brace begin
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match.group()
        if mark == "{":
            scopes.append(_scope(code, statement, at))
        elif mark == "}" and scopes:
            scope = scopes.pop()
            if scope.is_type and scope.name and (with_hidden or all(s.name is not None for s in scopes)):
                names = [s.name for s in scopes if s.name] + [scope.name]
                found.append(Definition("::".join(names), path, line_of(code, scope.head), scope.kind,
                                        code[scope.begin + 1:at]))
        statement = match.end()
    return found


def _scope(code: str, statement: int, at: int) -> _Scope:
    head = code[statement:at]
    namespace = _NAMESPACE.search(head)
    if namespace:
        return _Scope(namespace["name"] or None, False, at, "namespace", statement)
    found = _TYPE.search(head)
    if found and "(" not in head[:found.start()].rsplit(">", 1)[-1] and "=" not in head[:found.start()].rsplit(">", 1)[-1]:
        return _Scope(found["name"], True, at, found["kind"].split()[0], statement + found.start())
    if re.search(r'\bextern\s+"?\s*"?\s*$', head):
        return _Scope("", False, at, "extern", statement)
    return _Scope(None, False, at, "body", statement)


def one_type_one_definition(tree: SourceTree) -> Iterator[Violation]:
    """Two programs' worth of a name are one type to the linker, which keeps the functions of either."""
    by_name: Dict[str, List[Definition]] = collections.defaultdict(list)
    for path in tree.with_suffix(".h", ".cc"):
        for definition in definitions(tree.text(path), path):
            by_name[definition.name].append(definition)
    for name, all_of_name in by_name.items():
        paths = sorted({d.path for d in all_of_name})
        for definition in all_of_name:
            if definition.path != paths[0]:
                yield Violation(definition.path, definition.line, "one-type",
                                f"'{name}' is defined in {paths[0]} too")


PRIVATE_METHOD_COUNT_MAX = 20
PURE_VIRTUAL_COUNT_MAX = 8
PARAMETER_COUNT_MAX = 6
# What is wider than that. A count here may only go down: a class that becomes narrower must lower it.
WIDER_CLASSES: Dict[str, int] = {
}
WIDER_INTERFACES: Dict[str, int] = {}
WIDER_METHODS: Dict[str, int] = {
}
# Takes the place of functions of the C library, which have such signatures (getnameinfo has seven parameters).
_FOREIGN_SIGNATURES = ("neptune/interpose/",)

_ANNOTATION = re.compile(r"\b(?:ABSL_\w+|alignas|noexcept|decltype|__attribute__)\s*(?=\()")
_NO_METHOD = re.compile(r"^\s*(?:friend|using|typedef|static_assert|enum|class|struct|union)\b")
_METHOD = re.compile(r"(?:~?[A-Za-z_]\w*|operator\s*[^\s\w(]+|operator\s+\w+|operator\s*\(\s*\))\s*$")
_ACCESS = re.compile(r"\b(public|protected|private)\s*:(?!:)")


class Method(NamedTuple):
    name: str
    access: str
    is_pure: bool
    is_constructor: bool
    parameter_count: int


class Function(NamedTuple):
    name: str
    line: int
    parameter_count: int


def _without(text: str, begin: str, end: str) -> str:
    """Blanks everything between `begin` and its matching `end`, at any depth."""
    parts, depth = [], 0
    for character in text:
        if character == end and depth:
            depth -= 1
        parts.append(character if depth == 0 else " ")
        if character == begin:
            depth += 1
    return "".join(parts)


def _without_annotations(text: str) -> str:
    while True:
        match = _ANNOTATION.search(text)
        if not match:
            return text
        depth, end = 0, match.end()
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        text = text[:match.start()] + text[end:]


def methods(definition: Definition) -> List[Method]:
    """The member functions that a class declares, without destructors and those of nested types."""
    access = "private" if definition.kind == "class" else "public"
    own_name = definition.name.rsplit("::", 1)[-1]
    found = []
    body = re.sub(r"=\s*\{\s*\}", "= 1", _without(definition.body, "{", "}"))
    for statement in re.split(r"[;}]", body):
        while True:
            section = _ACCESS.search(statement)
            if not section:
                break
            access, statement = section[1], statement[section.end():]
        statement = _without_annotations(statement)
        plain = _without(statement, "<", ">") if "operator" not in statement else statement
        if _NO_METHOD.match(plain) or "(" not in plain:
            continue
        before, after = plain.split("(", 1)
        name = _METHOD.search(before)
        if not name or "=" in before and "operator" not in before:
            continue
        is_constructor = name.group().strip() == own_name
        if not is_constructor and (not before[:name.start()].strip() or name.group().startswith("~")):
            continue  # a macro, a destructor
        found.append(Method(name.group().strip(), access, re.search(r"=\s*0\s*$", plain) is not None,
                            is_constructor, _parameter_count(after)))
    return found


_FREE_FUNCTION = re.compile(r"(?<![\w:~])(?P<name>[A-Za-z_]\w*|operator\s*[^\s\w(]+)\s*$")


def functions(text: str) -> List[Function]:
    """The functions that C++ text declares or defines outside of classes and of other functions."""
    code = _without_preprocessor(text)
    found = []
    begin, depth, skipped_depth = 0, 0, 0  # of a statement; of parentheses; of braces other than those of namespaces
    for match in re.finditer(r"[()\[\]{};]", code):
        at, mark = match.start(), match.group()
        if skipped_depth:
            skipped_depth += {"{": 1, "}": -1}.get(mark, 0)
            if skipped_depth == 0 and depth == 0:
                begin = at + 1
            continue
        depth = max(0, depth + {"(": 1, "[": 1, ")": -1, "]": -1}.get(mark, 0))
        if mark == "{" and (depth or _scope(code, begin, at).kind not in ("namespace", "extern")):
            skipped_depth = 1
        if depth or mark not in "{};":
            continue
        function = _function(code, begin, at) if mark != "}" else None
        if function:
            found.append(function)
        begin = at + 1
    return found


def _function(code: str, begin: int, end: int) -> Optional[Function]:
    head = _without(_without_annotations(code[begin:end]), "{", "}")
    head = _without(head, "<", ">") if "operator" not in head else head
    if _NO_METHOD.match(head) or "(" not in head:
        return None
    before, after = head.split("(", 1)
    name = _FREE_FUNCTION.search(before)
    if not name or ("=" in before and "operator" not in before) or not before[:name.start()].strip():
        return None  # not a function, a variable, a macro or a constructor
    line = line_of(code, begin + len(code[begin:end]) - len(code[begin:end].lstrip()))
    return Function(name["name"], line, _parameter_count(after))


def _parameter_count(after: str) -> int:
    depth, count, text = 0, 1, ""
    for character in after:
        if character == ")" and depth == 0:
            break
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        count += character == "," and depth == 0
        text += character
    return count if text.strip() else 0


def _over(found: int, limit: int, ratchet: Optional[int], what: str) -> Optional[str]:
    if ratchet is not None and found < ratchet:
        return f"{found} {what}: lower the ratchet, which has {ratchet}"
    if found > (ratchet or limit):
        return f"{found} {what}, limit {ratchet or limit}"
    return None


def wide_types(tree: SourceTree) -> Iterator[Violation]:
    """Many private methods are several ideas in one class; many pure virtuals, several interfaces in one."""
    for path in tree.with_suffix(".h", ".cc"):
        for definition in definitions(tree.text(path), path, with_hidden=True):
            all_methods = methods(definition)
            private = sum(m.access == "private" and not m.is_constructor for m in all_methods)
            pure = sum(m.is_pure for m in all_methods)
            for complaint in (
                    _over(private, PRIVATE_METHOD_COUNT_MAX, WIDER_CLASSES.get(definition.name), "private methods"),
                    _over(pure, PURE_VIRTUAL_COUNT_MAX, WIDER_INTERFACES.get(definition.name), "pure virtuals")):
                if complaint:
                    yield Violation(path, definition.line, "wide-type", f"{definition.name}: {complaint}")
            for method in all_methods:
                name = f"{definition.name}::{method.name}"
                if method.parameter_count > WIDER_METHODS.get(name, PARAMETER_COUNT_MAX):
                    yield Violation(path, definition.line, "parameters",
                                    f"{name} has {method.parameter_count}, limit {PARAMETER_COUNT_MAX}")


def wide_functions(tree: SourceTree) -> Iterator[Violation]:
    """The same limit of parameters for functions outside of classes."""
    for path in tree.with_suffix(".h", ".cc"):
        if path.startswith(_FOREIGN_SIGNATURES):
            continue
        for function in functions(tree.text(path)):
            if function.parameter_count > PARAMETER_COUNT_MAX:
                yield Violation(path, function.line, "parameters",
                                f"{function.name} has {function.parameter_count}, limit {PARAMETER_COUNT_MAX}")


_FUNCTION = re.compile(r"\b(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^(){};]*)\)\s*(?:const|override|noexcept|final|\s)*[;{]")
_OUTPUT = re.compile(r"^\s*(?P<type>(?!const\b)[\w:]+(?:<.*>)?)\s*\*\s*(?:const\s+)?\w+\s*(?:=.*)?$", re.DOTALL)
_VALUE = re.compile(
    r"^(?:u?int\d+_t|size_t|bool|double|float|int|unsigned|std::\w.*|(?:neptune::)?(?:Duration|TimePoint|Status|Data))$",
    re.DOTALL)
OUTPUT_COUNT_MAX = 2


def out_parameters(tree: SourceTree) -> Iterator[Violation]:
    """Several results are a struct: a caller of three out-parameters cannot see which of them are set when."""
    for path in tree.with_suffix(".h", ".cc"):
        if path.startswith(_FOREIGN_SIGNATURES):
            continue
        code = code_only(tree.text(path))
        for match in _FUNCTION.finditer(code):
            plain = _without(match["parameters"], "<", ">")
            types = [output["type"] for output in map(_OUTPUT.match, plain.split(",")) if output]
            if len(types) > OUTPUT_COUNT_MAX and sum(bool(_VALUE.match(t)) for t in types) > 1:
                yield Violation(path, line_of(code, match.start()), "out-parameters",
                                f"{match['name']} writes to {len(types)} arguments: return a struct")


RULES = (one_type_one_definition, wide_types, wide_functions, out_parameters)
