"""A study in which every name says what it must not, and a search for these names in whatever form."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from pictured import add_settings, ask
from served import CLASSES, Client, Reply, predictions
from worded_pictures import SECRET, colours, saved, worded_jpeg, worded_png, worded_tiff

from dissensus.study import Study

MODELS = (SECRET, "zzmodelbeta", "zzmodelgamma")
MARKS = ("zzmodel", "zzfile", "zzpool", "zzstudy", "zzroot")
ALIKE = {"label": "right", "similar": "yes"}
INSTRUCTIONS = "Say what you see."


class Listener(Client):
    """An annotator who keeps everything that comes back."""

    def __init__(self, address: str, token: str) -> None:
        self.heard: list[tuple[str, Reply]] = []
        super().__init__(address, token)

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        reply = super().request(method, path, body, **headers)
        self.heard.append((path, reply))
        return reply


def telltale_study(root: Path, has_training: bool = True, items: int = 24) -> Study:
    """Folders, files, items and models with telling names, and questions of all kinds and roles."""
    home = root / "zzroot" / f"zzpool {SECRET}"
    names = [_picture(home / SECRET, number) for number in range(items)]
    (home / "classes.txt").write_text("\n".join(CLASSES))
    study = Study.init(home / "zzstudy", classes=str(home / "classes.txt"), title=f"{MODELS[1].upper()} against others")
    study.pool([home / SECRET])
    study.predict([predictions(home, name, study.items()) for name in MODELS])
    study.change("estimate", {"questions": 0})
    study.select(k=4, reserves=2, cap=12, confidence=0.5)
    add_settings(study, control_rate=0.4, repeat_rate=0.4, instructions=[INSTRUCTIONS])
    ask(study, [{"kind": "choice", "first": names[n], "second": names[n + 1], "same": True} for n in range(8)])
    ask(study, [{"kind": "pick", "item": names[n], "options": ["ant", "bee", "cat"]} for n in range(8)])
    ask(study, [{"kind": "label", "item": names[n], "options": ["ant", "bee", "cat"]} for n in range(8)])
    ask(study, [{"kind": "slider", "first": names[n], "second": names[n + 2]} for n in range(8)])
    ask(study, [{"kind": "rating", "item": names[n]} for n in range(8)])
    ask(study, [{"kind": "frames", "anchor": names[n], "frame": names[n + 3], "labels": ["cat"]} for n in range(8)])
    known = [
        {"kind": "contains", "item": names[0], "label": "ant", "expected": "yes", "note": "an ant"},
        {"kind": "choice", "first": names[2], "second": names[5], "same": True, "expected": "first"},
        {"kind": "pick", "item": names[9], "options": ["ant", "bee", "cat"], "expected": "bee"},
        {"kind": "label", "item": names[9], "options": ["ant", "bee", "cat"], "expected": "bee"},
        {"kind": "slider", "first": names[3], "second": names[7], "expected": "second"},
        {"kind": "rating", "item": names[9], "expected": "good"},
        {"kind": "frames", "anchor": names[0], "frame": names[9], "labels": ["bee"], "expected": ALIKE},
    ]
    ask(study, known, "control")
    if has_training:
        fields = ("item", "first", "anchor")
        other = [one | {next(field for field in fields if field in one): names[11]} for one in known]
        ask(study, other, "training")
    return study


def _picture(folder: Path, number: int) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    image = colours(size=(80 + number, 64))
    kinds = (
        ("jpg", worded_jpeg(image)),
        ("png", worded_png(image)),
        ("tif", worded_tiff(image)),
        ("webp", saved(image, "WEBP", xmp=SECRET.encode())),
    )
    ending, data = kinds[number % len(kinds)]
    (folder / f"zzfile-{number}.{ending}").write_bytes(data)
    return f"zzfile-{number}.{ending}"


def spellings(mark: str) -> Iterable[bytes]:
    """A mark as it stands, and as programs write it."""
    plain = mark.encode()
    yield plain
    yield plain.hex().encode()
    yield "".join(f"%{byte:02x}" for byte in plain).encode()
    yield mark.encode("utf-16-le")
    yield mark.encode("utf-16-be")
    for offset in range(3):  # base64 depends on what stands before; its first and last letters also on neighbours
        shifted = base64.b64encode(b"?" * offset + plain)
        yield shifted[-(-8 * offset // 6) : (len(plain) + offset) * 8 // 6]


def telltales(sent: bytes) -> list[str]:
    """Marks that are in something that was sent, in any form."""
    whole = sent + b"".join(_unpacked(sent, found.start()) for found in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", sent))
    lowered = whole.lower()
    return [
        mark
        for mark in (*MARKS, quote(f" {SECRET}"))
        for spelled in spellings(mark)
        if spelled in whole or spelled.lower() in lowered
    ]


def _unpacked(data: bytes, start: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(data[start:], 1 << 20)
    except zlib.error:
        return b""
