"""The state of a question: one set of names for every task."""

from __future__ import annotations

OPEN = 0
"""It needs more answers."""
JUDGED, YES, NO = 1, 2, 3
"""It has enough answers. If they are yes or no, the state says which; everything above `OPEN` is judged."""
UNFIT, UNSURE = -1, -2
"""People cannot judge it, or cannot tell: a reserve replaces whatever depends on it."""
SCREENED_OUT = -3
"""People answered, but none of their answers counts: nobody is asked again, and no reserve replaces it."""
GONE = -4
"""Nobody can be asked, because a picture is missing: a reserve replaces whatever depends on it."""

DISCARDED = (UNFIT, UNSURE, GONE)
