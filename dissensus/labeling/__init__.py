"""What people are asked: questions, and the reserves that take the place of discarded items."""

from dissensus.labeling.questions import questions_of
from dissensus.labeling.replacement import active_rows

__all__ = ["active_rows", "questions_of"]
