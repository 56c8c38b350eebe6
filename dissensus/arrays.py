"""Array types and the letters of their axes, defined once.

N items of the pool · M models · C classes · D duels · Q outcomes (one judged item of one duel) · B bootstrap resamples.
c cases (an item's label: is it right?) · q questions, of one case or several · P patterns of votes.
A answers · R people (raters) · I items or questions they answered · K possible truths · L distinct answers.
Along video: A anchors · F frames of anchors.

Inside the core packages, models, classes and items are integers 0..n−1; names exist only at the edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, UInt8, UInt16, UInt64
else:  # only type checkers and readers need the axes, so jaxtyping is not imported at run time

    class _Typed:
        def __class_getitem__(cls, axes: Any) -> type[np.ndarray]:
            return np.ndarray

    Bool = Float = Int = UInt8 = UInt16 = UInt64 = _Typed

__all__ = ["MISSING", "Array", "Bool", "Float", "Int", "UInt8", "UInt16", "UInt64"]

Array = np.ndarray

MISSING = 65_535
"""Label of an item for which a model's prediction does not count: unreadable, not confident, or not eligible."""
