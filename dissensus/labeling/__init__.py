"""What people are asked: the kinds of questions, and who is asked what next."""

from dissensus.labeling.kinds import QUESTIONS, code_of_text, is_prediction_key, prediction_key
from dissensus.labeling.kinds.reveal import state_of
from dissensus.labeling.queue import Queue

__all__ = ["QUESTIONS", "Queue", "code_of_text", "is_prediction_key", "prediction_key", "state_of"]
