"""Make `dissensus/data/imagenet.json.gz`: the 1,000 ImageNet classes and every WordNet noun above them.

Sources, both from package registries:

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet     # WordNet 3.0; npm's is 3.1
    pip download --no-deps timm && unzip timm-*.whl 'timm/data/_info/*' -d timm

    python scripts/make_imagenet_taxonomy.py wordnet/usr/share/wordnet/data.noun \\
        timm/timm/data/_info/imagenet_synsets.txt dissensus/data/imagenet.json.gz

ImageNet's wnids are WordNet 3.0 byte offsets, so any other version of the file does not match, and the script says so.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

Synset = dict[str, Any]
HYPERNYMS = ("@", "@i")  # '@i': the synset is an instance of its parent


def synset_at(data: bytes, wnid: str) -> Synset:
    """Lemmas, gloss and parents of one synset; the number in a wnid is its byte offset in data.noun."""
    offset = int(wnid[1:])
    line = data[offset : data.find(b"\n", offset)].decode("utf-8")
    if not line.startswith(wnid[1:] + " "):
        raise SystemExit(f"{wnid} is not at its offset: data.noun is not WordNet 3.0 (Debian package wordnet-base)")
    head, gloss = line.split(" | ", 1)
    fields = head.split()
    words = int(fields[3], 16)
    lemmas = [fields[4 + 2 * i].replace("_", " ") for i in range(words)]
    first_pointer = 4 + 2 * words + 1
    pointers = [
        fields[first_pointer + 4 * i : first_pointer + 4 * i + 4] for i in range(int(fields[first_pointer - 1]))
    ]
    parents = ["n" + offset for symbol, offset, part, _ in pointers if symbol in HYPERNYMS and part == "n"]
    return {"lemmas": lemmas, "gloss": gloss.strip(), "parents": parents}


def taxonomy(data: bytes, wnids: list[str]) -> dict[str, Synset]:
    """The synsets of the classes and all their ancestors, by wnid, in sorted order."""
    nodes: dict[str, Synset] = {}
    waiting = list(wnids)
    while waiting:
        wnid = waiting.pop()
        if wnid not in nodes:
            nodes[wnid] = synset_at(data, wnid)
            waiting.extend(nodes[wnid]["parents"])
    return dict(sorted(nodes.items()))


def main(data_noun: str, synsets: str, target: str) -> None:
    """Write the taxonomy; the same inputs give the same bytes."""
    wnids = Path(synsets).read_text().split()
    nodes = taxonomy(Path(data_noun).read_bytes(), wnids)
    text = json.dumps({"classes": wnids, "nodes": nodes}, ensure_ascii=False, separators=(",", ":"))
    Path(target).write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))
    edges = sum(len(node["parents"]) for node in nodes.values())
    print(f"{target}: {len(wnids)} classes, {len(nodes)} nodes, {edges} edges, {Path(target).stat().st_size:,} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
