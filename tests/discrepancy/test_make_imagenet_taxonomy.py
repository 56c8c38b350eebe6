from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_imagenet_taxonomy.py"
# lemmas, gloss, parents ('@' and '@i' are hypernyms, '~' hyponyms, '@' to a verb is none), in the order of the file
SYNSETS = [
    (["entity"], "what is; said of all", []),
    (["water_bird", "waterfowl"], "a bird | of the water", [("@", 0, "n"), ("~", 2, "n")]),
    (["drake"], "a male duck", [("@", 1, "n"), ("@i", 0, "n"), ("+", 1, "v"), ("@", 0, "v")]),
    (["stone"], "a stone", [("@", 0, "n")]),
]


def data_noun(path: Path) -> list[str]:
    """Write SYNSETS in the format of WordNet's data.noun and return their wnids, which are byte offsets."""
    notice = "  1 Princeton University writes its licence here, with 'é' of two bytes.\n".encode()
    lines = [
        f"{{{number}}} 03 n {len(lemmas):02x} {' '.join(f'{lemma} 0' for lemma in lemmas)} {len(pointers):03} "
        + "".join(f"{symbol} {{{target}}} {part} 0000 " for symbol, target, part in pointers)
        + f"| {gloss}  \n"
        for number, (lemmas, gloss, pointers) in enumerate(SYNSETS)
    ]
    offsets, at = [], len(notice)
    for line in lines:
        offsets.append(f"{at:08}")
        at += len(line.format(*["00000000"] * len(SYNSETS)).encode())
    path.write_bytes(notice + "".join(line.format(*offsets) for line in lines).encode())
    return ["n" + offset for offset in offsets]


def make(*arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_classes_and_all_that_lies_above_them_and_nothing_else(tmp_path: Path) -> None:
    entity, bird, drake, stone = data_noun(tmp_path / "data.noun")
    (tmp_path / "wnids.txt").write_text(f"{drake}\n{bird}\n")
    done = make(tmp_path / "data.noun", tmp_path / "wnids.txt", tmp_path / "made.json.gz")
    assert done.returncode == 0, done.stderr
    document = json.loads(gzip.decompress((tmp_path / "made.json.gz").read_bytes()))
    assert document["classes"] == [drake, bird]
    assert stone not in document["nodes"]
    assert document["nodes"] == {
        entity: {"lemmas": ["entity"], "gloss": "what is; said of all", "parents": []},
        bird: {"lemmas": ["water bird", "waterfowl"], "gloss": "a bird | of the water", "parents": [entity]},
        drake: {"lemmas": ["drake"], "gloss": "a male duck", "parents": [bird, entity]},
    }


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "wnids.txt").write_text(data_noun(tmp_path / "data.noun")[2])
    for name in ("one", "other"):
        make(tmp_path / "data.noun", tmp_path / "wnids.txt", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_another_version_of_wordnet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wnids.txt").write_text(data_noun(tmp_path / "data.noun")[2])
    (tmp_path / "data.noun").write_bytes(b" " + (tmp_path / "data.noun").read_bytes())
    done = make(tmp_path / "data.noun", tmp_path / "wnids.txt", tmp_path / "made.json.gz")
    assert done.returncode != 0
    assert "not WordNet 3.0" in done.stderr
    assert not (tmp_path / "made.json.gz").exists()
