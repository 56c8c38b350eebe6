"""How estimates and results read."""

import pytest

from dissensus.records.kernels import GramEstimate, size_words, time_words


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (640, "640 bytes"), (1440, "1.44 kB"), (999_600, "1 MB"), (14.4e9, "14.4 GB"), (123e9, "123 GB"),
     (4e15, "4,000 TB")],
)  # fmt: skip
def test_sizes(count, words):
    assert size_words(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "less than 1 s"), (3.2, "3.2 s"), (59, "59 s"), (120, "2 min"), (5142, "86 min"),
     (18_720, "5.2 h"), (3e5, "3.47 days")],
)  # fmt: skip
def test_times(seconds, words):
    assert time_words(seconds) == words


def test_an_estimate_names_everything_before_it_starts():
    cost = GramEstimate(
        kernel="myrtle10-gaussian", rows=60_000, columns=60_000, pairs=1_800_030_000, pairs_per_second=350_000.0,
        seconds=5142.9, matrix_bytes=14_400_000_000, memory_bytes=800_000_000, engine="NVIDIA H200",
        precision="float32", free_bytes=10**12, finished=0.25,
    )  # fmt: skip
    assert cost.words == (
        "60,000 × 60,000 matrix, 1,800,030,000 pairs at 350,000 a second (NVIDIA H200, float32): 86 min, "
        "800 MB of memory, 14.4 GB of disk (1 TB free); 25 % is there already."
    )
