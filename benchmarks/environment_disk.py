"""What environments cost in disk: for each image of the engine the bytes that are its own, over its base, and what all of them share.

    python benchmarks/environment_disk.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import statistics

from sandbox import images
from sandbox.docker import DockerEngine


def main() -> None:
    """Print a line an image, and the sums by kind."""
    engine = DockerEngine("benchmark")
    usage = engine.api.df()
    rows: dict[str, list[tuple[int, str]]] = {}
    for image in usage["Images"]:
        kind = (image.get("Labels") or {}).get(images.KIND_LABEL)
        if kind:
            rows.setdefault(kind, []).append((image["Size"] - max(image["SharedSize"], 0), (image.get("RepoTags") or ["untagged"])[0]))
    for kind, found in sorted(rows.items()):
        for own, name in sorted(found, reverse=True):
            print(f"{own / 1e6:9.1f} MB  {kind:<12} {name}")
    for kind, found in sorted(rows.items()):
        sizes = [own for own, _ in found]
        print(f"{kind}: {len(sizes)} images, of their own {sum(sizes) / 1e9:.2f} GB, "
              f"median {statistics.median(sizes) / 1e6:.0f} MB, most {max(sizes) / 1e6:.0f} MB")
    print(f"all layers together: {usage['LayersSize'] / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
