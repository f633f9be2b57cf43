#!/usr/bin/env python3
"""Makes one's own documents searchable: reads them, builds an index, and on request serves it.

The readers are those of tools/corpus; //tools:corpus converts pages, //tools:build_index builds. Help, flags and statuses
are in the form of tools/terminal.
"""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Dict, List

sys.dont_write_bytecode = True
_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[1:1] = [os.path.join(_HERE, "..", "corpus")]  # in an installation all are in one folder

# pylint: disable=wrong-import-position
import command_flags
import own_documents
from command_flags import Flag, source_root
from own_documents import HTML, MARKDOWN, Documents, NotReadable

FAILED, MISTAKE = 1, 2
FORMATS = ("folder", "urls", "warc", "jsonl", "mbox")
SUPPORTED = ("a folder of .html, .md and .txt files, a list of addresses (one a line, http, https or file://), a Web archive "
             "(.warc, .warc.gz), JSON Lines (.jsonl, .gz, .zst; tools/corpus/format.md) or an mbox")
USAGE = """Makes your own documents searchable: reads them and builds an index.

  neptune index ~/notes
  neptune index ~/notes mail.mbox --out=/tmp/mine --serve
  neptune index crawl.warc.gz --site=crawl
  neptune index addresses.txt --format=urls

An input is """ + SUPPORTED.replace(" or file", " or\nfile") + """.
Not supported are PDF, office documents, nested archives and pages that only a script fills.
Addresses are fetched one after the other, at most 8 MiB and 60 s each; whether their sites permit that
(robots.txt) is for you to know. What cannot be read is named and counted; the rest is indexed."""
FLAGS = [
    Flag("out", "", "folder of the index; default: data/var/own of the source tree, or own in the current folder"),
    Flag("format", "", f"what the inputs are: {', '.join(FORMATS)}; default: by their names and first bytes"),
    Flag("site", "", "the site that site: queries find; default: the name of each input"),
    Flag("partitions", 1, "partitions of each index tier, 1 to 256; 1 is that of data/clusters/small.textproto"),
    Flag("doc_partitions", 1, "partitions of the document stores, 1 to 256"),
    Flag("serve", False, "then start the cluster of --spec with it, at this terminal until Ctrl-C"),
    Flag("spec", "", "with --serve: cluster spec; default: data/clusters/small.textproto"),
]


class Failure(Exception):
    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def caller_path(path: str) -> str:
    return os.path.normpath(os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd()), path))


def find_program(path: str) -> str:
    """Beside this program, as Bazel or an installation has it, or built in the source tree."""
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    tried = [os.path.join(here, os.path.basename(path)), os.path.join(here, "..", "..", path),
             os.path.join(source_root() or here, "bazel-bin", path)]
    for program in tried:
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return os.path.normpath(program)
    raise Failure(FAILED, f"{path} is neither built nor installed; build it with: bazel build //{os.path.dirname(path)}")


def find_spec(given: str) -> str:
    tried = [caller_path(given)] if given else []
    name = given or "data/clusters/small.textproto"
    tried += [os.path.join(source_root() or "", name),
              os.path.join(_HERE, "..", "..", "share", "neptune", "clusters", os.path.basename(name))]
    for path in tried:
        if os.path.isfile(path):
            return os.path.normpath(path)
    raise Failure(MISTAKE, f"no cluster spec {name}; give one with --spec=FILE")


