"""What GPUs nodes have."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster.formats.nodes import Gpus, gpus_of, read_gres, write_gres


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("gpu:8", Gpus(8)),
        ("gpu", Gpus(1)),
        ("gpu:h100", Gpus(1, "h100")),
        ("gpu:h100:8", Gpus(8, "h100")),
        ("gpu:h100:8(S:0-1)", Gpus(8, "h100")),
        ("gpu:a100:4(IDX:0,1),gpu:a100:4(IDX:2,3)", Gpus(8, "a100")),  # commas in brackets
        ("craynetwork:4,gpu:2,nic:1", Gpus(2)),
        ("gpus:4", Gpus(0)),  # another resource
        ("", Gpus(0)),
    ],
)
def test_slurms_resources(text: str, gpus: Gpus) -> None:
    """Numbers and types of GPUs are read, what else there is passed over."""
    assert read_gres("t", "line 1", text) == gpus
    if gpus.number:
        assert read_gres("t", "line 1", write_gres(gpus)) == gpus


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("gpu:a:4,gpu:b:4", "must be GPUs of one type"),
        ("gpu:a:b:4", "must be such as gpu:8"),
        ("gpu:99999999", "must be such as gpu:8"),
    ],
)
def test_bad_resources(text: str, rule: str) -> None:
    """The line is named."""
    with pytest.raises(InvalidInput, match=f"t: line 1: Gres: .*{rule}"):
        read_gres("t", "line 1", text)


def test_who_says_how_many_there_are() -> None:
    """What is told goes before what the file states; without either there is no number, and none is made up."""
    stated = {"a": Gpus(4, "a100")}
    assert gpus_of("t", "a", None, stated) == Gpus(4, "a100")
    assert gpus_of("t", "a", 8, stated) == Gpus(8, "a100")
    assert gpus_of("t", "a", {"b": 8}, stated) == Gpus(4, "a100")
    with pytest.raises(InvalidInput, match="t: gpus: 'b': has no number of GPUs in the file"):
        gpus_of("t", "b", {"a": 8}, stated)
    with pytest.raises(InvalidInput, match="t: gpus: -1: must be a whole number of at least 0"):
        gpus_of("t", "b", -1, stated)
