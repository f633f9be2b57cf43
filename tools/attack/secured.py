"""The cluster of `network.textproto` on loopback: its certificates, key, roles, HTTPS and tokens are made for the run.

Differs from the shipped spec: addresses and ports, as everything is on one machine, and paths of the secrets.
"""

import os
import random
import re
import ssl

from target import Attacked, Indexes, Setting, make_certificates

OPERATOR_TOKEN = "operator-token-of-this-run"


def _secret(path: str, text: str) -> None:
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(text + "\n")


def _on_loopback(text: str, secrets: str) -> str:
    text = text.replace("/etc/neptune/network/", secrets + "/").replace('value: "0.0.0.0"', 'value: "127.0.0.1"')
    for field in ("cluster_key_file", "admin_token_file", "certificate_file", "key_file", "authority_file"):
        text = re.sub(rf'(?m)^(\s*{field}: )"([^"/]+)"', rf'\g<1>"{secrets}/\g<2>"', text)
    # Both frontends are on this machine, so each has a port of its own.
    text = re.sub(r'(?m)^  parameters \{ key: "http_port" value: "\d+" \}\n', "", text)
    return re.sub(r'hosts \{ service: "frontend" partitions: (\d) \}',
                  r'hosts { service: "frontend" partitions: \1 parameters { key: "http_port" value: "844\1" } }', text)


def secured_network(setting: Setting, indexes: Indexes) -> Attacked:
    secrets = os.path.join(setting.folder, "secrets")
    if not os.path.exists(secrets):
        make_certificates(setting.programs.certificates, "--spec=" + setting.programs.specs["network"], "--out=" + secrets)
        make_certificates(setting.programs.certificates, "--web=localhost", "--hosts=127.0.0.1", "--out=" + secrets + "-web")
        for end in ("crt", "key"):
            os.rename(os.path.join(secrets + "-web", f"localhost.{end}"), os.path.join(secrets, f"web.{end}"))
        _secret(os.path.join(secrets, "cluster_key"), random.Random(f"key {setting.seed}").randbytes(32).hex())
        _secret(os.path.join(secrets, "admin_token"), "admin-token-of-this-run")
        _secret(os.path.join(secrets, "operator_token"), OPERATOR_TOKEN)
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    return Attacked(setting, "network", indexes.folder(2, 1), lambda text: _on_loopback(text, secrets), tls)
