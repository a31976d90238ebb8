"""The studies of papers that the guide shows: they name what there is, and belong together."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from gsopt import studies
from gsopt.core.errors import InvalidInput
from gsopt.evaluation import catalogue
from gsopt.performance.interference import Predictor, predicted, predictors
from gsopt.scenario.speed import Speed
from instances.interference import gavel
from instances.traces.castor import LARGE, MODELS

FOLDER = Path(__file__).parents[1] / "docs" / "studies"
NAMES = ("dally", "dally-without-leases")


@pytest.mark.parametrize("name", NAMES)
def test_a_study_of_dally_spans_its_grid(name: str) -> None:
    """Eleven policies meet a batch and three draws of arrivals on four clusters; without data that is said."""
    study = studies.read_study(FOLDER / f"{name}.json")
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match=r"reader: 'dally': needs real data"):
            studies.cells_of(study)
    else:
        assert len(studies.cells_of(study)) == 11 * (1 + 3) * 4


def test_both_studies_of_dally_have_the_same_policies() -> None:
    """With and without leases the same policies meet the same instances."""
    with_leases, without = (studies.read_study(FOLDER / f"{name}.json") for name in NAMES)
    methods = [{**method, "lease": None} for method in with_leases.methods if not isinstance(method, str)]

    assert with_leases.instances == without.instances
    assert methods == list(without.methods)
    assert len(methods) == 11


@pytest.mark.parametrize(
    ("name", "cells"),
    [("aryl-sweeps", 8 * 5), ("aryl-heterogeneous", 3 * 5), ("ares-demands", 4 * 2 * (2 * 4 + 2))],
)
def test_studies_span_their_grids(name: str, cells: int) -> None:
    """Schedulers of Aryl meet five shares of the jobs, those of Ares two demands; data are asked for."""
    study = studies.read_study(FOLDER / f"{name}.json")
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match="needs real data"):
            studies.cells_of(study)
    else:
        assert len(studies.cells_of(study)) == cells


CASTOR = FOLDER / "castor.json"


def speeds() -> list[Speed]:
    """Return the slowdowns that stand in the study of Castor, one for each trace."""
    study = studies.read_study(CASTOR)
    return [Speed.model_validate(each["speed"]) for each in study.instances if not isinstance(each, str)]


def test_the_study_of_castor_spans_its_grid() -> None:
    """Fourteen policies meet three draws of five sizes of two traces; without data a line says so."""
    study = studies.read_study(CASTOR)
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match=r"reader: 'castor': needs real data"):
            studies.cells_of(study)
    else:
        assert len(studies.cells_of(study)) == 14 * 2 * 5 * 3
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


#: Which predictor each method of the study of predictions believes, by its label.
BELIEFS: Mapping[str, Predictor] = {
    "Tree": predictors.regression_tree,
    "Boosted trees": predictors.boosted_trees,
    "Nearest": predictors.nearest,
    "Row means": predictors.row_means,
    "One for all": predictors.overall_mean,
}


def beliefs() -> dict[str, Mapping[str, Mapping[str, float]]]:
    """Return the tables that stand in the study of predictions, by label."""
    study = studies.read_study(FOLDER / "castor-predictions.json")
    methods = [method for method in study.methods if not isinstance(method, str)]
    return {str(each["label"]): each["interference"] for each in methods if "interference" in each}


def test_the_study_of_predictions_has_the_jobs_and_slowdowns_of_castor() -> None:
    """What is true is the same as in the study of Castor, for more draws of two sizes."""
    study, other = (studies.read_study(FOLDER / f"{name}.json") for name in ("castor-predictions", "castor"))
    changed = {"sample": [240, 480], "seed": [1, 2, 3, 4, 5]}

    assert [{**each, **changed} for each in other.instances if not isinstance(each, str)] == list(
        study.instances
    )


def test_beliefs_are_predictions_of_pairs_held_out() -> None:
    """The believed tables are those of all predictors, learnt from other pairs of Gavel's table, rounded."""
    assert beliefs().keys() == BELIEFS.keys()
    assert set(BELIEFS.values()) == {getattr(predictors, name) for name in predictors.__all__}
    assert all(table.keys() == set(MODELS) for table in beliefs().values())
    if (folder := catalogue.data_folder()) is not None:
        table = gavel(folder, gpu="v100").table
        for label in ("Tree", "Row means"):  # the others take longer, and differ between versions
            found = predicted(table, BELIEFS[label]).slowdowns
            rounded = {one: {other: round(found[one][other], 2) for other in MODELS} for one in MODELS}
            assert beliefs()[label] == rounded


def test_the_study_of_ones_spans_its_grid() -> None:
    """Eleven policies meet two draws on three sizes of cluster, and on the largest one with checkpoints too."""
    study = studies.read_study(FOLDER / "ones.json")
    cells = studies.cells_of(study)

    assert len(cells) == 11 * 4 * 2
    rates = {(each["gpus"] * each["load"]) for each in study.instances if not isinstance(each, str)}
    assert rates == {16 * 0.8}  # the same jobs arrive, however many GPUs there are


def test_the_study_of_the_testbed_of_aryl_holds_its_table() -> None:
    """Every row of Table 8 is a cell for each of five draws, and a line says when the data are missing."""
    study = studies.read_study(FOLDER / "aryl-testbed.json")
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match="real: True: needs real data"):
            studies.cells_of(study)
        return
    assert len(studies.cells_of(study)) == 5 * (5 + 1 + 3)


def test_the_study_of_aryl_holds_its_tables() -> None:
    """Every row of Tables 5, 6, 9 and 12 that can be is a cell, and a line says when the data are missing."""
    study = studies.read_study(FOLDER / "aryl-loaning.json")
    if catalogue.data_folder() is None:
        with pytest.raises(InvalidInput, match="real: True: needs real data"):
            studies.cells_of(study)
        return
    cells = studies.cells_of(study)
    rows = {(str(cell.labels.group), str(cell.labels.method)) for cell in cells}
    scaling = {
        "Baseline",
        "Gandiva",
        "AFS",
        "AFS, of present",
        "AFS, pairs",
        "Goodput search",
        "Aryl",
        "Exact allocation",
    }
    reclaiming = {"Random", "SCF", "Static", "SSF", "LSF", "Aryl", "Exact reclaiming"}
    placement = {"Basic", "Advanced", "Ideal"}

    assert {("Scaling", name) for name in scaling} <= rows
    assert {("Loaning", name) for name in reclaiming} <= rows
    assert {(name, method) for name in placement for method in ("Aryl", "Aryl, ungrouped")} <= rows
    assert {("Basic", f"Aryl, misjudging(wrong={wrong})") for wrong in (0.2, 0.4, 0.6)} <= rows
    assert len(cells) == len(rows) == 49
