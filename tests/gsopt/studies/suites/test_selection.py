"""Decisions, suites and names stand for committed instances."""

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.catalogue import names
from gsopt.studies.suites.selection import select


def test_whatever_is_named_stands_for_its_instances() -> None:
    """A decision has all its instances, a suite those of its folder, and each is given once."""
    assert select([]) == names()
    assert select(["reclaiming"]) == names("reclaiming/")
    assert select(["reclaiming/small/"]) == names("reclaiming/small/")
    assert select(["reclaiming/small/graph", "reclaiming/small"])[0] == "reclaiming/small/graph"
    assert sorted(select(["reclaiming/small/graph", "reclaiming/small"])) == names("reclaiming/small/")


@pytest.mark.parametrize(
    "wanted",
    [
        "reclaiming/sm",  # half a name
        "",  # nothing
        "/",  # nor a root
        "../reclaiming",  # nor a path
        "reclaiming/small/graph.json",  # nor a file
    ],
)
def test_what_is_no_instance_is_refused(wanted: str) -> None:
    """Whatever stands for nothing is named in one line."""
    with pytest.raises(InvalidInput, match="is no decision, suite or committed instance"):
        select(["reclaiming", wanted])
