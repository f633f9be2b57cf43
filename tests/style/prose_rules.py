"""Rules on what people read in the code: how comments begin, words that are not used, columns, sources that lead somewhere."""

import re
from typing import Iterator, List, NamedTuple

from source_tree import SourceTree, Violation, line_of

COLUMN_MAX = 100
PICTURE_COLUMN_MAX = 130
LITERATURE_FILE = "LITERATURE.md"
_CODE = (".h", ".cc")

# A sentence has a subject; these begin fragments that have none.
BANNED_OPENINGS = ("Of", "To", "By", "As", "Whose", "Whom", "Where", "Without")
# Written so that this file does not break its own rules.
BANNED_PHRASES = ("so" " many", "so" " long", "a" "new", "of" " late", "to" "ld", "no" "body", "some" "body",
                  "like" "wise", "who" "ever", "for" " ever", "le" "st", "again and" " again", "taken" " up", "put" " right")

_LITERAL_OR_COMMENT = re.compile(
    r"""(?P<raw>R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<digits>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<literal>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
      | (?P<comment>//[^\n]*)""", re.DOTALL | re.VERBOSE)
# What cannot be wrapped: raw strings, and code that the formatter is told to leave alone.
_UNWRAPPED = re.compile(r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|// clang-format off.*?// clang-format on', re.DOTALL)
_PICTURE = re.compile(r"^\s*//.*[\u2500-\u25ff]")
_OPENING = re.compile(r"//+ (%s)\b(?! *[.:(])" % "|".join(BANNED_OPENINGS))
_PHRASE = re.compile(r"(?<!, )\b(%s)\b" % "|".join(p.replace(" ", r"[ ]") for p in BANNED_PHRASES), re.IGNORECASE)
# "x is no file" for "x is not a file"; "there is no file" and comparisons are sentences.
_IS_NO = re.compile(
    r"(?<!here )\b(?:is|are|was|were) no (?!longer|more|less|other|better|worse|larger|smaller|way|use|reason)\w+")
_KEY = re.compile(r"\[([A-Z][A-Za-z]+[0-9]{2}[a-z]?)\]")
_DEFINED_KEY = re.compile(r"^\| `\[([A-Za-z0-9]+)\]` \|", re.MULTILINE)
_SOURCE_WITHOUT_KEY = re.compile(r"\b(?:dissertation|the (?:DAC|SERT|MTRR) paper|design (?:of the runtime|[0-9]))", re.IGNORECASE)


class Comment(NamedTuple):
    line: int
    text: str
    begins: bool  # the line above is no comment


def comments(text: str) -> List[Comment]:
    """The `//` comments of C++ text, line by line."""
    found = []
    for match in _LITERAL_OR_COMMENT.finditer(text):
        if match.lastgroup != "comment" and not match["comment"]:
            continue
        begin_of_line = text.rfind("\n", 0, match.start()) + 1
        alone = not text[begin_of_line:match.start()].strip()
        above = text[text.rfind("\n", 0, begin_of_line - 1) + 1:begin_of_line - 1] if begin_of_line else ""
        begins = not (alone and above.lstrip().startswith("//") and above.strip() != "//")
        found.append(Comment(line_of(text, match.start()), match["comment"], begins))
    return found


def comment_openings(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(*_CODE):
        for comment in comments(tree.text(path)):
            match = _OPENING.match(comment.text)
            if match and comment.begins:
                yield Violation(path, comment.line, "comment-opening", f"begins with '{match[1]}', so it has no subject")


def _odd_words(text: str) -> Iterator[re.Match]:
    yield from _PHRASE.finditer(text)
    # At the beginning of a line the sentence has begun in the line above, perhaps with "there".
    yield from (match for match in _IS_NO.finditer(text) if text[:match.start()].rpartition("\n")[2].strip(" /"))


def plain_words(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(*_CODE):
        for comment in comments(tree.text(path)):
            for match in _odd_words(comment.text):
                yield Violation(path, comment.line, "plain-words", f"'{match[0]}'")
    for path in tree.with_suffix(".md"):
        text = tree.text(path)
        for match in _odd_words(text):
            yield Violation(path, line_of(text, match.start()), "plain-words", f"'{match[0]}'")


def columns(tree: SourceTree) -> Iterator[Violation]:
    for path in tree.with_suffix(*_CODE):
        text = _UNWRAPPED.sub(lambda m: re.sub(r"[^\n]", "", m.group()), tree.text(path))
        for number, line in enumerate(text.split("\n"), 1):
            limit = PICTURE_COLUMN_MAX if _PICTURE.search(line) else COLUMN_MAX
            if len(line) > limit and "://" not in line and not line.startswith("#include"):
                yield Violation(path, number, "columns", f"{len(line)}, limit {limit}")


def sources(tree: SourceTree) -> Iterator[Violation]:
    """A key such as [Shen02] is in the page of literature, each of that page's keys is used, and nothing else cites."""
    known = set(_DEFINED_KEY.findall(tree.text(LITERATURE_FILE))) if tree.exists(LITERATURE_FILE) else set()
    used = set()
    for path in tree.with_suffix(".h", ".cc", ".md", ".proto", ".py"):
        if path == LITERATURE_FILE or path.startswith("tests/style/"):
            continue
        text = tree.text(path)
        for match in _KEY.finditer(text):
            used.add(match[1])
            if match[1] not in known:
                yield Violation(path, line_of(text, match.start()), "source", f"[{match[1]}] is not in {LITERATURE_FILE}")
        for match in _SOURCE_WITHOUT_KEY.finditer(text):
            yield Violation(path, line_of(text, match.start()), "source", f"'{match[0]}' leads nowhere: cite a key")
    for key in sorted(known - used):
        yield Violation(LITERATURE_FILE, 1, "source", f"[{key}] is cited nowhere")


RULES = (comment_openings, plain_words, columns, sources)
