"""The clusters that are attacked: shipped specs as real processes on loopback, over one small index.

What differs from the shipped spec is named in the report's row or here: ports and the multicast group are free ones,
folders of secrets are those of the run.
"""

import os
import re
import ssl
import subprocess
import time
from typing import Callable, Dict, List, NamedTuple, Optional

from answers import Reply
from cluster_process import Cluster, NodeStatus, build_index
from process_figures import is_alive
from raw_client import ask
from spec_text import with_frontend_parameters
from waiting import wait_until

BACK_LIMIT_S = 60.0
RESTART_LIMIT_S = 20.0


class Programs(NamedTuple):
    cluster: str
    build_index: str
    certificates: str
    neptuned: str
    specs: Dict[str, str]  # by name: small, dev, ...
    documents: str


class Setting(NamedTuple):
    """What all actors need."""
    programs: Programs
    folder: str
    seconds: float
    changes: int
    seed: int
    resolution_ms: float
    say: Callable[[str], None]


class Indexes:
    """Indexes of the run by their partitions, built when first asked for."""

    def __init__(self, setting: Setting):
        self._setting = setting

    def folder(self, partitions: int, stores: int, *arguments: str) -> str:
        name = "-".join([f"index-{partitions}-{stores}", *(re.sub(r"\W", "", one) for one in arguments)])
        path = os.path.join(self._setting.folder, name)
        if not os.path.exists(os.path.join(path, "manifest.json")):
            build_index(self._setting.programs.build_index, self._setting.programs.documents, path,
                        f"--partitions={partitions}", f"--doc_partitions={stores}", *arguments)
        return path


def partition_counts(text: str) -> Dict[str, int]:
    """Of each service of a spec, in its form in data/clusters."""
    counts = {}
    for name, body in re.findall(r'(?m)^services \{\n  name: "(\w+)"\n((?:  .*\n)*)\}', text):
        match = re.search(r"partition_count: (\d+)", body)
        counts[name] = int(match[1]) if match else 1
    return counts


def with_partitions(text: str, count: int) -> str:
    """A spec whose nodes host all partitions, with another number of them for tiers and documents."""
    for service in ("tier1", "tier2", "docs"):
        text = re.sub(rf'(?m)^(  name: "{service}"\n  module: "\w+"\n)(?:  partition_count: \d+\n)?',
                      rf"\g<1>  partition_count: {count}\n", text)
    return with_frontend_parameters(text, {f"{service}_partitions": str(count) for service in ("tier1", "tier2", "docs")})


def with_service_parameters(text: str, services: List[str], parameters: Dict[str, str]) -> str:
    for service in services:
        lines = "".join(f'  parameters {{ key: "{key}" value: "{value}" }}\n' for key, value in parameters.items())
        text = re.sub(rf'(?m)^(services \{{\n  name: "{service}"\n  module: "\w+"\n)', rf"\g<1>{lines}", text)
    return text


def with_node_field(text: str, line: str) -> str:
    """A further line in each node."""
    return re.sub(r'(?m)^(nodes \{\n  name: "[^"]+"\n)', rf"\g<1>  {line}\n", text)


class Attacked(Cluster):
    """A cluster with the processes of its nodes, which must not die."""

    def __init__(self, setting: Setting, spec_name: str, index: str, change: Optional[Callable[[str], str]] = None,
                 tls: Optional[ssl.SSLContext] = None):
        self.setting = setting
        self.spec_name = spec_name
        self._tls = tls
        self._pids: Dict[str, int] = {}
        with open(setting.programs.specs[spec_name], encoding="utf-8") as file:
            text = file.read()
        changed = os.path.join(setting.folder, f"changed-{spec_name}.textproto")
        with open(changed, "w", encoding="utf-8") as file:
            file.write(change(text) if change else text)
        super().__init__(setting.programs.cluster, changed, index, setting.folder)

    def __enter__(self) -> "Attacked":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        self.note_processes()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def is_ready(self, port: int) -> bool:  # also where the frontends have TLS
        return self.ask("/readyz?complete=1", port=port, timeout=2).status == 200

    def note_processes(self) -> None:
        """Of the nodes that run; one that was drained is none of them."""
        self._pids = {name: node.pid for name, node in self._running().items()}

    def _running(self) -> Dict[str, NodeStatus]:
        return {name: node for name, node in self.status().items() if node.state == "running"}

    @property
    def port(self) -> int:
        return self.http_ports[0]

    @property
    def tls(self) -> Optional[ssl.SSLContext]:
        return self._tls

    def pids(self) -> Dict[str, int]:
        return dict(self._pids)

    def admin_ports(self) -> Dict[str, int]:
        return {name: int(node.admin.split(":")[1]) for name, node in self._running().items()}

    def call_ports(self) -> Dict[str, int]:
        return {name: int(node.calls.split(":")[1]) for name, node in self._running().items()}

    def dead_nodes(self) -> List[str]:
        """Nodes whose process has ended since they were last noted; the new processes are noted."""
        dead = [name for name, pid in self._pids.items() if not is_alive(pid)]
        if dead:
            wait_until(lambda: set(self._running()) >= set(self._pids), RESTART_LIMIT_S,
                       "the supervisor has started what died")
            self.note_processes()
        return dead

    def ask(self, path: str, port: int = 0, **options: object) -> Reply:
        return ask(port or self.port, path, tls=self._tls, **options)


def wait_for(condition: Callable[[], bool], limit_s: float) -> Optional[float]:
    """Seconds until it held; None at the limit."""
    try:
        return wait_until(condition, limit_s, "")
    except AssertionError:
        return None


def make_certificates(program: str, *arguments: str) -> None:
    subprocess.run([program, *arguments], check=True, capture_output=True, timeout=60)


def pause(seconds: float) -> None:
    """Time in which others go on: an attack that lasts, a load that is measured."""
    time.sleep(seconds)