def _begin(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as file:
                head = file.read(4096)
        return head
    except (OSError, EOFError) as error:
        raise Failure(MISTAKE, f"cannot read {path}: {error}") from error


def format_of(path: str) -> str:
    if os.path.isdir(path):
        return "folder"
    name = os.path.basename(path)
    if not os.path.exists(path):
        raise Failure(MISTAKE, f"there is no {path}")
    if name.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
        return "jsonl"
    head = _begin(path)
    if head.startswith(b"WARC/"):
        return "warc"
    if head.startswith(b"From "):
        return "mbox"
    if head.startswith(b"{"):
        return "jsonl"
    lines = [line.strip() for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if lines and lines[0].startswith((b"http://", b"https://", b"file:///")):
        return "urls"
    raise Failure(MISTAKE, f"{path} is not {SUPPORTED}; --format says which if it is")


class Counter:
    """Says every few seconds how many documents were read."""

    def __init__(self, what: str, period_s: float = 2.0):
        self._what, self._period_s, self._next = what, period_s, time.monotonic() + period_s

    def __call__(self, count: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._period_s
            print(f"reading {self._what}: {count:,} documents", file=sys.stderr)


def run_program(program: str, *arguments: str) -> None:
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Failure(FAILED, f"{os.path.basename(program)} failed with status {done.returncode}; its message is above")


def convert_pages(folder: str, kind: str, name: str, site: str, out: str) -> None:
    run_program(find_program("tools/corpus/corpus"), f"--input={folder}", f"--format={kind}", f"--name={name}",
                f"--site={site}", f"--out={out}")


def with_addresses(converted: str, pages: Dict[str, dict], out: str) -> None:
    """Gives pages, which were converted from files with numbers, the addresses from which they came. Links between them go."""
    with open(converted, encoding="utf-8") as source, open(out, "w", encoding="utf-8") as target:
        for line in source:
            document = json.loads(line)
            known = pages[document["url"].rsplit("/", 1)[-1]]
            document.pop("links", None)
            document.pop("anchors", None)
            document["url"] = known["url"][:2048]
            if known["date"]:
                document["date"] = known["date"]
            if known["url"].startswith(("http://", "https://")) and len(known["url"]) <= 2048:
                document["public_url"] = known["url"]
            target.write(json.dumps(document, ensure_ascii=False) + "\n")


class Reading:
    """One input, read into files of JSON Lines."""

    def __init__(self, path: str, kind: str, site: str, folder: str):
        self.path, self.kind, self.folder = path, kind, folder
        name = os.path.basename(os.path.normpath(path))
        self.name = name if kind == "folder" else name.split(".")[0] or name
        self.site = site or self.name[:100]
        self.outputs: List[str] = []
        self.first_title = ""

    def run(self) -> None:
        if self.kind == "jsonl":
            self.outputs.append(self.path)
            return
        documents = Documents(self.folder, self.site, Counter(self.name))
        try:
            found = self._read(documents)
        finally:
            documents.close()
        for line in documents.skipped.lines():
            print(f"{self.name}: {line}", file=sys.stderr)
        self.first_title = documents.first_title
        if documents.text_count > 0:
            self.outputs.append(documents.texts_path)
        for kind in (HTML, MARKDOWN):
            if found.get(kind):
                self.outputs.append(os.path.join(self.folder, f"{kind}.jsonl"))
                convert_pages(self.path, kind, self.name, self.site, self.outputs[-1])
        if documents.pages:
            converted = os.path.join(self.folder, "converted.jsonl")
            convert_pages(documents.pages_folder, HTML, self.name, self.site, converted)
            self.outputs.append(os.path.join(self.folder, "pages.jsonl"))
            with_addresses(converted, documents.pages, self.outputs[-1])

    def _read(self, documents: Documents) -> Dict[str, int]:
        if self.kind == "folder":
            return own_documents.read_folder(self.path, self.name, documents)
        if self.kind == "mbox":
            own_documents.read_mbox(self.path, self.name, documents)
        elif self.kind == "warc":
            own_documents.read_warc(self.path, documents)
        else:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                text = file.read((own_documents.ADDRESS_LINE_MAX + 1) * own_documents.ADDRESSES_MAX)
            own_documents.read_addresses(own_documents.addresses_of(text), documents)
        return {}


def title_of_first(path: str) -> str:
    if not path.endswith(".jsonl"):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        try:
            return str(json.loads(file.readline(1 << 20)).get("title", ""))
        except (ValueError, AttributeError):
            return ""


def read_all(inputs: List[str], values: dict, folder: str) -> List[Reading]:
    if values["format"] and values["format"] not in FORMATS:
        raise Failure(MISTAKE, f"--format={values['format']}: known are {', '.join(FORMATS)}")
    readings = [Reading(path, values["format"] or format_of(path), values["site"], os.path.join(folder, str(number)))
                for number, path in enumerate(inputs)]
    for reading in readings:
        try:
            reading.run()
        except NotReadable as error:
            raise Failure(FAILED, str(error)) from error
        except OSError as error:
            raise Failure(FAILED, f"{reading.path}: {error}") from error
    return readings


def build(readings: List[Reading], values: dict, out: str) -> None:
    files = [path for reading in readings for path in reading.outputs]
    if not files:
        raise Failure(FAILED, "nothing was found to index; an input is " + SUPPORTED)
    for path in files:
        if "," in path:
            raise Failure(MISTAKE, f"a comma in the path {path}; give it another name")
    run_program(find_program("tools/build_index/build_index"), f"--input={','.join(files)}", f"--out={out}",
                f"--partitions={values['partitions']}", f"--doc_partitions={values['doc_partitions']}")
    title = next((title for reading in readings for title in
                  [reading.first_title] + [title_of_first(path) for path in reading.outputs] if title), "")
    with open(out + ".first_query", "w", encoding="utf-8") as file:
        file.write(" ".join(word for word in "".join(c if c.isalnum() else " " for c in title).split()[:4]) + "\n")


def serve(values: dict, out: str) -> None:
    program, spec = find_program("tools/cluster/cluster"), find_spec(values["spec"])
    print(f"serving with {spec}; Ctrl-C ends it", file=sys.stderr, flush=True)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(program, [program, f"--spec={spec}", f"--data={out}"])


def run(inputs: List[str], values: dict) -> int:
    if not inputs:
        raise Failure(MISTAKE, "which documents? Give " + SUPPORTED)
    for flag in ("partitions", "doc_partitions"):
        if not 1 <= values[flag] <= 256:
            raise Failure(MISTAKE, f"--{flag}: 1 to 256")
    root = source_root()
    default = os.path.join(root, "data", "var", "own") if root else caller_path("own")
    out = caller_path(values["out"]) if values["out"] else default
    if values["serve"]:
        find_spec(values["spec"])
    parent = os.path.dirname(out)
    os.makedirs(parent, exist_ok=True)
    working = tempfile.mkdtemp(prefix=".index-", dir=parent)
    try:
        build(read_all([caller_path(path) for path in inputs], values, working), values, out)
    finally:
        shutil.rmtree(working, ignore_errors=True)
    print(f"the index is in {out}", file=sys.stderr)
    if values["serve"]:
        serve(values, out)
    print(f"search it with: neptune cluster --spec=data/clusters/small.textproto --data={out}", file=sys.stderr)
    return 0


def main() -> int:
    values, inputs = command_flags.parse("index", USAGE, FLAGS, sys.argv[1:])
    try:
        return run(inputs, values)
    except Failure as failure:
        print(f"index: {failure}", file=sys.stderr)
        return failure.status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
