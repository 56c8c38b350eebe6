"""Disks that fill up or cannot be written: one line, exit code 2, nothing damaged. On real, tiny file systems."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess

import pytest

from dissensus.study import Study

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("small_disk", ["3m"], indirect=True)]


def fill(path):
    """Write until there is no room."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(descriptor, b"0" * 4096)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    finally:
        os.close(descriptor)


def test_steps_on_a_full_disk_damage_nothing(small_disk, demo, command, tmp_path):
    study = small_disk / "study"
    shutil.copytree(demo[0] / "study", study)
    ranked = json.loads(command("rank", study, "--json").stdout)
    exported = tmp_path / "before.csv"
    Study(study).judgements_export(exported)
    questions = Study(study).asked()
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "\n".join(
            json.dumps({"item": item, "label": label, "annotator": f"a{who}", "answer": "no"})
            for item, label in questions
            for who in range(200)
        )
    )
    filler = small_disk / "filler"
    fill(filler)
    for arguments in (
        ("judgements", "import", study, answers),
        ("report", study),
        ("judgements", "export", study, small_disk / "out.csv"),
    ):
        done = command(*arguments)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert "full" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    filler.unlink()
    again = tmp_path / "after.csv"
    Study(study).judgements_export(again)
    assert again.read_bytes() == exported.read_bytes()
    assert json.loads(command("rank", study, "--json").stdout) == ranked


def test_a_study_in_an_archive_can_be_read(small_disk, demo, command):
    study = small_disk / "study"
    shutil.copytree(demo[0] / "study", study)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    status = json.loads(command("status", study, "--json").stdout)
    assert status["judgements"] == status["questions"] > 100
    ranked = command("rank", study)
    assert ranked.returncode == 2
    assert "Read-only file system" in ranked.stderr
    assert len(ranked.stderr.strip().splitlines()) == 1
