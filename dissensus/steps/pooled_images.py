"""The images of a pool as models get them: decoded ahead of time in threads, and compared with what was pooled."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from dissensus.backends import Unreadable, read_content, read_image
from dissensus.contents import is_file_path, is_remote
from dissensus.engines.local import chunks
from dissensus.errors import BackendError
from dissensus.steps.pooled_files import PooledFiles
from dissensus.store.files import bytes_fingerprint, file_fingerprint
from dissensus.store.folder import Folder

PooledFile = tuple[str | None, str | None]
"""The URI of an item, and its fingerprint when it was pooled."""
BATCH = 32  # images per model call
READERS = 2  # threads that decode images while the model runs
DISTANT = 16  # threads that wait for a server
AHEAD = 2 * BATCH  # images that are decoded before they are needed


class PooledImages:
    """The images of a pool, decoded ahead of time in threads, batch by batch."""

    def __init__(self, folder: Folder, name: str) -> None:
        """Look up the files.

        Raises:
            BackendError: the pool has no files.
        """
        self.files = PooledFiles(folder)
        # those that share a reference are mostly next to each other in the order given
        self.reference = lru_cache(8)(self._reference)
        if not self.files.has_any("uri"):
            raise BackendError(
                f"{name} cannot run: the pool has only ids and no files; use file:PREDICTIONS, or add paths to the pool"
            )

    def batches(self, rows: Sequence[int]) -> Iterator[tuple[range, list[Any]]]:
        """Batches of rows, numbered from 0, each with its images or the reasons why they cannot be read."""
        known = [self._file(row) for row in rows]
        readers = DISTANT if any(is_remote(uri) for uri, _ in known if uri) else READERS
        threads = ThreadPoolExecutor(readers)
        try:
            files = iter(known)
            ahead = deque(threads.submit(_image, file) for file in islice(files, AHEAD))
            for batch in chunks(len(rows), BATCH):
                images = []
                for _ in batch:
                    images.append(ahead.popleft().result())
                    ahead.extend(threads.submit(_image, file) for file in islice(files, 1))
                yield batch, images
        finally:
            threads.shutdown(cancel_futures=True)  # if a server is gone, do not wait for the other pictures

    def read(self, row: int) -> Any:
        """One image, or the reason why it cannot be read."""
        return _image(self._file(row))

    def reference_of(self, row: int) -> str | None:
        """The URI of the image that an item is compared with, if it has one."""
        return self.files.of(row, "reference") if self.files.has_references else None

    def _file(self, row: int) -> PooledFile:
        return self.files.of(row, "uri"), self.files.of(row, "fingerprint")

    @cached_property
    def _prints(self) -> dict[str, str | None]:
        return self.files.fingerprints()

    def _reference(self, uri: str) -> Any:
        """A reference image, if the file has not changed since it was pooled."""
        return _image((uri, self._prints.get(uri)))


def pooled_image(file: PooledFile, at_least: int = 0) -> tuple[Any, str | bytes]:
    """The image, if the file has not changed since it was pooled: all models must see the same image.

    Also returns what was decoded: a path, or the bytes of what is in an archive or on a server. For `at_least`, see
    `read_image`.
    """
    uri, known = file
    if uri is None:
        return Unreadable("no path in the pool"), ""
    source = uri if is_file_path(uri) else read_content(uri)  # read only once: it may come a long way
    if isinstance(source, Unreadable):
        return source, uri
    image = read_image(source, at_least)
    if isinstance(image, Unreadable) or known is None:
        return image, source
    found = bytes_fingerprint(source) if isinstance(source, bytes) else file_fingerprint(Path(source))
    return image if found == known else Unreadable("changed since it was pooled"), source


def _image(file: PooledFile) -> Any:
    return pooled_image(file)[0]
