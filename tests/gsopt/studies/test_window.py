"""Windows as people write them."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.studies.window import window


def test_units() -> None:
    """Seconds, minutes, hours and days are told by their letter, seconds without one too."""
    assert window("30s:2m") == (30.0, 120.0)
    assert window("0.5h:1d") == (1800.0, 86400.0)


@pytest.mark.parametrize("text", ["", "30d", "1:2:3", "a:b", "1w:2w"])
def test_what_is_no_window(text: str) -> None:
    """Whatever is no begin and end is refused under the name of its field."""
    with pytest.raises(InvalidInput, match=r"^--window: "):
        window(text, "--window")
