"""A study of image quality models on distorted photos, up to the slider pages, where the user answers."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from dissensus.progress import Progress
from dissensus.records import Record
from dissensus.steps.distorting import MANIFEST, distort
from dissensus.study import Study

MODELS = ("psnr", "ssim", "vif", "brisque")
PERSON = "you"
"""The annotator who compares the pairs."""
LEVELS = 3
SIDE = 256
"""Side of a crop in pixels: two of them fit side by side on a laptop screen at full resolution."""
CROPS = ((0, 0), (192, 0), (384, 0), (0, 171), (192, 171), (384, 171))
"""Upper left corners of the crops; the photos are 640×427 pixels."""
INSTRUCTIONS = (
    "You will see two photos. Each may be compressed, blurred or noisy to some degree, or unchanged.",
    "Say which one has the better quality, and how sure you are. What the photos show does not matter.",
)
NOTE = (
    "The pool consists of crops of scikit-learn's two sample photos, each distorted in four ways at five levels; "
    "scores are ranks within this pool. Preferences were given on the demo's slider pages."
)


class SlidersReady(Record):
    """A study with open pairs; `token` is that of the user's personal link."""

    study: Path
    pool: int
    pairs: int
    token: str


def prepare_sliders(folder: Path, progress: Progress) -> SlidersReady:
    """Make photos, distortions, scores and pairs; running it again resumes, with a new link."""
    photos, pool = folder / "photos", folder / "pool"
    _crop(photos)
    distort([str(photos)], pool, progress=progress)
    if (folder / "study" / "study.toml").exists():  # interrupted before, or run again
        study = Study(folder / "study", progress)
    else:
        study = Study.init(folder / "study", task="scores", title="Which photo is better?", notes=[NOTE])
        study.progress = progress
        study.configure(instructions=INSTRUCTIONS)
    study.pool([pool / MANIFEST])
    study.predict([f"{name}=quality:{name}" for name in MODELS])
    if not study.folder.rounds():
        study.select(levels=LEVELS)
    known = {person.name: person for person in study.people.all()}
    if PERSON in known and known[PERSON].revoked is None:  # a link is shown only once, and the last one may be lost
        study.people.revoke(PERSON)
    status = study.status()
    token = study.people.add(PERSON)
    return SlidersReady(study=study.folder.root, pool=status.pool, pairs=status.open_questions, token=token)


def _crop(photos: Path) -> None:
    """Write crops of scikit-learn's two sample photos."""
    from sklearn.datasets import load_sample_images

    found = load_sample_images()
    photos.mkdir(parents=True, exist_ok=True)
    for name, pixels in zip(found.filenames, found.images, strict=True):
        image = Image.fromarray(pixels)
        for number, (x, y) in enumerate(CROPS, start=1):
            path = photos / f"{Path(name).stem}-{number}.png"
            if not path.exists():
                image.crop((x, y, x + SIDE, y + SIDE)).save(path)
