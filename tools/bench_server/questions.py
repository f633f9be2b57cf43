"""The questions of a run: distinct queries without stop words that find something, and heavy ones."""

import itertools
import json
import random
import re
from collections import Counter
from typing import Callable, Iterable, List

# Words that our query language or a peer's defaults leave out; other servers would search for them.
STOP_WORDS = frozenset(
    "a am an and are as at be been but by can could did does for from how i if in into is it its me my no not of on or "
    "our should such that the their then there these they this those to was we were what when where which who will "
    "with would you your".split())
# What means something to one query language and nothing to others; `and`, `or` and `not` are left out already.
_OPERATORS = frozenset(("near",))
_WORD = re.compile(r"[a-z0-9]+")
_WORDS_MAX = 12
_HEAVY_WORDS = 300
_SAMPLED_DOCUMENTS = 20_000


def candidates(lines: Iterable[str], seed: int = 7) -> List[str]:
    """The words of each line, without stop words, in a random order that the seed decides."""
    found = {}
    for line in lines:
        words = [word for word in _WORD.findall(line.lower()) if word not in STOP_WORDS]
        if words and len(words) <= _WORDS_MAX and not _OPERATORS & set(words):
            found[" ".join(words)] = True
    queries = list(found)
    random.Random(seed).shuffle(queries)
    return queries


def keep_found(queries: Iterable[str], finds: Callable[[str], bool], count: int) -> List[str]:
    """The first `count` queries that find something."""
    return list(itertools.islice((query for query in queries if finds(query)), count))


def common_words(document_lines: Iterable[str]) -> List[str]:
    """Frequent words of the first documents, the most frequent first."""
    counts: Counter = Counter()
    for line in itertools.islice(document_lines, _SAMPLED_DOCUMENTS):
        counts.update(set(_WORD.findall(json.loads(line)["text"].lower())))
    left_out = STOP_WORDS | _OPERATORS
    return [word for word, _ in counts.most_common() if len(word) > 2 and word not in left_out][:_HEAVY_WORDS]


def heavy_word_lists(words: List[str], count: int = 100) -> List[List[str]]:
    """Lists of nearly all words, in other orders and each without another word, so that no two are equal."""
    lists = []
    for number in range(count):
        turned = words[number % len(words):] + words[:number % len(words)]
        lists.append(turned[1:] if len(turned) > 1 else turned)
    return lists
