"""`dissensus kernel sequences`: files in, AUCs out, and every mistake in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run
from data_kit import KIT
from test_learning_strings import planted

from dissensus.errors import KernelError
from dissensus.kernels.strings import dinucleotide_shuffles, encode, reverse_complements
from dissensus.study.sequences import learn_sequences

SMALL = {"n": 6, "features": 400}
OPTIONS = ("--n", 6, "--features", 400)


def fasta(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f">s{number}\n{text}\n" for number, text in enumerate(texts)))
    return path


def table(path: Path, bound: list[str], unbound: list[str]) -> Path:
    rows = [f"A\tb{i}\t{text}\t1" for i, text in enumerate(bound)] + [
        f"A\tu{i}\t{text}\t0" for i, text in enumerate(unbound)
    ]
    path.write_text("\n".join(["FoldID\tEventID\tseq\tBound", *rows]))
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return fasta(tmp_path / "train.fa", planted(250))


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    bound = planted(80, seed=9)
    return table(tmp_path / "test.seq", bound, dinucleotide_shuffles(bound, seed=8).texts())


def test_the_command_prints_the_answer_first(train: Path, test_set: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    done = run("kernel", "sequences", train, "--test", test_set, "--baseline", "--scores", scores, *OPTIONS)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "Kitchen sinks rank a bound sequence above an unbound one with a probability (AUC) of 1.000"
    )
    assert lines[1].startswith("They are ")
    assert (
        "250 bound sequences and 750 shuffles (train.fa, both strands of each); tested on 80 bound sequences and 80"
        in lines[2]
    )
    rows = scores.read_text().splitlines()
    assert rows[0] == "sequence,score"
    assert len(rows) == 161
    assert sum(row.startswith("b") for row in rows[1:41]) > 35


def test_json_is_the_record(train: Path, test_set: Path) -> None:
    done = run("kernel", "sequences", train, "--test", test_set, "--gamma", 0.4, "--penalty", 0.001, "--json", *OPTIONS)
    found = json.loads(done.stdout)
    (machine,) = found["machines"]
    assert (machine["gamma"], machine["penalty"], machine["held_out"]) == (0.4, 0.001, None)
    assert machine["low"] < machine["auc"] < machine["high"]
    assert (found["difference"], found["trials"], found["shuffled"]) == (None, [], ["train"])
    assert found["words"][0].startswith("Kitchen sinks")


def test_without_a_test_file_a_fifth_is_set_aside(train: Path) -> None:
    result = learn_sequences(train, **SMALL)
    assert (result.train_bound, result.test_bound) == (200, 50)
    assert result.machines[0].auc > 0.9
    assert len(result.trials) > 9
    assert "a fifth, set aside" in str(result)
    assert "<table>" in result._repr_html_()


@pytest.mark.parametrize("is_labelled", [False, True])
def test_copies_of_a_sequence_are_set_aside_together(tmp_path: Path, is_labelled: bool) -> None:
    """Otherwise a machine would be tested on sequences that it learned from."""
    bound = planted(60)
    if is_labelled:
        path = table(tmp_path / "train.seq", bound * 3, planted(60, seed=4, motif="AAAAAAAA") * 2)
    else:
        path = fasta(tmp_path / "train.fa", bound * 3)
    result = learn_sequences(path, gamma=0.4, penalty=1e-3, **SMALL)
    assert result.notes == ()
    assert (result.train_bound, result.test_bound) == (144, 36)


def test_unbound_sequences_may_come_from_another_file(train: Path, tmp_path: Path) -> None:
    others = fasta(tmp_path / "others.fa", planted(120, seed=3, motif="AAAAAAAA"))
    result = learn_sequences(train, negatives=others, gamma=0.4, penalty=1e-3, **SMALL)
    assert (result.train_bound, result.train_unbound, result.shuffled) == (200, 96, ())
    assert f"({train.name} and others.fa, both strands of each); tested on" in result.words[-1]
    assert result.machines[0].auc > 0.9


def test_proteins_have_a_baseline_of_shorter_words(tmp_path: Path) -> None:
    path = fasta(tmp_path / "proteins.fa", planted(80, motif="MKVLWAAL"))
    result = learn_sequences(path, baseline=True, alphabet="protein", n=3, features=200)
    assert [(one.name, one.features) for one in result.machines] == [("kitchen sinks", 200), ("3-mers", 8000)]


def test_dna_has_two_strands_unless_told_otherwise(train: Path, test_set: Path, tmp_path: Path) -> None:
    turned = fasta(tmp_path / "turned.fa", reverse_complements(encode(planted(250))).texts())
    given = {"gamma": 0.4, "penalty": 1e-3, **SMALL}
    both = [learn_sequences(path, test_set, **given) for path in (train, turned)]
    assert [one.strands for one in both] == [2, 2]
    assert "(train.fa, both strands of each)" in both[0].words[-1]
    assert learn_sequences(train, turned, **given).notes == ("250 test sequences also are among those learned from.",)
    one = learn_sequences(train, turned, strands=1, **given)
    assert (one.strands, one.notes) == (1, ())
    assert "both strands" not in one.words[-1]
    done = run("kernel", "sequences", train, "--one-strand", "--json", "--gamma", 0.4, "--penalty", 0.001, *OPTIONS)
    assert json.loads(done.stdout)["strands"] == 1
    with pytest.raises(KernelError, match="3 strands: choose 1 or 2"):
        learn_sequences(train, strands=3)


def test_sequences_that_were_learned_from_are_counted(train: Path) -> None:
    result = learn_sequences(train, train, gamma=0.4, penalty=1e-3, **SMALL)
    assert result.notes == ("250 test sequences also are among those learned from.",)
    assert result.shuffled == ("train", "test")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (">a\nACGTACGTACGT\n>b\nACG\n", (), "train.fa, line 3: b has 3 letters, too few for n-grams of 8"),
        (">a\nACGTACGTACGT\n>b\nACGTACGTXX\n", (), "train.fa, line 3: b has 'X' at position 9"),
        (">a\nACGTNACGTNACGT\n", (), "line 1: a has an unknown letter in each of its n-grams of 8"),
        (">a\nAAAAAAAAAA\n", (), "no sequence has a dinucleotide shuffle other than itself"),
        (">a\nACCGTTTACCAGT\n", (), "1 bound and 3 unbound sequences are too few"),
        ("FoldID\tEventID\tseq\tBound\nA\ta\tACGTACGTAC\t0\n", (), "has no bound sequences"),
        (">a\nACCGTTTACCAGT\n", ("--features", 0), "--features 0: give at least 1"),
        (">a\nACCGTTTACCAGT\n", ("--features", 10**6), "--features 1000000: give at most 32,768"),
        (">a\nACCGTTTACCAGT\n", ("--gamma", "nan"), "--gamma nan: give a positive number"),
        (">a\nACCGTTTACCAGT\n", ("--seed", -1), "--seed -1: give a whole number of at least 0"),
        (">a\nACCGTTTACCAGT\n", ("--shuffles", 10**20), f"--shuffles {10**20}: give at most 1,000"),
        (">a\nACCGTTTACCAGT\n", ("--test", "train.fa", "--scores", "."), ". is a folder: give the name of a CSV file"),
        (">a\nACCGTTTACCAGT\n", ("--alphabet", "A"), "give 2 to 255 different letters"),
        (
            ">a\nMKVLWMKVLWAL\n",
            ("--alphabet", "protein", "--both-strands"),
            "--both-strands: the letters of 'protein' have no complements: use --one-strand",
        ),
        (">a\nACCGTTTACCAGT\n", ("--scores", "s.csv"), "give --test, too"),
        (">a\nACCGTTTACCAGT\n", ("--test", "none.fa"), "none.fa: no such file"),
    ],
)
def test_every_mistake_is_one_line(tmp_path: Path, content: str, options: tuple[object, ...], message: str) -> None:
    path = tmp_path / "train.fa"
    path.write_text(content)
    done = run("kernel", "sequences", path, *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_scores_do_not_replace_what_is_read(train: Path, test_set: Path) -> None:
    done = run("kernel", "sequences", train, "--test", test_set, "--scores", test_set)
    assert "is one of the files to read" in done.stderr
    with pytest.raises(KernelError, match="no such file"):
        learn_sequences("none.fa")


@pytest.mark.slow
@pytest.mark.skipif(not (KIT / "dna").is_dir(), reason="the data kit is not there")
def test_the_kits_binding_sites_are_recognised() -> None:
    """With an eighth of the features and without tuning; benchmarks/kitchen_sinks.py has the whole."""
    train, test = (next((KIT / "dna").glob(f"MYC*_{part}.seq.gz")) for part in ("AC", "B"))
    result = learn_sequences(train, test, features=1024, gamma=0.65, penalty=10**-3.5)
    assert (result.train_bound, result.test_bound, result.test_unbound) == (4051, 500, 500)
    assert result.machines[0].auc > 0.88
