"""The servers that are compared: how each is built, started, asked and understood.

A variant is what is measured of a server: `plain` answers with titles and highlighted snippets and no
cache of answers, `bare` without snippets, `cached` with its cache of answers, `cached_html` pages.
"""

import http.client
import json
import os
import shutil
import time
import urllib.parse
from typing import Dict, List, NamedTuple, Optional, Tuple

import spec_text
from redis_pipe import RedisPipe, redis_request
from server_process import ServerProcess, run_and_measure

HITS = 10
SNIPPET_BYTES = 240
CACHE_ENTRIES = 20_000
ASK_TIMEOUT_S = 30.0


class Place(NamedTuple):
    """Where a server's files are, and its first port."""
    work: str
    port: int

    def path(self, *parts: str) -> str:
        return os.path.join(self.work, *parts)


class BuildCost(NamedTuple):
    processor_s: float
    seconds: float
    megabytes: float


def http_request(port: int, path: str, body: str = "", header: str = "") -> bytes:
    content = body.encode()
    fields = f"Host: 127.0.0.1:{port}\r\n{header}"
    if content:
        fields += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{'POST' if content else 'GET'} {path} HTTP/1.1\r\n{fields}\r\n".encode() + content


def folder_megabytes(folder: str) -> float:
    sizes = (os.path.getsize(os.path.join(base, name)) for base, _, names in os.walk(folder) for name in names)
    return sum(sizes) / 1e6


