"""What an item's URI leads to: a file, a member of a tar archive, a row of a Parquet file, here or on object storage.

Everything that reads pictures goes through here, so that a new kind of source is one more form of URI.
"""

from dissensus.contents.addresses import (
    Member,
    Row,
    ending,
    is_address,
    is_file_path,
    is_remote,
    local_path,
    name_of,
    parsed,
    stored_in,
)
from dissensus.contents.reading import SizeError, content, is_there, opened, picture_content, size_of
from dissensus.contents.remote import filesystem

__all__ = [
    "Member",
    "Row",
    "SizeError",
    "content",
    "ending",
    "filesystem",
    "is_address",
    "is_file_path",
    "is_remote",
    "is_there",
    "local_path",
    "name_of",
    "opened",
    "parsed",
    "picture_content",
    "size_of",
    "stored_in",
]
