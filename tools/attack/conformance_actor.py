"""The table of `http_probes` against our frontend, and against Apache and nginx if they are installed.

Only ours are held to it; the others show what servers of the trade do with the same bytes.
"""

import os
import shutil
import subprocess
from typing import Dict, Iterator, List, NamedTuple, Optional

from http_answer import take_all
from http_probes import FOLLOWING, PROBES, Probe, filled, judge
from raw_client import ask, exchange
from rows import Row, counted, judged
from target import Attacked, Indexes, Setting, wait_for
from waiting import free_port

ACTOR = "http"
_START_LIMIT_S = 10.0
_STOP_LIMIT_S = 10.0

_APACHE = """ServerName localhost
ServerRoot {folder}
PidFile {folder}/pid
Listen 127.0.0.1:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dir_module {modules}/mod_dir.so
DocumentRoot {folder}/pages
ErrorLog {folder}/error.log
User #{user}
"""
_NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{port}; root {folder}/pages; }} }}
"""
_APACHE_MODULES = "/usr/lib/apache2/modules"


class Server(NamedTuple):
    name: str
    port: int
    path: str
    post: str


class Peer:
    """Another web server over one page, while the block is entered. `server` is None if it did not start."""

    def __init__(self, name: str, program: str, folder: str):
        self._name, self._program = name, program
        self._folder = os.path.join(folder, name)
        self._process: Optional[subprocess.Popen] = None
        self.server: Optional[Server] = None

    def __enter__(self) -> "Peer":
        os.makedirs(os.path.join(self._folder, "pages"))
        os.chmod(self._folder, 0o755)
        with open(os.path.join(self._folder, "pages", "page.html"), "w", encoding="ascii") as page:
            page.write("<p>a page</p>\n")
        port = free_port()
        text = _APACHE if self._name == "apache" else _NGINX
        config = os.path.join(self._folder, "conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(text.format(folder=self._folder, port=port, modules=_APACHE_MODULES, user=os.getuid() or 65534))
        arguments = ["-f", config, "-DFOREGROUND"] if self._name == "apache" else ["-c", config, "-e", self._folder + "/error.log"]
        with open(os.path.join(self._folder, "log"), "wb") as log:
            self._process = subprocess.Popen([self._program, *arguments], stdout=log, stderr=log)
        if wait_for(lambda: ask(port, "/page.html", timeout=1).status == 200, _START_LIMIT_S) is not None:
            self.server = Server(self._name, port, "/page.html", "/page.html")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def outcome(server: Server, probe: Probe) -> str:
    """Empty if what the server did is permitted."""
    host = f"127.0.0.1:{server.port}"
    data = filled(probe.request + FOLLOWING, server.path, server.post, host)
    received, has_ended = exchange(("127.0.0.1", server.port), data)
    try:
        return judge(probe, take_all(received, has_ended, probe.is_head))
    except ValueError as error:
        return str(error)


def _peers(folder: str) -> Iterator[Peer]:
    for name, programs in (("apache", ("apache2", "httpd")), ("nginx", ("nginx",))):
        program = next((found for found in map(shutil.which, programs) if found), None)
        if program:
            yield Peer(name, program, folder)


def run(setting: Setting, indexes: Indexes) -> Iterator[Row]:
    found: Dict[str, List[str]] = {}
    others: Dict[str, List[str]] = {}
    with Attacked(setting, "live", indexes.folder(4, 2)) as cluster:
        ours = Server("ours", cluster.port, "/healthz", "/documents")
        found = {probe.rule: [outcome(ours, probe)] for probe in PROBES}
        dead = cluster.dead_nodes()
    for peer in _peers(setting.folder):
        with peer:
            if peer.server:
                others[peer.server.name] = [outcome(peer.server, probe) for probe in PROBES]
            else:
                setting.say(f"http: {peer._name} did not start")
    for place, probe in enumerate(PROBES):
        beside = ", ".join(f"{name}: {results[place] or 'as permitted'}" for name, results in others.items())
        wrong = found[probe.rule][0]
        yield judged(ACTOR, probe.rule, "one request, then an ordinary one", "as the standard permits",
                     f"{wrong or 'as permitted'}" + (f" ({beside})" if beside else ""), not wrong)
    faults = [f"{rule}: {results[0]}" for rule, results in found.items() if results[0]]
    yield counted(ACTOR, "all", len(PROBES), "; ".join(
        [f"{len(PROBES)} probes"] + [f"{name}: {sum(map(bool, results))} wrong" for name, results in others.items()]),
        "0 wrong of ours", faults)
    yield judged(ACTOR, "all: nodes", "all of them", "0 nodes die", f"dead: {dead}" if dead else "none died", not dead)
