from __future__ import annotations

import pytest

from dissensus.records import Classes


@pytest.fixture(scope="session")
def classes() -> Classes:
    """Three classes, two of which are called by the number of the other."""
    return Classes(
        ("1", "0", "Königs-Pinguin, groß"), ids=("n1", "n2", "n3"), synonyms=(("one",), ("zero",), ("king",))
    )