class Server:
    """One server as it is measured."""
    name = ""
    is_ours = False
    protocol = "http"
    variants: Tuple[str, ...] = ("plain", "bare", "cached")
    unwanted: Tuple[str, ...] = ()  # texts of incomplete answers

    def __init__(self, place: Place):
        self.place = place

    # What each server says of itself.
    def argv(self, variant: str) -> List[str]:
        raise NotImplementedError

    def environment(self) -> Dict[str, str]:
        return {}

    def request(self, query: str, variant: str) -> bytes:
        raise NotImplementedError

    def is_whole(self, answer: bytes) -> bool:
        """Whether it is an answer with hits, of which nothing is missing."""
        raise NotImplementedError

    def any_of(self, words: List[str]) -> str:
        """A query for documents with any of the words."""
        return " OR ".join(words)

    def build(self, documents: str, log: str) -> Optional[BuildCost]:
        """Makes the index unless it is there already; None if nothing is known of its cost."""
        return None

    def after_start(self, variant: str) -> None:
        """Settings of the running server."""

    @property
    def port(self) -> int:
        return self.place.port

    def ask(self, request: bytes, timeout_s: float = ASK_TIMEOUT_S) -> bytes:
        """The body of an answer of success. Raises OSError or http.client.HTTPException otherwise."""
        head, _, body = request.partition(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n")[0].decode().split(" ")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request(method, path, body or None, {key: fields[key] for key in fields if key != "Host"})
            response = connection.getresponse()
            content = response.read()
            if response.status != 200:
                raise http.client.HTTPException(f"{self.name}: {response.status} {content[:200]!r}")
            return content
        finally:
            connection.close()


class Ours(Server):
    """A cluster of this tree's programs, from a spec of data/clusters."""
    is_ours = True
    variants = ("plain", "bare", "cached", "cached_html")
    unwanted = ('"partial":true', '"partial": true')
    BARE = {"snippet_size_max": "0", "count_exactly": "false", "second_phase_count": "0", "spelling": "false",
            "trace_share": "0"}

    def __init__(self, place: Place, name: str, spec: str, programs: Dict[str, str], partitions: Tuple[int, int]):
        super().__init__(place)
        self.name = name
        self._spec = spec
        self._programs = programs  # cluster, build_index
        self._partitions = partitions

    def write_spec(self, variant: str) -> str:
        with open(self._spec, encoding="utf-8") as file:
            text = file.read()
        ports = [self.port + i for i in range(spec_text.http_port_count(text))]
        group = f"239.192.77.{self.port % 250 + 1}:{self.port % 20000 + 20000}"
        text = spec_text.with_identity(text, f"bench-{self.name}", group)
        text = spec_text.with_http_ports(text, ports)
        if not variant.startswith("cached"):
            text = spec_text.without_cache(text)
        if variant == "bare":
            text = spec_text.with_frontend_parameters(text, self.BARE)
        folder = self.place.path("specs")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{self.name}-{variant}.textproto")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def argv(self, variant: str) -> List[str]:
        return [self._programs["cluster"], "--spec=" + self.write_spec(variant), "--data=" + self._index(),
                "--state=" + self.place.path("state", f"{self.name}-{variant}")]

    def _index(self) -> str:
        return self.place.path("index", self.name)

    def build(self, documents: str, log: str) -> Optional[BuildCost]:
        folder = self._index()
        if os.path.exists(os.path.join(folder, "manifest.json")):
            return None
        indexes, stores = self._partitions
        processor_s, seconds = run_and_measure(
            [self._programs["build_index"], "--input=" + documents, "--out=" + folder, f"--partitions={indexes}",
             f"--doc_partitions={stores}", "--id_url_prefix="], log)
        return BuildCost(processor_s, seconds, folder_megabytes(folder))

    def request(self, query: str, variant: str) -> bytes:
        form = "" if variant == "cached_html" else "format=json&"
        header = "Accept: text/html\r\n" if variant == "cached_html" else ""
        return http_request(self.port, f"/search?{form}q={urllib.parse.quote_plus(query)}", header=header)

    def is_whole(self, answer: bytes) -> bool:
        if answer.lstrip().startswith(b"<"):
            return True
        parsed = json.loads(answer)
        return bool(parsed["results"]) and not parsed["partial"]


class Groonga(Server):
    """Groonga's own HTTP server; it closes the connection after each answer."""
    name = "groonga"

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("groonga") is not None

    def _database(self) -> str:
        return self.place.path("index", "groonga", "db")

    def argv(self, variant: str) -> List[str]:
        return ["groonga", "--protocol", "http", "--bind-address", "127.0.0.1", "--port", str(self.port), "-s",
                self._database()]

    def after_start(self, variant: str) -> None:
        count = CACHE_ENTRIES if variant == "cached" else 0
        self.ask(http_request(self.port, f"/d/cache_limit?max={count}"))

    def build(self, documents: str, log: str) -> Optional[BuildCost]:
        folder = os.path.dirname(self._database())
        if os.path.exists(self._database()):
            return None
        os.makedirs(folder, exist_ok=True)
        commands = self.place.path("groonga.commands")
        with open(documents, encoding="utf-8") as lines, open(commands, "w", encoding="utf-8") as out:
            out.write("plugin_register token_filters/stem\n"
                      "table_create Documents TABLE_HASH_KEY ShortText\n"
                      "column_create Documents title COLUMN_SCALAR ShortText\n"
                      "column_create Documents text COLUMN_SCALAR Text\n"
                      "table_create Words TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram "
                      "--normalizer NormalizerAuto --token_filters TokenFilterStem\n"
                      "load --table Documents\n[\n")
            for number, line in enumerate(lines):
                document = json.loads(line)
                out.write(("," if number else "") + json.dumps(
                    {"_key": str(document["id"]), "title": document["title"],
                     "text": document["title"] + "\n" + document["text"]}, ensure_ascii=False) + "\n")
            # An index that is made after the documents is built as a whole, which costs least.
            out.write("]\ncolumn_create Words of_text COLUMN_INDEX|WITH_POSITION Documents text\n")
        processor_s, seconds = run_and_measure(["groonga", "--file", commands, "-n", self._database()], log)
        os.unlink(commands)
        return BuildCost(processor_s, seconds, folder_megabytes(folder))

    def request(self, query: str, variant: str) -> bytes:
        columns = "_key,title,_score" + ("" if variant == "bare" else ",snippet_html(text)")
        asked = {"table": "Documents", "match_columns": "scorer_tf_idf(text)", "query": query, "limit": str(HITS),
                 "output_columns": columns, "sort_keys": "-_score"}
        return http_request(self.port, "/d/select?" + urllib.parse.urlencode(asked))

    def is_whole(self, answer: bytes) -> bool:
        head, body = json.loads(answer)
        return head[0] == 0 and body[0][0][0] > 0


class RediSearch(Server):
    """The module of Redis; its protocol is Redis's own."""
    name = "redisearch"
    protocol = "redis"
    variants = ("plain", "bare")  # it has no cache of answers
    MODULES = ("/usr/lib/redis/modules/redisearch.so",)

    @classmethod
    def module(cls) -> Optional[str]:
        return next((path for path in cls.MODULES if os.path.exists(path)), None)

    @classmethod
    def is_installed(cls) -> bool:
        return cls.module() is not None and shutil.which("redis-server") is not None

    def _folder(self) -> str:
        return self.place.path("index", self.name)

    def argv(self, variant: str) -> List[str]:
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self._folder(),
                "--save", "", "--loadmodule", str(self.module())]

    def build(self, documents: str, log: str) -> Optional[BuildCost]:
        dump = os.path.join(self._folder(), "dump.rdb")
        if os.path.exists(dump):
            return None
        os.makedirs(self._folder(), exist_ok=True)
        began = time.monotonic()
        process = ServerProcess(self.argv("plain"), log)
        try:
            self._load(documents)
            processor_s = process.processor_s()
        finally:
            process.stop()
        return BuildCost(processor_s, time.monotonic() - began, os.path.getsize(dump) / 1e6)

    def _load(self, documents: str) -> None:
        pipe = RedisPipe(self.port)
        pipe.call("FT.CREATE", "documents", "SCHEMA", "title", "TEXT", "text", "TEXT")
        with open(documents, encoding="utf-8") as lines:
            for line in lines:
                document = json.loads(line)
                pipe.send("FT.ADD", "documents", str(document["id"]), "1", "FIELDS", "title", document["title"],
                          "text", document["title"] + "\n" + document["text"])
        pipe.finish()
        pipe.call("SAVE")
        pipe.close()

    def request(self, query: str, variant: str) -> bytes:
        words = ["FT.SEARCH", "documents", query, "SCORER", "BM25", "WITHSCORES", "LIMIT", "0", str(HITS)]
        if variant == "bare":
            return redis_request(*words, "RETURN", "1", "title")
        return redis_request(*words, "RETURN", "2", "title", "text", "SUMMARIZE", "FIELDS", "1", "text", "FRAGS", "1",
                             "LEN", "40", "HIGHLIGHT", "FIELDS", "1", "text")

    def any_of(self, words: List[str]) -> str:
        return "|".join(words)

    def is_whole(self, answer: bytes) -> bool:
        return answer.startswith(b"*") and not answer.startswith(b"*1\r\n")

    def ask(self, request: bytes, timeout_s: float = ASK_TIMEOUT_S) -> bytes:
        pipe = RedisPipe(self.port, timeout_s)
        try:
            return pipe.ask_raw(request)
        finally:
            pipe.close()


