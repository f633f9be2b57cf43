"""Changes of a cluster spec's text: another name, other ports, without a service, with parameters."""

import re
from typing import Dict, List

_SERVICE = r'(?m)^services \{\n  name: "%s"\n(?:  .*\n)*\}\n'


def with_identity(text: str, name: str, multicast_group: str) -> str:
    text = re.sub(r'(?m)^name: "[^"]*"', f'name: "{name}"', text, count=1)
    return re.sub(r'(multicast_group: )"[^"]*"', rf'\1"{multicast_group}"', text)


def with_http_ports(text: str, ports: List[int]) -> str:
    """One port for each `http_port`, in the order of the text."""
    left = list(ports)
    return re.sub(r'(key: "http_port" value: )"\d+"', lambda m: f'{m.group(1)}"{left.pop(0)}"', text)


def http_port_count(text: str) -> int:
    return len(re.findall(r'key: "http_port" value: "\d+"', text))


def without_cache(text: str) -> str:
    """No query cache: neither the service, nor nodes that host it, nor lookups of frontends."""
    text = re.sub(_SERVICE % "cache", "", text)
    text = re.sub(r'(?m)^  hosts \{ service: "cache" \}\n', "", text)
    return re.sub(r'(key: "cache_partitions" value: )"\d+"', r'\1"0"', text)


def with_frontend_parameters(text: str, parameters: Dict[str, str]) -> str:
    """The parameters of the service `frontend`, added or replaced."""
    match = re.search(_SERVICE % "frontend", text)
    if not match:
        raise ValueError("the spec has no service 'frontend' in the form of data/clusters")
    service = match.group()
    for key, value in parameters.items():
        line = f'  parameters {{ key: "{key}" value: "{value}" }}\n'
        service = re.sub(r'(?m)^  parameters \{ key: "%s" value: "[^"]*" \}\n' % key, "", service)
        service = service[:-2] + line + "}\n"
    return text[:match.start()] + service + text[match.end():]
