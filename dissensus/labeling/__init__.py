"""What people are asked: questions and their kinds, who is asked what next, reserves for discarded items."""

from dissensus.labeling.kinds import QUESTIONS, is_prediction_key, prediction_key
from dissensus.labeling.pairs import pair_questions
from dissensus.labeling.questions import LABELS, question_keys, questions_of
from dissensus.labeling.queue import Queue
from dissensus.labeling.replacement import active_rows

__all__ = [
    "LABELS",
    "QUESTIONS",
    "Queue",
    "active_rows",
    "is_prediction_key",
    "pair_questions",
    "prediction_key",
    "question_keys",
    "questions_of",
]
