"""Units of //tools:deploy, started as systemd would start them: nodes find each other by a real etcd.

Hosts are addresses of the loopback network. The directory is killed, then a node; then all nodes are stopped.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from waiting import free_port, wait_until

DEPLOY, NEPTUNED = (os.path.abspath(path) for path in sys.argv[1:3])
ETCD = "/usr/bin/etcd"
LIMIT_S = 60.0
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
NODES = {"one": "127.0.0.11", "two": "127.0.0.12", "three": "127.0.0.13"}


def known_nodes(address, port):
    """The names of the nodes that the node at this administration port knows; none if it does not answer."""
    try:
        with OPENER.open(f"http://{address}:{port}/statusz?format=json", timeout=3) as answer:
            return set(names_in(json.load(answer)))
    except OSError:
        return set()


def names_in(status):
    for section in status["sections"]:
        if section["name"] == "yellow page":
            nodes = next(table for table in section["tables"] if table["title"] == "Nodes")
            yield from (row[0] for row in nodes["rows"])


def start_etcd(folder, port, peer_port):
    url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return subprocess.Popen(
        [ETCD, "--data-dir", folder, "--listen-client-urls", url, "--advertise-client-urls", url,
         "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
         "--initial-cluster", f"default={peer_url}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def command_of(unit):
    with open(unit, encoding="utf-8") as lines:
        return next(line[len("ExecStart="):].split() for line in lines if line.startswith("ExecStart="))


def main():
    if not os.path.exists(ETCD):
        print("SKIPPED: no etcd")
        return
    folder = tempfile.mkdtemp(prefix="deployed", dir=os.environ.get("TEST_TMPDIR"))
    etcd_port, peer_port, admin_port = (free_port("0.0.0.0") for _ in range(3))
    cluster = f"deployed-{etcd_port}"
    with open(f"{folder}/spec", "w", encoding="utf-8") as spec:
        spec.write(f"name: '{cluster}'\n"
                   f"membership {{ directory: 'etcd' etcd_endpoints: '127.0.0.1:{etcd_port}' }}\n"
                   "services { name: 'echo' module: 'echo' }\n")
        for node in NODES:
            spec.write(f"nodes {{ name: '{node}' admin_port: {admin_port} hosts {{ service: 'echo' }} }}\n")
    with open(f"{folder}/hosts", "w", encoding="utf-8") as hosts:
        hosts.writelines(f"host-{node} {address} {node}\n" for node, address in NODES.items())
    subprocess.run([DEPLOY, f"--spec={folder}/spec", f"--hosts={folder}/hosts", f"--out={folder}/out",
                    f"--program={NEPTUNED}", f"--config_dir={folder}/config", f"--base_dir={folder}",
                    f"--data_dir={folder}/state"], check=True)
    shutil.copytree(f"{folder}/out/host-one", f"{folder}/config/{cluster}")
    processes = {}
    etcd = start_etcd(f"{folder}/etcd", etcd_port, peer_port)
    try:
        for node in NODES:
            unit = f"{folder}/out/host-{node}/neptune-{cluster}-{node}.service"
            processes[node] = subprocess.Popen(command_of(unit))
        check(processes, etcd, admin_port)
    finally:
        for process in (etcd, *processes.values()):
            process.kill()
            process.wait()
        shutil.rmtree(folder)


def check(processes, etcd, admin_port):
    def all_know(expected):
        return all(known_nodes(NODES[node], admin_port) == expected for node in expected)

    wait_until(lambda: all_know({"one", "two", "three"}), LIMIT_S, "all know all")
    etcd.kill()
    etcd.wait()
    processes["two"].kill()
    processes["two"].wait()
    wait_until(lambda: all_know({"one", "three"}), LIMIT_S, "without a directory, the dead one is out")
    begin = time.monotonic()
    while time.monotonic() - begin < 8:  # longer than silence is borne
        assert all_know({"one", "three"}), "the living stay"
        time.sleep(0.5)
    for node in ("one", "three"):
        processes[node].send_signal(signal.SIGTERM)
        assert processes[node].wait(LIMIT_S) == 0, "a clean stop"


main()
