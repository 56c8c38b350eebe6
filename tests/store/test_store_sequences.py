"""Reading sequences: FASTA and DeepBind's tables, and what is wrong with a file, by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from data_kit import KIT

from dissensus.errors import KernelError
from dissensus.store.sequences import read_sequences

TABLE = "FoldID\tEventID\tseq\tBound\nA\tone\tACGT\t1\nB\ttwo\tGGN\t0\n"


def written(folder: Path, text: str | bytes, name: str = "some.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_fasta_may_be_wrapped_and_compressed(tmp_path: Path, ending: str, is_packed: bool) -> None:
    text = ending.join([">one the first", "ACGT", "AC GT", "", "; a comment", ">two", "ggn", ">", "T"])
    path = written(tmp_path, gzip.compress(text.encode()) if is_packed else "\ufeff" + text)
    found = read_sequences(path)
    assert found.names == ("one", "two", "line 8")
    assert found.sequences == ("ACGTACGT", "ggn", "T")
    assert found.lines == (1, 6, 8)
    assert found.is_bound is None


@pytest.mark.parametrize("is_packed", [False, True])
def test_deepbind_files_say_what_is_bound(tmp_path: Path, is_packed: bool) -> None:
    found = read_sequences(written(tmp_path, gzip.compress(TABLE.encode()) if is_packed else TABLE))
    assert (found.names, found.sequences, found.lines) == (("one", "two"), ("ACGT", "GGN"), (2, 3))
    assert found.is_bound is not None
    assert found.is_bound.tolist() == [True, False]
    alone = read_sequences(written(tmp_path, "seq\nACGT\n"))
    assert (alone.names, alone.is_bound) == (("line 2",), None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("ACGT\n", "line 1: 'ACGT' starts neither FASTA"),
        (">one\nAC\n>two\n>three\nAC", "line 3: 'two' has no sequence"),
        ("; only this", "has only comments"),
        ("; first\nACGT\n>one\nA", "line 2: letters before the first name"),
        ("FoldID\tEventID\tseq\tBound\n", "has a header and no sequences"),
        (TABLE + "A\tthree\tAC\n", "line 4: 3 columns instead of 4"),
        (TABLE + "A\tthree\tAC\tyes\n", "line 4: Bound is 'yes': give 1 for bound"),
        (TABLE + "A\tthree\tAC\tnan\n", "line 4: Bound is 'nan'"),
        (TABLE + "A\tthree\t\t1\n", "line 4: the column seq is empty"),
        (b">one\nACGT\n\xff\xfe\n", "line 3: not text"),
        (gzip.compress(TABLE.encode(), mtime=0)[:-9], "is cut off or damaged"),
        (gzip.compress(TABLE.encode(), mtime=0)[:20] + b"damage" * 9, "is cut off or damaged"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(KernelError, match=message) as refused:
        read_sequences(written(tmp_path, content))
    assert "\n" not in str(refused.value)


def test_no_file_and_no_pipe(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="no such file"):
        read_sequences(tmp_path / "none.fa")
    with pytest.raises(KernelError, match="no such file"):
        read_sequences(tmp_path)
    with pytest.raises(KernelError, match="pipe or a device"):
        read_sequences("/dev/null")


@pytest.mark.skipif(not (KIT / "dna").is_dir(), reason="the data kit is not there")
def test_the_kits_binding_sites() -> None:
    sizes = {}
    for path in sorted((KIT / "dna").glob("*.seq.gz")):
        found = read_sequences(path)
        assert {len(one) for one in found.sequences} == {101}
        assert found.is_bound is not None
        sizes[path.name.split("_")[0], path.name[-8]] = (len(found), int(found.is_bound.sum()))
    assert sizes == {
        ("ELK1", "C"): (5084, 5084), ("ELK1", "B"): (1000, 500), ("MYC", "C"): (4051, 4051),
        ("MYC", "B"): (1000, 500), ("REST", "C"): (6406, 6406), ("REST", "B"): (1000, 500),
    }  # fmt: skip
