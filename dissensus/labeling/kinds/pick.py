"""Classes out of a list: what is it? With search, and the taxonomy as a tree; or which of these few does it show?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

from dissensus.errors import JudgementError, quoted
from dissensus.labeling.kinds.base import (
    NO_CODE,
    Body,
    Kind,
    asked,
    class_number,
    listed_names,
    name_number,
    named,
    offered_classes,
    only,
)
from dissensus.records import Answer, Classes

ASK, ASK_SEVERAL = "What is it?", "Which of these does it show?"
UNFIT = "unfit"
NONE_CODE, UNFIT_CODE, SEVERAL_CODE = 1 << 16, (1 << 16) + 1, 1 << 17
"""Classes have codes below these; a set of several classes has one from SEVERAL_CODE on."""


class Pick(Kind):
    """The body is {item} with an optional text `ask` and `options`, the classes to choose from (defaults to all).

    The answer is a class number, or None if the person cannot tell. Nothing is random: a list that is in a different
    order each time cannot be learnt. With `several`, any number of the options may be right: the answer is a list of
    them, empty if none is; None if the person cannot tell, and 'unfit' if the image is unsuitable. These options are
    different for every image, so that there is nothing to learn: their order depends on the item and on nothing else.
    With `every`, people mark all options that fit before they send them; otherwise one press answers, and marking
    several takes one more.

    With `names`, people choose from these instead of the study's classes, and the answer is an index into them.
    `source` is the image that the item was made from: nobody gets two questions with the same source.
    """

    noun = "names to choose"
    seconds = 9
    """Three for the image, and two for each of three labels: an assumption."""

    def checked(self, body: Body, classes: Classes, /) -> Body:
        """The item, and the options as class numbers."""
        only(body, "item", "ask", "options", "several", "every", "names", "source")
        (item,) = named(body, "item")
        kept: Body = {"item": item} | asked(body)
        if "source" in body:
            kept["source"] = named(body, "source")[0]
        if "names" in body:
            if not body.keys().isdisjoint(("options", "several", "every")):
                raise JudgementError("'names' are instead of 'options' and 'several': give one or the other")
            return kept | {"names": listed_names(body)}
        kept |= offered_classes(body, classes)
        several = body.get("several", False)
        if not isinstance(several, bool) or (several and "options" not in kept):
            raise JudgementError("'several' must be true or false, and needs 'options'")
        every = body.get("every", False)
        if not isinstance(every, bool) or (every and not several):
            raise JudgementError("'every' must be true or false, and needs 'several'")
        return kept | {name: True for name, is_so in (("several", several), ("every", every)) if is_so}

    def source(self, body: Body, /) -> str | None:
        return body.get("source")

    def payload(self, body: Body, _classes: Classes, /) -> Body:
        """The question, and the numbers of the classes to choose from, whose names the page fetches once; or names."""
        if "names" in body:
            return {"ask": body.get("ask") or ASK, "names": body["names"]}
        if not body.get("several"):
            return {"ask": body.get("ask") or ASK, "options": body.get("options")}
        shuffled = sorted(body["options"], key=lambda option: _number_of(f"{option} {body['item']}"))
        every = {"every": True} if body.get("every") else {}
        return {"ask": body.get("ask") or ASK_SEVERAL, "options": shuffled, "several": True} | every

    def kept(self, body: Body, answer: Any, classes: Classes, /) -> Any:
        if answer is None or (answer == UNFIT and body.get("several")):
            return answer
        if "names" in body:
            return name_number(body, answer)
        if not body.get("several"):
            return one_class(body, answer, classes)
        chosen = answer if isinstance(answer, list) else [answer]
        return sorted({one_class(body, one, classes) for one in chosen})

    def expected(self, body: Body, given: Any, classes: Classes, /) -> Any:
        """A class by name, id, synonym or number; a list of them if several may be right; or one of the names."""
        if "names" in body:
            return self.kept(body, body["names"].index(given) if given in body["names"] else given, classes)
        if isinstance(given, list):
            return self.kept(body, [class_number(one, classes) for one in given], classes)
        is_word = body.get("several") and given in (None, UNFIT)
        return self.kept(body, given if is_word else class_number(given, classes), classes)

    def code(self, answer: Any, /) -> int:
        """The class; for several of them, a number that `chosen_of` can turn back."""
        if not isinstance(answer, list):
            return NO_CODE if answer is None else UNFIT_CODE if answer == UNFIT else int(answer)
        if len(answer) < 2:
            return int(answer[0]) if answer else NONE_CODE
        return SEVERAL_CODE + _number_of(" ".join(map(str, sorted(answer))))

    def told(self, body: Body, answer: Any, classes: Classes, /) -> str:
        is_named = "names" in body and answer is not None
        return str(body["names"][answer]) if is_named else self.words(answer, classes)

    def words(self, answer: Any, classes: Classes, /) -> str:
        if isinstance(answer, list):
            return ", ".join(classes.names[one] for one in answer) or "none of them"
        return "cannot tell" if answer is None else answer if answer == UNFIT else classes.names[answer]


def one_class(body: Body, answer: Any, classes: Classes) -> int:
    """A class that the question offers; raises JudgementError if it is not one."""
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(classes):
        raise JudgementError(f"the answer {quoted(answer)} is not a class number")
    if "options" in body and answer not in body["options"]:
        raise JudgementError(f"the answer '{classes.names[answer]}' is not one of the options")
    return answer


def _number_of(text: str) -> int:
    """A number of 56 bits from a text: always the same, and different for different texts."""
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=7).digest(), "big")


@lru_cache(1 << 12)
def chosen_of(options: tuple[int, ...], code: int) -> tuple[int, ...]:
    """The options that an answer with this code chose, in ascending order; the code must be that of some options.

    All subsets are tried: use it for few options.
    """
    if code == NONE_CODE:
        return ()
    if code < NONE_CODE:
        return (code,)
    sizes = range(2, len(options) + 1)
    every = (one for size in sizes for one in combinations(sorted(options), size))
    return next(one for one in every if PICK.code(list(one)) == code)


PICK = Pick()


def about_labels(options: Sequence[int], answer: Any) -> dict[int, Answer]:
    """What an answer to a pick says about each label that it offered."""
    if isinstance(answer, list):
        return {option: "yes" if option in answer else "no" for option in options}
    return dict.fromkeys(options, "unsure" if answer is None else "unfit")
