"""Files that contain many pictures, as other tools write them, and a web server that serves them in ranges."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn
from PIL import Image
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles


def png(value: int, side: int = 8) -> bytes:
    """A gray picture."""
    buffer = io.BytesIO()
    Image.new("L", (side, side), value).save(buffer, "PNG")
    return buffer.getvalue()


def write_tar(path: Path, members: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> Path:
    """An archive with these members, in this order."""
    with tarfile.open(path, "w", format=form) as archive:
        for name, data in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return path


def write_hugging_face(path: Path, pictures: Sequence[bytes], ids: Sequence[Any] | None = None, group: int = 3) -> Path:
    """A Parquet file with a struct of bytes and path, as `datasets` writes a column of images."""
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {"image": pa.array([{"bytes": data, "path": None} for data in pictures], kind)}
    columns |= {"label": pa.array(range(len(pictures)))} | ({} if ids is None else {"id": pa.array(ids)})
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


@contextmanager
def served_folder(folder: Path) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A web server for the files of a folder; yields its address, and what was asked: method, path and range."""
    asked: list[tuple[str, str, str]] = []

    async def listed(request: Any) -> HTMLResponse:
        names = sorted(path.name for path in folder.iterdir())
        return HTMLResponse("".join(f'<a href="{name}">{name}</a>' for name in names))

    files = Starlette(routes=[Route("/files/", listed), Mount("/files", StaticFiles(directory=folder))])

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            sent = {key.decode(): value.decode() for key, value in scope["headers"]}
            asked.append((scope["method"], scope["path"], sent.get("range", "")))
        await files(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/files", asked
    finally:
        server.should_exit = True
        thread.join()
