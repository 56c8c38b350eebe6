"""What an item's URI leads to: a file, a member of a tar archive, a row of a Parquet file, here or on object storage.

Everything that reads pictures goes through here, so that a new kind of source is one more form of URI.
"""

from dissensus.contents.addresses import (
    Member,
    Row,
    ending,
    is_address,
    is_file_path,
    local_path,
    name_of,
    parsed,
    stored_in,
)
from dissensus.contents.reading import LARGEST, content, is_there, opened, size_of
from dissensus.contents.remote import filesystem

__all__ = [
    "LARGEST",
    "Member",
    "Row",
    "content",
    "ending",
    "filesystem",
    "is_address",
    "is_file_path",
    "is_there",
    "local_path",
    "name_of",
    "opened",
    "parsed",
    "size_of",
    "stored_in",
]
