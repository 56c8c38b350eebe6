"""The Study class: a complete comparison of models in one folder, with methods named after the commands."""

from dissensus.study.browsing import Browsing
from dissensus.study.duplicates import Deduplicating
from dissensus.study.failing import Failing
from dissensus.study.human import HumanStudy
from dissensus.study.laconic import LaconicTest
from dissensus.study.shift import Replication
from dissensus.study.video import VideoTest

__all__ = ["Study"]


class Study(HumanStudy, Browsing, Deduplicating, Failing, LaconicTest, Replication, VideoTest):
    """One comparison of models, kept in one folder. Nothing outside the folder matters.

    Example:
        >>> import tempfile
        >>> study = Study.init(tempfile.mkdtemp(), classes=["cat", "dog"])
        >>> study.pool(items=["a", "b", "c", "d"])
        >>> study.predict(small=["cat", "cat", "dog", "dog"], large=["dog", "cat", "dog", "cat"])
        {'small': True, 'large': True}
        >>> study.select(k=2)
        1
        >>> study.questions()[0].item, study.questions()[0].name
        ('a', 'cat')
        >>> answers = [
        ...     {"item": q.item, "label": q.name, "annotator": "ann", "answer": "yes" if q.name == "dog" else "no"}
        ...     for q in study.questions()
        ... ]
        >>> study.answer(answers)
        4
        >>> study.rank().standings[0].rank_low
        1
    """
