"""What people are asked: questions and their kinds, who is asked what next, reserves for discarded items."""

from dissensus.labeling.kinds import QUESTIONS
from dissensus.labeling.pairs import pair_questions
from dissensus.labeling.questions import LABELS, question_keys, questions_of
from dissensus.labeling.queue import Queue
from dissensus.labeling.replacement import active_rows

__all__ = ["LABELS", "QUESTIONS", "Queue", "active_rows", "pair_questions", "question_keys", "questions_of"]
