"""Files within a page."""

import gzip
from base64 import b64decode

from gsopt.studies.page.download import download


def test_a_download_is_the_file() -> None:
    """A small file stands there as it is, a large one compressed, without the time at which that was done."""
    for text, name in (("Größe,\ud800\n", "a.csv"), ("0123456789\n" * 10**5, "a.csv.gz")):
        made = download("a.csv", "text/csv", text)
        kind, _, content = made.address.partition(",")
        data = b64decode(content)
        packed = made.name.endswith(".gz")
        assert (made.name, kind.partition(";")[0]) == (
            name,
            f"data:{'application/gzip' if packed else 'text/csv'}",
        )
        assert (gzip.decompress(data) if packed else data).decode() == text.replace("\ud800", "\\ud800")
        assert not packed or data[4:8] == bytes(4)
