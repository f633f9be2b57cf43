#!/usr/bin/env python3
"""Writes what the programs are built from, as an SPDX 2.3 document in JSON.

    sbom.py --version_header=neptune/base/version.h --list=tools/packages.txt --out=FILE

The packages of the list, which the system's package manager installs, with the versions that are installed. Status: 0
written; 1 a package is missing, or dpkg-query is; 2 wrong arguments.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import urllib.parse
from typing import Dict, List

_QUERY = ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package} ${Version} ${Architecture}\\n"]
_PROJECT = "SPDXRef-neptune-search"


def names_of(text: str) -> List[str]:
    """Of a list with one name a line and comments."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return sorted({line for line in lines if line})


def version_of(header: str) -> str:
    match = re.search(r'kVersion\[\] = "([^"]+)"', header)
    if not match:
        raise ValueError("the header has no version")
    return match[1]


def installed_of(listing: str) -> Dict[str, List[str]]:
    """Version and architecture by name, of what dpkg-query printed."""
    found = {}
    for line in listing.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == "installed":
            found[words[1]] = words[2:]
    return found


def _identifier(name: str) -> str:
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", lambda match: f"-{ord(match[0]):x}-", name)


def _package(name: str, version: str, architecture: str) -> dict:
    locator = f"pkg:deb/debian/{urllib.parse.quote(name)}@{urllib.parse.quote(version)}?arch={architecture}"
    return {"SPDXID": _identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]}


def document(version: str, names: List[str], installed: Dict[str, List[str]]) -> dict:
    """Pure; equal packages give an equal document. Raises ValueError if a package is not installed."""
    missing = [name for name in names if name not in installed]
    if missing:
        raise ValueError(f"not installed: {', '.join(missing)}")
    packages = [_package(name, *installed[name]) for name in names]
    contents = hashlib.sha256(json.dumps([version, packages]).encode()).hexdigest()
    project = {"SPDXID": _PROJECT, "name": "neptune-search", "versionInfo": version, "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
               "copyrightText": "NOASSERTION"}
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": _PROJECT}]
    relations += [{"spdxElementId": _PROJECT, "relationshipType": "DEPENDS_ON", "relatedSpdxElement": one["SPDXID"]}
                  for one in packages]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"neptune-search-{version}",
            "documentNamespace": f"https://neptune-search.invalid/spdx/{version}/{contents}",
            # The format wants a time; that of the build would make equal builds differ.
            "creationInfo": {"created": "1970-01-01T00:00:00Z", "creators": ["Tool: tools/setup/sbom.py"]},
            "packages": [project] + packages, "relationships": relations}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version_header", required=True)
    parser.add_argument("--list", action="append", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    try:
        texts = []
        for path in [options.version_header, *options.list]:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        names = names_of("\n".join(texts[1:]))
        # It fails if it does not know one of the names; what it prints is still right.
        listing = subprocess.run(_QUERY + names, capture_output=True, text=True, check=False).stdout
        made = document(version_of(texts[0]), names, installed_of(listing))
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(made, file, indent=1)
            file.write("\n")
    except (OSError, ValueError) as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
