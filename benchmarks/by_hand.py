"""What lines that a library could take over save: cleaning pictures without packing them anew, and the short way.

Example: python benchmarks/by_hand.py    # half a minute; prints the figures of 'Written by hand, and why'
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image
from starlette.types import ASGIApp, Message

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import add_people, fresh_study
from dissensus.study import Study
from dissensus.web import pictures
from dissensus.web.app import Service
from dissensus.web.guard import Guard

DATA = Path(__file__).parent / "data"
SIZES = ((640, 427), (1920, 1280), (4000, 2667))
REQUESTS = 2_000


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def seconds(work: Callable[[], object]) -> float:
    """Processor time of the best of three."""
    took = []
    for _ in range(3):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def cleaning() -> None:
    photo = Image.fromarray(load_sample_image("china.jpg"))
    for size in SIZES:
        image = photo.resize(size, Image.Resampling.BICUBIC)
        jpeg, png = saved(image, "JPEG", quality=90), saved(image, "PNG")
        again = saved(Image.open(BytesIO(jpeg)), "JPEG", quality="keep")
        before, after = (np.asarray(Image.open(BytesIO(data))).astype(int) for data in (jpeg, again))
        changed = np.abs(before - after)
        packed = seconds(lambda data=png: pictures._converted(Image.open(BytesIO(data))))  # type: ignore[misc]
        ours = seconds(lambda data=png: pictures.cleaned(data))  # type: ignore[misc]
        print(
            f"{size[0]}×{size[1]}: a JPEG saved again with quality='keep' has {(changed > 0).mean():.0%} of its values "
            f"changed, by up to {changed.max()}; a PNG packed anew takes {packed / ours:.1f} times as long as cleaned"
        )


async def next_questions(app: ASGIApp, cookie: str, count: int) -> None:
    """So many requests for the next question, without a network."""
    headers = [(b"host", b"x"), (b"cookie", cookie.encode())]
    asked = {"type": "http", "method": "GET", "path": "/api/next", "query_string": b"ahead=1", "headers": headers}
    scope = asked | {"root_path": "", "scheme": "http", "http_version": "1.1", "server": ("x", 1), "client": ("x", 2)}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) == 200

    for _ in range(count):
        await app(dict(scope), receive, send)


async def short_way(study: Path, token: str) -> None:
    service = Service(Study(study)._backing())
    cookie = f"{service.doors.annotator.cookie}={token}"
    async with service._run(service.api):
        took = {}
        for name, app in (("short", service.app), ("long", Guard(service.api))):
            await next_questions(app, cookie, 100)
            began = time.process_time()
            await next_questions(app, cookie, REQUESTS)
            took[name] = (time.process_time() - began) / REQUESTS
        print(
            f"next question: the framework's way takes {took['long'] / took['short']:.1f} times the processor time of "
            f"the short way ({1e6 * took['long']:.0f} and {1e6 * took['short']:.0f} µs)"
        )


def main() -> None:
    cleaning()
    DATA.mkdir(exist_ok=True)
    with fresh_study(DATA, 10_000, 4, 100, answers=3) as study:
        (token,) = add_people(study, 1)
        asyncio.run(short_way(study, token))


if __name__ == "__main__":
    main()
