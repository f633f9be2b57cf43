"""A disk that goes bad: served files are changed and shortened while the cluster answers.

In a round one file of each partition is damaged while it is served, questions are asked, and the files are written
again from a clean copy. Then everything must be back.

    sound ──► one change in each partition ──► questions, judged ──► clean copy ──► back? ──► sound
                 under load throughout: its answers are judged, too
"""

import os
import random
import shutil
import threading
import urllib.parse
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional

import answers
from answers import RIGHT, SAID, WRONG, Reply
from damage import Change, cuts, draw_change, draw_round, kind_of, partition_of, served_files
from rows import Row, counted, judged, known_limit, not_measured
from target import BACK_LIMIT_S, Attacked, Indexes, Setting, pause, wait_for, with_partitions, with_service_parameters

ACTOR = "disk"
_TIERS = ["tier1", "tier2"]
_LOAD_THREADS = 2
# After that many rounds that did not end, the rest is left out.
LATE_MAX = 3
RECORD_ATTEMPTS = 50
QUICK_CHANGES = 100  # up to here files are cut to one length each
_NODES_LINE = "0 nodes die"
_ANSWERS_LINE = "0 wrong answers without a word"
_BACK_LINE = "each partition is back by itself in 60 s"
# A reload, which no cache answers.
_FRESH = {"Cache-Control": "no-cache"}

QUERIES = ["mutex semaphore", "index", "query planner", "git commit", "posting list OR replica", "title:transactions",
           '"foreign key"', "thread -python", "socket", "mut*", "lock NEAR thread", "site:git commit", "mutx semafore"]
PREFIXES = ["mu", "git c", "tra"]


def question_paths() -> List[str]:
    """Questions that between them read every kind of file."""
    paths = [f"/search?format=json&q={urllib.parse.quote_plus(query)}" for query in QUERIES]
    paths += ["/search?format=json&facets=site&q=thread", "/search?format=json&explain=1&q=mutex",
              "/search?format=json&fold=1&count=50&q=a+OR+to"]
    paths += [f"/suggest?q={urllib.parse.quote_plus(prefix)}" for prefix in PREFIXES]
    return paths


class Variant(NamedTuple):
    """A cluster whose files are damaged."""
    name: str
    spec: str
    folders: List[str]  # of the index
    partitions: int
    arguments: List[str]  # of build_index
    change: Callable[[str], str]


def _stored_flat(text: str) -> str:
    text = text.replace('key: "path" value: "docs"', 'key: "path" value: "docs.flat_file"')
    return with_service_parameters(text, ["docs"], {"implementation": "flat_file"})


def _postings(text: str) -> str:
    for tier in _TIERS:
        text = text.replace(f'key: "path" value: "{tier}"', f'key: "path" value: "{tier}.rocksdb_postings"')
    return text


def variants(partitions: int) -> List[Variant]:
    both = ["--index_tiers=segment,rocksdb_postings", "--document_stores=rocksdb,flat_file", "--one_tier_documents_max=0"]
    return [Variant("segment, rocksdb", "small", ["tier1", "tier2", "docs"], partitions, both,
                    lambda text: with_partitions(text, partitions)),
            Variant("rocksdb_postings, flat_file", "small",
                    ["tier1.rocksdb_postings", "tier2.rocksdb_postings", "docs.flat_file"], partitions, both,
                    lambda text: _postings(_stored_flat(with_partitions(text, partitions))))]


