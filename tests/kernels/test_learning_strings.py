"""Learning which strings are bound: planted motifs are found, and what is held out never is learned from."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.errors import KernelError
from dissensus.kernels.roc import auc
from dissensus.kernels.strings import dinucleotide_shuffles, encode, ngram_kernel, reverse_complements
from dissensus.kernels.strings.alphabets import joined
from dissensus.kernels.strings.learning import Examples, counts_machine, sinks_machine, split, with_shuffles

MOTIF = "TGACGTCA"
FEW = {"gammas": (0.3, 1.0), "penalties": (1e-4, 1e-3, 1e-2)}


def planted(count: int, seed: int = 0, motif: str = MOTIF) -> list[str]:
    """Random strings of unequal lengths with a motif in the middle."""
    random = np.random.default_rng(seed)
    texts = []
    for length in random.integers(30, 50, count):
        letters = random.choice(list("ACGT"), length)
        at = random.integers(1, length - len(motif) - 1)
        letters[at : at + len(motif)] = list(motif)
        texts.append("".join(letters))
    return texts


def test_a_planted_motif_is_found_by_both_machines() -> None:
    learned, _ = with_shuffles(encode(planted(400)), seed=1)
    tested, _ = with_shuffles(encode(planted(150, seed=5)), seed=2)
    machine, best, trials = sinks_machine(learned, 6, 1024, **FEW)
    assert len(trials) == 6
    assert {trial.features for trial in trials} == {1024}
    assert best == max(trials, key=lambda trial: (trial.auc, trial.penalty))
    assert auc(machine.scores(tested.strings), tested.is_bound).value > 0.97
    baseline, _, _ = counts_machine(learned, 4, FEW["penalties"])
    assert auc(baseline.scores(tested.strings), tested.is_bound).value > 0.85


def test_the_same_seed_gives_the_same_machine_and_swapped_classes_turn_it_around() -> None:
    learned, _ = with_shuffles(encode(planted(60)), seed=1)
    known = sinks_machine(learned, 6, 100, **FEW)[0].scores(learned.strings)
    assert (sinks_machine(learned, 6, 100, **FEW)[0].scores(learned.strings) == known).all()
    swapped = Examples(learned.strings, ~learned.is_bound, learned.groups)
    given = {"gammas": (0.4,), "penalties": (1e-2,)}
    first, best, trials = sinks_machine(learned, 6, 100, **given)
    assert (best.gamma, best.penalty, trials) == (0.4, 1e-2, ())
    second = sinks_machine(swapped, 6, 100, **given)[0]
    assert second.scores(learned.strings) == pytest.approx(-first.scores(learned.strings), abs=1e-4)


def test_gamma_is_raised_with_all_features_for_as_long_as_that_helps() -> None:
    learned, _ = with_shuffles(encode(planted(120, motif="TGACGTC")), seed=1)
    gammas, penalties = (0.2, 0.4, 0.8, 1.6), (1e-3, 1e-2)
    _, best, trials = sinks_machine(learned, 6, 400, gammas, penalties, tuning_features=50)
    few, all_of_them = ([trial for trial in trials if trial.features == count] for count in (50, 400))
    assert len(few) == 8
    start = gammas.index(max(few, key=lambda trial: (trial.auc, trial.penalty)).gamma or 0)
    assert [trial.gamma for trial in all_of_them] == list(gammas[start : start + len(all_of_them)])
    assert best == max(all_of_them, key=lambda trial: trial.auc)
    areas = [trial.auc for trial in all_of_them]
    assert sorted(areas[:-1]) == areas[:-1]


def test_many_features_give_the_machine_of_the_exact_kernel() -> None:
    """Kernel ridge regression with an offset, written out: the kernel of centred features, and targets without mean."""
    learned, _ = with_shuffles(encode(planted(50)), seed=1)
    others = encode(planted(20, seed=4))
    matrix, across = (ngram_kernel(rows, learned.strings, n=6, gamma=0.5) for rows in (learned.strings, others))
    means = matrix.mean(axis=0)
    centred = matrix - means - means[:, None] + means.mean()
    unit = 1e-2 * np.trace(centred)
    parts = np.linalg.solve(centred + unit * np.eye(100), learned.targets())
    expected = (across - across.mean(axis=1, keepdims=True) - means + means.mean()) @ parts
    machine, _, _ = sinks_machine(learned, 6, 20_000, (0.5,), (1e-2,))
    found = machine.scores(others)
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.05 * np.std(expected) + 0.01
    assert np.corrcoef(found, expected)[0, 1] > 0.99


def test_whole_groups_are_held_out_in_proportion() -> None:
    examples, left_out = with_shuffles(encode([*planted(40), "AAAAAAAA"]), copies=3)
    assert left_out == 3
    assert (len(examples), int(examples.is_bound.sum())) == (161, 41)
    rest, out = split(examples, 0.25, seed=3)
    assert set(rest.groups).isdisjoint(out.groups)
    assert len(rest) + len(out) == 161
    assert len(set(out.groups)) == 11
    alone = Examples(encode(["ACGT"] * 50), np.arange(50) < 10, np.arange(50))
    rest, out = split(alone, 0.2)
    assert (int(out.is_bound.sum()), len(out)) == (2, 10)


def test_on_both_strands_a_string_and_its_reverse_complement_have_the_same_score() -> None:
    """Half of the motifs are on the other strand; the baseline reads both strands, too."""
    bound = encode(planted(200, motif="TGACCTAA"))
    half = np.arange(200) % 2 == 0
    mixed = joined([bound.part(half), reverse_complements(bound.part(~half))], bound.alphabet)
    learned, _ = with_shuffles(mixed, seed=1, strands=2)
    tested, _ = with_shuffles(encode(planted(150, seed=5, motif="TGACCTAA")), seed=2, strands=2)
    turned = reverse_complements(tested.strings)
    settings = {"gammas": (0.5,), "penalties": (1e-3,)}
    for machines in (
        [sinks_machine(learned, 6, 500, **settings, strands=strands)[0] for strands in (1, 2)],
        [counts_machine(learned, 4, (1e-3,), strands=strands)[0] for strands in (1, 2)],
    ):
        one, both = (machine.scores(tested.strings) for machine in machines)
        assert machines[1].scores(turned) == pytest.approx(both, abs=1e-4)
        assert np.abs(machines[0].scores(turned) - one).max() > 0.1
        assert auc(both, tested.is_bound).value > auc(one, tested.is_bound).value


def test_a_shuffle_that_is_the_reverse_complement_is_left_out_on_both_strands() -> None:
    """ACGTAT has one shuffle other than itself, ATACGT, which is what the other strand says."""
    bound = encode(["ACGTAT", *planted(3)])
    assert set(dinucleotide_shuffles(["ACGTAT"], 50).texts()) == {"ACGTAT", "ATACGT"}
    one, both = (with_shuffles(bound, copies=50, strands=strands) for strands in (1, 2))
    assert "ATACGT" in one[0].strings.texts()
    assert both[1] == 50
    assert "ATACGT" not in both[0].strings.texts()


def test_what_cannot_be_learned_is_said_in_words() -> None:
    with pytest.raises(KernelError, match="no sequence has a dinucleotide shuffle other than itself"):
        with_shuffles(encode(["AAAA", "ACGT"]))
    one_class = Examples(encode(planted(9)), np.ones(9, bool), np.arange(9))
    with pytest.raises(KernelError, match="9 bound and 0 unbound sequences are too few"):
        sinks_machine(one_class, 4, 20)
    single, _ = with_shuffles(encode(planted(1)))
    with pytest.raises(KernelError, match="1 bound and 1 unbound sequences are too few"):
        counts_machine(single, 3)
    with pytest.raises(KernelError, match="3 strands: choose 1 or 2"):
        counts_machine(single, 3, strands=3)
