"""sample: the images that people label, those they train on, and what helps them to recognise a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import StudyError
from dissensus.records.human import EVERYTHING
from dissensus.records.human_steps import HumanSample, SampledSet
from dissensus.records.replica import Problem
from dissensus.shift.human.drawing import balanced
from dissensus.shift.human.guide import read_guide
from dissensus.shift.human.kept import (
    EVALUATION,
    TRAINING,
    Photo,
    Sample,
    keep_examples,
    keep_guide,
    keep_photos,
    kept_sample,
)
from dissensus.shift.human.truth import Known, keep_truth, kept_truth, read_truth
from dissensus.steps.examples import read_examples
from dissensus.steps.serving import uris_named
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, fingerprint_of
from dissensus.store.settings.human import HumanSettings


def sample(
    work: Workspace[Any], truth: Path | None, examples: Path | None, guide: Path | None, settings: HumanSettings
) -> HumanSample:
    """Draw the images that people label, class by class alike, and those for training; keep examples and guide.

    What was drawn before stays, so that answers stay valid; images are only added. Images for training come from the
    first test set only, and none of them, nor any copy of one, is labelled.

    Raises:
        StudyError: labels, examples or guide cannot be used, or contradict what was sampled; nothing is changed.
    """
    known = kept_truth(work) if truth is None else read_truth(truth, work)
    before = kept_sample(work) if exists(work.folder.human_images) else Sample(())
    _refuse_changes(known, before)
    _refuse_name(known, before)
    words = None if guide is None else read_guide(guide, work.classes)
    pictures = None if examples is None else read_examples(examples, work.classes)
    drawn, problems = _drawn(work, known, before, settings)
    if truth is not None:
        keep_truth(work, known)
    if drawn:
        keep_photos(work, (*before.photos, *drawn))
    if words is not None:
        keep_guide(work, words)
    if pictures is not None:
        keep_examples(work, pictures[0])
        problems += pictures[1]
    return _sampled(kept_sample(work), known, settings, len(drawn), problems)


def _refuse_changes(known: Sequence[Known], before: Sample) -> None:
    of_item = {one.item: one for one in known}
    for one in before.photos:
        now = of_item.get(one.item)
        if now is not None and (now.label, now.set) != (one.label, one.set):
            raise StudyError(
                f"'{one.item}' was sampled with another label or set, and people may have labelled it: restore both"
            )


def _refuse_name(known: Sequence[Known], before: Sample) -> None:
    """Raise an error if a test set beside others has the name of all images together."""
    names = {*before.sets, *(one.set for one in known)}
    if len(names) > 1 and EVERYTHING in names:
        raise StudyError(f"a test set beside others cannot be called '{EVERYTHING}': rename it in the column set")


def _drawn(
    work: Workspace[Any], known: Sequence[Known], before: Sample, settings: HumanSettings
) -> tuple[list[Photo], list[Problem]]:
    """The images to add, and those that cannot be used."""
    pool = _Pool(work, known, before)
    found: list[Photo] = []
    for name in dict.fromkeys(one.set for one in known):
        old = [one.label for one in before.evaluation if one.set == name]
        found += pool.drawn(name, EVALUATION, old, settings.images, settings.seed)
    first = known[0].set
    old = [one.label for one in before.training]
    found += pool.drawn(first, TRAINING, old, settings.training, settings.seed)
    if not found and not before.photos:
        why = f" ({pool.problems[0].item}: {pool.problems[0].reason})" if pool.problems else ""
        raise StudyError(f"none of the {len(known):,} images can be used{why}: restore their pictures")
    return found, pool.problems


class _Pool:
    """Images that can still be drawn; what is missing, or a copy of an image drawn before, turns out as it is drawn."""

    def __init__(self, work: Workspace[Any], known: Sequence[Known], before: Sample) -> None:
        self.work = work
        used = {one.item for one in before.photos}
        self.left = {one.item: one for one in known if one.item not in used}
        self.prints = {one.fingerprint: one.item for one in before.photos if one.fingerprint}
        self.paths: Mapping[str, str | None] = uris_named(work.folder, {*self.left})
        self.problems: list[Problem] = []

    def drawn(self, test_set: str, role: str, old: Sequence[int], wanted: int, seed: int) -> list[Photo]:
        found: list[Photo] = []
        while len(old) + len(found) < wanted:
            have = [*old, *(one.label for one in found)]
            left = {item: one.label for item, one in self.left.items() if one.set == test_set}
            more = balanced(left, have, wanted, seed, f"{role} {test_set}")
            if not more:
                break
            found += [one for item, _ in more if (one := self._taken(item, role)) is not None]
            self.work.progress("reading images", len(old) + len(found), wanted)
        return found

    def _taken(self, item: str, role: str) -> Photo | None:
        """The image, taken out of what is left; None, with a problem noted, if it cannot be used."""
        one, path = self.left.pop(item), self.paths.get(item)
        print_ = "" if path is None else fingerprint_of(path)
        if path is not None and not print_:
            self.problems.append(Problem(item=item, reason=f"its picture is missing: {path}"))
            return None
        if print_ and self.prints.setdefault(print_, item) != item:
            self.problems.append(Problem(item=item, reason=f"the same file as {self.prints[print_]}"))
            return None
        return Photo(item, one.label, one.set, role, print_)


def _sampled(
    kept: Sample, known: Sequence[Known], settings: HumanSettings, added: int, problems: Sequence[Problem]
) -> HumanSample:
    asked = {one.fingerprint: one.item for one in kept.evaluation if one.fingerprint}
    copies = [one for one in kept.examples if one.fingerprint in asked]
    reasons = [Problem(item=one.path, reason=f"people label it as {asked[one.fingerprint]}") for one in copies]
    of_set = {name: [one for one in kept.evaluation if one.set == name] for name in kept.sets}
    wanted = {name: min(settings.images, sum(one.set == name for one in known)) for name in of_set}
    return HumanSample(
        sets=tuple(
            SampledSet(name=name, images=len(ones), classes=len({one.label for one in ones}), wanted=wanted[name])
            for name, ones in of_set.items()
        ),
        images=len(kept.evaluation),
        added=added,
        training=len(kept.training),
        wanted_training=settings.training,
        examples=sum(map(len, kept.shown.values())),
        example_classes=len(kept.shown),
        guided=len(kept.guide or ()),
        left_out=(*problems, *reasons),
    )