class Tally:
    """Counts of answers, and the first wrong ones. Threads: thread-safe."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self.counts = {RIGHT: 0, SAID: 0, WRONG: 0}
        self.wrong: List[str] = []

    def add(self, verdict: str, text: str = "") -> None:
        with self._mutex:
            self.counts[verdict] += 1
            if verdict == WRONG:
                self.wrong.append(text)

    def text(self) -> str:
        return ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())


class Questions:
    """The recorded answers of the sound cluster."""

    def __init__(self, cluster: Attacked):
        self._cluster = cluster
        self.expected: Dict[str, bytes] = {}
        for path in question_paths():
            if self._ask(path).status != 400:  # else the engine has no such questions
                self.expected[path] = self._sound_answer(path)
        self.paths = list(self.expected)
        documents = sorted({result["id"] for body in self.expected.values() if isinstance(answers.parsed(body), dict)
                            for result in answers.parsed(body)["results"]}, key=int)
        for number in documents[:10]:
            path = f"/doc/{number}?format=json"
            self.paths.append(path)
            self.expected[path] = self._sound_answer(path)

    def _sound_answer(self, path: str) -> bytes:
        """On a busy machine a step may end at its time limit, which the answer says."""
        reply = self._ask(path)
        for _ in range(RECORD_ATTEMPTS):
            if not answers.says_incomplete(reply):
                return reply.body
            pause(.1)
            reply = self._ask(path)
        raise RuntimeError(f"the sound cluster answers {path} with {reply.status}: {reply.body[:200]!r}")

    def _ask(self, path: str) -> Reply:
        return self._cluster.ask(path, headers=_FRESH)

    def judge(self, path: str, tally: Tally, context: Callable[[], str]) -> str:
        reply = self._ask(path)
        verdict = answers.judge(self.expected[path], reply)
        tally.add(verdict, f"{path} after {context()}: {answers.difference(self.expected[path], reply)}"
                  if verdict == WRONG else "")
        return verdict

    def all_right(self) -> bool:
        return self.first_not_right() == ""

    def first_not_right(self) -> str:
        """A question that is not answered as before the damage; empty if there is none."""
        tally = Tally()
        return next((path for path in self.paths if self.judge(path, tally, str) != RIGHT), "")


class Load:
    """Questions without pause, judged, until the block is left."""

    def __init__(self, questions: Questions, tally: Tally, context: Callable[[], str], seed: int):
        self._questions, self._tally, self._context = questions, tally, context
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(random.Random(seed + i),)) for i in range(_LOAD_THREADS)]

    def _run(self, rng: random.Random) -> None:
        while not self._stopped.wait(.005):
            self._questions.judge(rng.choice(self._questions.paths), self._tally, self._context)

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()


class Files:
    """The served files and their clean copies."""

    def __init__(self, folder: str, clean: str, served: List[str]):
        self._folder, self._clean = folder, clean
        self.by_kind = served_files(folder, served)

    def contents(self, path: str) -> bytes:
        with open(os.path.join(self._clean, path), "rb") as file:
            return file.read()

    def write(self, change: Change, keeps_time: bool) -> None:
        """In place. With `keeps_time` the file's time of change stays, as when bits decay below the file system."""
        path = os.path.join(self._folder, change.path)
        status = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(change.offset)
            file.write(change.after)
        if keeps_time:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def cut(self, path: str, size: int) -> None:
        os.truncate(os.path.join(self._folder, path), size)

    def restore(self, path: str, in_place: bool, keeps_time: bool = False) -> None:
        """The clean bytes, in the same file or in a new one in its place."""
        target, source = os.path.join(self._folder, path), os.path.join(self._clean, path)
        status = os.stat(target)
        if in_place:
            with open(source, "rb") as clean, open(target, "r+b") as file:
                file.write(clean.read())
                file.truncate()
        else:
            shutil.copyfile(source, target + ".clean")
            os.replace(target + ".clean", target)
        if keeps_time:
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


