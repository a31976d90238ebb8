"""The studies of papers that the guide shows: they name what there is, and belong together."""

from pathlib import Path

import pytest

from gsopt import studies
from gsopt.errors import InvalidInput
from gsopt.speed import Speed
from gsopt.studies import catalogue
from instances.interference import gavel
from instances.traces.castor import LARGE, MODELS

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


CASTOR = FOLDER / "castor.json"


def speeds() -> list[Speed]:
    """Give the slowdowns that stand in the study of Castor, one for each trace."""
    study = studies.read_study(CASTOR)
    return [Speed.model_validate(each["speed"]) for each in study.instances if not isinstance(each, str)]


def test_the_study_of_castor_spans_its_grid() -> None:
    """Twelve policies meet three draws of five sizes of two traces; without data a line says so."""
    study = studies.read_study(CASTOR)
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match=r"reader: 'castor': needs real data"):
            studies.cells_of(study)
    else:
        assert len(studies.cells_of(study)) == 12 * 2 * 5 * 3
    assert [each.get("large") for each in study.instances if not isinstance(each, str)] == [LARGE, None]


def test_the_study_of_castor_has_a_slowdown_for_every_pair() -> None:
    """Both traces have the same slowdowns, of all pairs of the configurations that jobs are drawn to be."""
    philly, venus = speeds()

    assert philly == venus
    assert {one: set(row) for one, row in philly.interference.items()} == {one: set(MODELS) for one in MODELS}


def test_the_slowdowns_of_castor_are_measured() -> None:
    """They are those of Gavel's table, rounded to hundredths, where that is at hand."""
    folder = catalogue.data_folder()
    measured = speeds()[0].interference if folder is None else gavel(folder).table.slowdowns

    assert speeds()[0].interference == {
        one: {other: round(measured[one][other], 2) for other in MODELS} for one in MODELS
    }
