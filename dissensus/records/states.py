"""What became of a question: one set of names for every task."""

from __future__ import annotations

OPEN = 0
"""It needs further answers."""
JUDGED, YES, NO = 1, 2, 3
"""It has its answers. Where they are yes or no, the state says which; everything above `OPEN` is judged."""
UNFIT, UNSURE = -1, -2
"""People cannot judge it, or cannot tell: a reserve takes the place of whatever depends on it."""
SCREENED_OUT = -3
"""People answered, and none of their answers counts: nobody is asked again, and no reserve comes."""

DISCARDED = (UNFIT, UNSURE)
