"""A member that went bad: a store of `network.textproto`, with its true key and certificate, that wants to be a frontend.

It is started with a spec of its own, in which it hosts a frontend and may call everything. The others go by theirs.
"""

import json
import os
import re
import subprocess
from typing import Dict, Iterator, Optional

from raw_client import ask
from rows import Row, counted, judged, known_limit, not_measured
from secured import secured_network
from target import Attacked, Indexes, Setting, pause, wait_for
from waiting import free_port

ACTOR = "member"
_BAD = "store-3"
_CALL_LINE = "the cache, which its role may not call, refuses it"
_WORDS = ("mutex", "index", "git", "thread", "socket")
_OTHERS_LINE = "searches of others are whole"
_START_LIMIT_S = 15.0


class BadMember:
    """The node, in place of the good one of that name, while the block is entered."""

    def __init__(self, setting: Setting, cluster: Attacked, index: str):
        with open(cluster.spec, encoding="utf-8") as file:
            text = file.read()
        self.port = free_port()
        text = re.sub(r'(?m)^  callers: "\w+"\n', "", text)
        text = re.sub(r'(?m)^  parameters \{ key: "http_(certificate|key)_file" value: "[^"]+" \}\n', "", text)
        frontend = f'hosts {{ service: "frontend" parameters {{ key: "http_port" value: "{self.port}" }} }}'
        text = re.sub(rf'(?m)^nodes \{{\n  name: "{_BAD}"\n(?:  .*\n)*\}}', f'nodes {{\n  name: "{_BAD}"\n  {frontend}\n}}', text)
        self._folder = os.path.join(setting.folder, "bad-member")
        os.makedirs(self._folder)
        self._spec = os.path.join(self._folder, "spec.textproto")
        with open(self._spec, "w", encoding="utf-8") as file:
            file.write(text)
        cluster_program = os.path.realpath(setting.programs.cluster)  # `bazel run` gives a link to it
        modules = cluster_program + ".runfiles/neptune_search"
        self._arguments = [setting.programs.neptuned, "--spec=" + self._spec, "--node=" + _BAD, "--allow_root",
                           "--base_dir=" + index, "--module_dir=" + _module_folders(modules),
                           "--started_file=" + os.path.join(self._folder, "started")]
        self._process: Optional[subprocess.Popen] = None
        self.has_started = False

    def __enter__(self) -> "BadMember":
        with open(os.path.join(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen(self._arguments, stdout=log, stderr=log)
        started = os.path.join(self._folder, "started")
        self.has_started = wait_for(lambda: os.path.exists(started), _START_LIMIT_S) is not None
        return self

    def log(self) -> str:
        with open(os.path.join(self._folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _module_folders(root: str) -> str:
    folders = {folder for folder, _, names in os.walk(root, followlinks=True) if any(name.endswith(".so") for name in names)}
    return ":".join(sorted(folders))


def _refusals(cluster: Attacked) -> int:
    """Calls that nodes refused because of the caller's role."""
    total = 0
    for port in cluster.admin_ports().values():
        text = ask(port, "/metrics").body.decode(errors="replace")
        total += sum(int(value) for value in re.findall(r'neptune_security_refusals_total\{kind="caller"\} (\d+)', text))
    return total


def _parts_answered(answer: Dict) -> int:
    coverage = answer.get("coverage", {})
    return sum(tier.get("partitions_answered", 0) for tier in coverage.get("tiers", []))


def is_from_cache(answer: Dict) -> bool:
    return answer.get("coverage", {}).get("cache", {}).get("hit") is True


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    with secured_network(setting, indexes) as cluster:
        cluster.control("--drain=" + _BAD)
        cluster.note_processes()
        before = _refusals(cluster)
        with BadMember(setting, cluster, indexes.folder(2, 1)) as bad:
            if not bad.has_started:
                reasons = re.findall(r"(?m)^neptuned: (.*)", bad.log()) or ["it ended"]
                yield not_measured(ACTOR, "calls", _CALL_LINE, f"the bad node did not start: {reasons[-1][-200:]}")
                return
            pause(3)  # it hears the others, and they hear it
            for word in _WORDS:  # so that the cache has the answers
                cluster.ask(f"/search?format=json&q={word}")
            answered, statuses, read = [], [], 0
            for word in _WORDS:
                reply = ask(bad.port, f"/search?format=json&q={word}", timeout=8)
                statuses.append(reply.status)
                answer = json.loads(reply.body) if reply.status == 200 else {}
                answered += [f"'{word}' from the cache"] if is_from_cache(answer) else []
                read += _parts_answered(answer) > 0
            refused = _refusals(cluster) - before
            others = [cluster.ask(f"/search?format=json&q={word}") for word in ("mutex", "index", "git")]
        tried = f"{len(statuses)} searches by {_BAD} with its certificate, each in the cache ({refused} calls refused)"
        if refused == 0 and not answered:  # it did not even call
            yield not_measured(ACTOR, "calls", _CALL_LINE, f"no call reached a service: statuses {statuses}")
        else:
            yield counted(ACTOR, "calls", len(statuses), tried, _CALL_LINE, answered)
        yield known_limit(ACTOR, "services of its own", "the same searches",
                          "none: nodes of a service call each other (neptune/node/README.md, services.callers)",
                          f"{read} of {len(statuses)} searches were answered by tiers and document servers")
        partial = [reply for reply in others if reply.status != 200 or json.loads(reply.body)["partial"]]
        yield judged(ACTOR, "others meanwhile", "three searches at good frontends", _OTHERS_LINE,
                     f"{len(others) - len(partial)} of {len(others)} whole", not partial)
        dead = cluster.dead_nodes()
        yield judged(ACTOR, "nodes", "all of the above", "0 nodes die", f"dead: {dead}" if dead else "none died", not dead)
    for attack, test in (("votes and log entries in another's name", "//neptune/node:caller_policy_test, //tests/runtime:security_test"),
                         ("messages of replicas with any contents", "//neptune/replication/protocol:replica_message_test"),
                         ("answers of a tier with any contents", "//index/tier:tier_messages_fuzz_test")):
        yield not_measured(ACTOR, attack, "-", f"not tried here; {test}")
