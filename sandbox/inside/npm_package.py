"""Fetch one package of the npm registry into a folder, with nothing but Python: how Node itself and its package managers come into an image.

Arguments: the registry's address, the package's name, the wanted version (a whole one, a beginning of one, or nothing for the newest), the folder.
Prints the version.
"""

import base64
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request


def ask(url):
    request = urllib.request.Request(url, headers={"Accept": "application/vnd.npm.install-v1+json, */*"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def chosen(document, wanted):
    """The wanted version, else the newest release of the nearest line to it."""
    versions = [version for version in document["versions"] if re.fullmatch(r"\d+\.\d+\.\d+", version)]
    order = sorted(versions, key=lambda version: tuple(map(int, version.split("."))))
    if wanted in document["versions"]:
        return wanted
    parts = wanted.split(".") if wanted else []
    for count in range(len(parts), 0, -1):
        begins = ".".join(parts[:count]) + "."
        found = [version for version in order if version.startswith(begins)]
        if found:
            return found[-1]
    if wanted:
        sys.exit("there is no version %s" % wanted)
    return document.get("dist-tags", {}).get("latest") or order[-1]


def write(path, data, mode):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755 if mode & 0o100 else 0o644)


def main():
    registry, name, wanted, folder = sys.argv[1:5]
    document = json.loads(ask(registry.rstrip("/") + "/" + urllib.parse.quote(name, safe="@")))
    version = chosen(document, wanted)
    dist = document["versions"][version]["dist"]
    data = ask(dist["tarball"])
    integrity = dist.get("integrity", "")
    if integrity.startswith("sha512-") and base64.b64encode(hashlib.sha512(data).digest()).decode() != integrity[len("sha512-"):]:
        sys.exit("%s@%s is not what the registry says it is" % (name, version))
    os.makedirs(folder, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for member in archive.getmembers():
            inner = os.path.normpath(member.name.partition("/")[2])
            if member.isfile() and not inner.startswith(("..", "/")):
                write(os.path.join(folder, inner), archive.extractfile(member).read(), member.mode)
    print(version)


main()