class DiskAttack:
    """One variant of the cluster and what was counted at it."""

    def __init__(self, setting: Setting, variant: Variant, indexes: Indexes, decay: bool = False):
        self.setting, self.variant = setting, variant
        self._rng = random.Random(f"{setting.seed} {variant.name} {decay}")
        source = indexes.folder(variant.partitions, variant.partitions, *variant.arguments)
        name = "".join(letter if letter.isalnum() else "-" for letter in variant.name)
        self.folder = os.path.join(setting.folder, f"damaged-{name}-{decay}")
        shutil.copytree(source, self.folder)
        self.files = Files(self.folder, source, variant.folders)
        self.kinds: Dict[str, int] = {}
        self.deaths: List[str] = []
        self.late: List[str] = []
        self.slowest_back_s = 0.0
        self.tally = Tally()
        self.last = "nothing"

    def _note_deaths(self, cluster: Attacked) -> None:
        self.deaths += [f"{name} after {self.last}" for name in cluster.dead_nodes()]

    def _count(self, path: str) -> None:
        kind = kind_of(path)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def _await_back(self, questions: Questions, what: str) -> bool:
        took = wait_for(questions.all_right, BACK_LIMIT_S)
        if took is None:
            self.late.append(f"{questions.first_not_right()} not right {BACK_LIMIT_S:g} s after {what}")
            self.setting.say(f"disk: {self.late[-1]}")
            return False
        self.slowest_back_s = max(self.slowest_back_s, took)
        return True

    def change_round(self, cluster: Attacked, questions: Questions, limit: int) -> int:
        """How many changes it made."""
        paths = draw_round(self._rng, self.files.by_kind)[:limit]
        for path in paths:
            change = draw_change(self._rng, path, self.files.contents(path))
            self.last = change.text()
            self.files.write(change, keeps_time=False)
            self._count(path)
            questions.judge(self._rng.choice(questions.paths), self.tally, lambda: self.last)
        for path in questions.paths:
            questions.judge(path, self.tally, lambda: self.last)
        in_place = self._rng.random() < .5
        for path in paths:
            self.files.restore(path, in_place)
        self._note_deaths(cluster)
        self._await_back(questions, f"{self.last}, {'in place' if in_place else 'replaced'}")
        return len(paths)

    def cut_rounds(self, cluster: Attacked, questions: Questions, lengths: int) -> int:
        """Each kind is cut to that number of lengths; at most one file of a partition in a round. How many cuts it made."""
        left = [(kind, place) for kind in self.files.by_kind for place in range(lengths)]
        self._rng.shuffle(left)
        count = 0
        while left and len(self.late) < LATE_MAX:
            cut: Dict[str, str] = {}  # by partition
            for kind, place in left[:]:
                path = self._rng.choice(self.files.by_kind[kind])
                if partition_of(path) not in cut:
                    cut[partition_of(path)] = path
                    left.remove((kind, place))
                    self._cut(path, place)
            for asked in questions.paths:
                questions.judge(asked, self.tally, lambda: self.last)
            self._note_deaths(cluster)
            for path in cut.values():
                self.files.restore(path, in_place=False)
            self._await_back(questions, self.last)
            count += len(cut)
        return count

    def _cut(self, path: str, place: int) -> None:
        sizes = cuts(len(self.files.contents(path)))
        size = sizes[(len(sizes) // 2 + place) % len(sizes)]
        self.last = f"{path} cut to {size} bytes"
        self.files.cut(path, size)
        self._count(path)

    def decay_changes(self, cluster: Attacked, questions: Questions, count: int) -> int:
        """Changes that leave no time of change, one after the other, each taken back."""
        for _ in range(count):
            paths = self.files.by_kind[self._rng.choice(sorted(self.files.by_kind))]
            path = self._rng.choice(paths)
            change = draw_change(self._rng, path, self.files.contents(path))
            self.last = change.text()
            self.files.write(change, keeps_time=True)
            self._count(path)
            for asked in self._rng.sample(questions.paths, 6):
                questions.judge(asked, self.tally, lambda: self.last)
            self.files.write(Change(path, change.offset, change.after, change.before), keeps_time=True)
            self._note_deaths(cluster)
        self._await_back(questions, "all decay was taken back")
        return count


def _row(attack: DiskAttack, name: str, count: int, what: str, line: str, faults: List[str]) -> Row:
    kinds = len(attack.kinds)
    return counted(ACTOR, f"{name}, {attack.variant.name}", count, f"{what} in {kinds} kinds of files", line, faults)


def _spread(kinds: Dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))


def _attack_changes(setting: Setting, variant: Variant, indexes: Indexes, changes: int) -> List[Row]:
    attack = DiskAttack(setting, variant, indexes)
    made = cut = 0
    with Attacked(setting, variant.spec, attack.folder, variant.change) as cluster:
        questions = Questions(cluster)
        with Load(questions, attack.tally, lambda: attack.last, setting.seed):
            while made < changes and len(attack.late) < LATE_MAX:
                made += attack.change_round(cluster, questions, changes - made)
                setting.say(f"disk: {variant.name}: {made} of {changes} changes, {attack.tally.text()}")
        deaths, late, slowest = attack.deaths, attack.late, attack.slowest_back_s
        changed_tally, attack.tally = attack.tally, Tally()
        attack.deaths, attack.late, attack.slowest_back_s = [], [], 0.0
        spread = _spread(attack.kinds)
        with Load(questions, attack.tally, lambda: attack.last, setting.seed):
            cut = attack.cut_rounds(cluster, questions, lengths=4 if changes > QUICK_CHANGES else 1)
    what = f"{made} flips and smears under load ({spread})"
    judged_count = sum(changed_tally.counts.values())
    return [_row(attack, "changes: nodes", made, what, _NODES_LINE, deaths),
            counted(ACTOR, f"changes: answers, {variant.name}", judged_count, f"answers judged: {changed_tally.text()}",
                    _ANSWERS_LINE, changed_tally.wrong),
            judged(ACTOR, f"changes: return, {variant.name}", "the clean copy, in place or as a new file", _BACK_LINE,
                   f"slowest {slowest:.1f} s" + ("; " + "; ".join(late[:2]) if late else ""), not late),
            _row(attack, "cuts: nodes", cut, f"{cut} files shortened", _NODES_LINE, attack.deaths),
            counted(ACTOR, f"cuts: answers, {variant.name}", sum(attack.tally.counts.values()),
                    f"answers judged: {attack.tally.text()}", _ANSWERS_LINE, attack.tally.wrong),
            judged(ACTOR, f"cuts: return, {variant.name}", "the clean copy as a new file", _BACK_LINE,
                   f"slowest {attack.slowest_back_s:.1f} s" + ("; " + "; ".join(attack.late[:2]) if attack.late else ""),
                   not attack.late)]


def _attack_decay(setting: Setting, variant: Variant, indexes: Indexes, changes: int) -> List[Row]:
    """Bits that decay leave no trace in the file system, and only the slow check finds what they make wrong."""
    attack = DiskAttack(setting, variant, indexes, decay=True)
    with Attacked(setting, variant.spec, attack.folder, variant.change) as cluster:
        questions = Questions(cluster)
        with Load(questions, attack.tally, lambda: attack.last, setting.seed):
            made = attack.decay_changes(cluster, questions, changes)
    what = f"{made} flips and smears that keep the time of change, each taken back ({_spread(attack.kinds)})"
    asked, wrong = sum(attack.tally.counts.values()), attack.tally.wrong
    return [_row(attack, "decay: nodes", made, what, _NODES_LINE, attack.deaths),
            known_limit(ACTOR, f"decay: answers, {variant.name}", f"answers judged: {attack.tally.text()}",
                        "none: the slow check finds it (index/tier/service/README.md)",
                        f"{len(wrong)} of {asked} wrong" + (f": {wrong[0]}" if wrong else "")),
            judged(ACTOR, f"decay: return, {variant.name}", "the clean bytes in place", _BACK_LINE,
                   f"slowest {attack.slowest_back_s:.1f} s" + ("; " + "; ".join(attack.late[:2]) if attack.late else ""),
                   not attack.late)]


def _attack_unnoticed(setting: Setting, variant: Variant, indexes: Indexes) -> Row:
    """Decay that stays: the slow check must find it, here with an interval of a second."""
    name = "decay: found by the slow check"
    line = "the partition is withdrawn in 60 s, and back in 60 s after the clean copy"
    folder_variant = variant._replace(name=variant.name + ", checked")
    attack = DiskAttack(setting, folder_variant, indexes, decay=True)

    def change(text: str) -> str:
        return with_service_parameters(variant.change(text), _TIERS, {"file_check_interval_s": "1"})

    with Attacked(setting, variant.spec, attack.folder, change) as cluster:
        questions = Questions(cluster)
        segments = attack.files.by_kind.get("segment tier: segment", [])
        if not segments:
            return not_measured(ACTOR, name, line, "this variant has no segments")
        path = segments[0]
        contents = attack.files.contents(path)
        attack.files.write(Change(path, len(contents) // 2, contents[len(contents) // 2:][:1],
                                  bytes([contents[len(contents) // 2] ^ 1])), keeps_time=True)

        def is_withdrawn() -> bool:
            return cluster.ask("/readyz?complete=1").status != 200

        found: Optional[float] = wait_for(is_withdrawn, BACK_LIMIT_S)
        attack.files.restore(path, in_place=False)
        back = wait_for(questions.all_right, BACK_LIMIT_S)
        dead = cluster.dead_nodes()
    figure = f"found after {found:.1f} s" if found is not None else "not found"
    figure += f", back after {back:.1f} s" if back is not None else ", not back"
    return judged(ACTOR, name, "one flip in a segment that keeps the time of change, file_check_interval_s: 1", line,
                  figure + (f", dead: {dead}" if dead else ""), found is not None and back is not None and not dead)


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    kinds = variants(partitions=16 if setting.changes > 200 else 4)
    each = max(setting.changes // len(kinds), 1)
    for variant in kinds:
        yield from _attack_changes(setting, variant, indexes, each - each // 2)
        yield from _attack_decay(setting, variant, indexes, max(each // 2, 1))
    yield _attack_unnoticed(setting, kinds[0], indexes)