class Described(Server):
    """A server that a JSON file describes; README.md has an example."""
    KEYS = {"name", "port", "start", "start_cached", "environment", "path", "path_bare", "body", "body_bare", "whole",
            "unwanted", "build", "index"}

    def __init__(self, place: Place, description: dict):
        unknown = set(description) - self.KEYS
        missing = {"name", "port", "start", "path", "whole"} - set(description)
        if unknown or missing:
            raise ValueError(f"a server's description lacks {sorted(missing)}, has unknown {sorted(unknown)}")
        super().__init__(Place(place.work, int(description["port"])))
        self.name = description["name"]
        self._description = description
        self.unwanted = tuple(description.get("unwanted", ()))
        self.variants = ("plain",) + (("bare",) if self._has_bare() else ()) + (
            ("cached",) if "start_cached" in description else ())

    def _has_bare(self) -> bool:
        return "path_bare" in self._description or "body_bare" in self._description

    def argv(self, variant: str) -> List[str]:
        return self._description["start_cached" if variant == "cached" else "start"]

    def environment(self) -> Dict[str, str]:
        return self._description.get("environment", {})

    def build(self, documents: str, log: str) -> Optional[BuildCost]:
        """The documents are the program's standard input."""
        description = self._description
        if "build" not in description or os.path.exists(description["index"]):
            return None
        processor_s, seconds = run_and_measure(description["build"], log, stdin=documents)
        return BuildCost(processor_s, seconds, folder_megabytes(description["index"]))

    def request(self, query: str, variant: str) -> bytes:
        def template(key: str) -> str:
            default = self._description.get(key, "")
            return self._description.get(key + "_bare", default) if variant == "bare" else default
        path = template("path").replace("{query}", urllib.parse.quote_plus(query))
        body = template("body").replace("{query}", json.dumps(query)[1:-1])
        return http_request(self.port, path, body)

    def is_whole(self, answer: bytes) -> bool:
        text = answer.decode("utf-8", "replace")
        return self._description["whole"] in text and not any(bad in text for bad in self.unwanted)
