"""The studies of Dally that the guide shows: they name what there is, and belong together."""

from pathlib import Path

import pytest

from gsopt import studies
from gsopt.errors import InvalidInput
from gsopt.studies import catalogue

FOLDER = Path(__file__).parents[1] / "docs" / "studies"
NAMES = ("dally", "dally-without-leases")


@pytest.mark.parametrize("name", NAMES)
def test_a_study_of_dally_spans_its_grid(name: str) -> None:
    """Nine policies meet a batch and three draws of arrivals on four clusters; without data a line says so."""
    study = studies.read_study(FOLDER / f"{name}.json")
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match=r"reader: 'dally': needs real data"):
            studies.cells_of(study)
    else:
        assert len(studies.cells_of(study)) == 9 * (1 + 3) * 4


def test_both_studies_of_dally_have_the_same_policies() -> None:
    """With and without leases the same policies meet the same instances."""
    with_leases, without = (studies.read_study(FOLDER / f"{name}.json") for name in NAMES)
    methods = [{**method, "lease": None} for method in with_leases.methods if not isinstance(method, str)]

    assert with_leases.instances == without.instances
    assert methods == list(without.methods)
    assert len(methods) == 9
