from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dissensus.store import consent
from dissensus.store.consent import Code, agree, unagreed
from dissensus.store.folder import Folder


def test_two_agreements_at_once_are_both_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write = consent.write_text

    def slow(path: Path, text: str) -> None:
        time.sleep(0.2)
        write(path, text)

    monkeypatch.setattr(consent, "write_text", slow)
    folders, code = [Folder(tmp_path / name) for name in ("one", "two")], Code("python:a.py:f", "0" * 16)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda folder: agree(folder, [code]), folders))
    assert [unagreed(folder, [code]) for folder in folders] == [[], []]
