"""From judgements to verdicts: what the answers of several people to one question come to."""

from dissensus.screening.majority import (
    NO,
    UNFIT,
    UNJUDGED,
    UNSURE,
    YES,
    latest_answers,
    majority_verdicts,
)

__all__ = ["NO", "UNFIT", "UNJUDGED", "UNSURE", "YES", "latest_answers", "majority_verdicts"]
