"""Download: a file within a page, behind a link."""

import gzip
from base64 import b64encode
from dataclasses import dataclass

#: Bytes from which a file is compressed, so that a page of a large study stays small.
_LARGE = 2**20


@dataclass(frozen=True)
class Download:
    """A file within a page.

    Attributes
    ----------
    name
        The name under which it is saved.
    address
        Its content, as an address of the scheme ``data``.
    """

    name: str
    address: str


def download(name: str, kind: str, content: str) -> Download:
    """Put a text into a page as a file, compressed where it is large."""
    data = content.encode("utf-8", errors="backslashreplace")
    if len(data) <= _LARGE:
        return Download(name, f"data:{kind};charset=utf-8;base64,{b64encode(data).decode()}")
    packed = gzip.compress(data, mtime=0)  # without the time, the same results are the same page
    return Download(f"{name}.gz", f"data:application/gzip;base64,{b64encode(packed).decode()}")
