"""Array types and the letters of their axes, declared once.

N items of the pool · M models · C classes · D duels · Q outcomes (one judged item of one duel) · B bootstrap resamples.
A answers · R people (raters) · I items or questions they answered · K truths · L different answers.

Inside the rooms models, classes and items are integers 0..n−1; names live at the edges.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8, UInt16, UInt64

__all__ = ["MISSING", "Array", "Bool", "Float", "Int", "UInt8", "UInt16", "UInt64"]

Array = np.ndarray

MISSING = 65_535
"""Label of an item for which a model has nothing to say: unreadable, not confident or not to be judged."""
