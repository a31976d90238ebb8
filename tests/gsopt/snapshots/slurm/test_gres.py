"""Generic resources, in the forms that Slurm writes them."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.slurm.gres import read_gres, read_tres


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", {}),
        ("(null)", {}),
        ("N/A", {}),
        ("gpu", {"gpu": 1}),
        ("gpu:4", {"gpu": 4}),
        ("gpu:0", {}),
        ("gpu:h100", {"gpu": 1, "gpu:h100": 1}),
        ("gpu:h100:4(S:0-1)", {"gpu": 4, "gpu:h100": 4}),
        ("gpu:h100:2(IDX:0,3),gpu:h200:4(IDX:4-7)", {"gpu": 6, "gpu:h100": 2, "gpu:h200": 4}),
        ("gpu:h100:0(IDX:N/A),gpu:h200:0(IDX:N/A)", {}),
        ("gpu:1g.5gb:7", {"gpu": 7, "gpu:1g.5gb": 7}),
        ("gres/gpu:h100:1,gres/gpu:h200:1", {"gpu": 2, "gpu:h100": 1, "gpu:h200": 1}),
        ("gres:gpu:2", {"gpu": 2}),
        ("shard:a100:32,mps:1K", {"shard": 32, "mps": 1024}),
        ("gpu:2,gpu:a:2", {"gpu": 4, "gpu:a": 2}),
    ],
)
def test_lists(text: str, named: dict[str, int]) -> None:
    """Numbers by name and by type, whatever stands in brackets behind them."""
    assert read_gres(Field("", text)).named() == named


@pytest.mark.parametrize(
    "text", ["gpu:a:b:4", "gpu::4", "gpu h100", ":4", "gpu=4", "gpu:9999999999", "gpu:a:4(S:0"]
)
def test_what_is_no_list(text: str) -> None:
    """Anything else is refused in one line."""
    with pytest.raises(InvalidInput, match="must be"):
        read_gres(Field("", text))


def test_trackable_resources() -> None:
    """Amounts of memory are MiB, and what is no amount is passed over."""
    assert read_tres(Field("", "cpu=4,mem=1G,node=1,license/x=?,gres/gpu:a=2")) == {
        "cpu": 4,
        "mem": 1024,
        "node": 1,
        "gpu:a": 2,
    }
    assert read_tres(Field("", "")) == {}
    assert read_tres(Field("", "mem=512K,cpu=99999999999999")) == {"mem": 0}
