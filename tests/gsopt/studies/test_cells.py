"""The grid as cells."""

from typing import Any

import pytest

import gsopt
from gsopt.core.errors import InvalidInput
from gsopt.studies import Cell, cells_of
from gsopt.studies.compute import compute
from heuristics.scheduling import efq
from tests.gsopt.studies.samples import FIGURE_5, study
from tests.refusals import refusal

_LAS = {"policy": "las", "quantum": [60, 600]}
_POISSON = {"workload": "poisson", "jobs": 5, "gpus": 8, "seed": [1, 2]}


def _names(cells: tuple[Cell, ...]) -> list[tuple[str, str]]:
    return [(str(cell.labels.instance), str(cell.labels.method)) for cell in cells]


def test_methods_meet_the_instances_that_they_fit() -> None:
    """Policies are for workloads, methods for instances of their decision, and seeds for those that draw."""
    grid = study(
        instances=[FIGURE_5, "allocation/aryl-table-4", _POISSON],
        methods=["greedy", "exact", _LAS, "random_order"],
        seeds=[0, 1],
    )
    counted = [(cell.word, cell.method) for cell in cells_of(grid)]
    assert {pair: counted.count(pair) for pair in counted} == {
        ("reclaiming", "greedy"): 2,
        ("reclaiming", "exact"): 1,
        ("allocation", "exact"): 1,
        ("", "las"): 4,
        ("", "random_order"): 4,
    }


def test_a_path_is_called_as_its_function() -> None:
    """Tables name a function by itself unless another method has that name; keys know the whole path."""
    path = "heuristics.policies:las"
    alone, *_ = cells_of(study(instances=[_POISSON], methods=[path]))
    assert (str(alone.labels.method), alone.method) == ("las", path)
    labelled, *_ = cells_of(study(instances=[_POISSON], methods=[{"policy": path, "label": "mine"}]))
    assert str(labelled.labels.method) == "mine"
    assert labelled.key == alone.key
    for other in ("las", {"policy": "fifo", "label": "las"}):
        grid = cells_of(study(instances=[_POISSON], methods=[path, other, {"policy": path, "quantum": [1, 2]}]))
        names = list(dict.fromkeys(str(cell.labels.method) for cell in grid))
        assert names == [path, "las", f"{path}(quantum=1)", f"{path}(quantum=2)"]


def test_a_cell_that_two_entries_share_is_there_once() -> None:
    """Naming an instance twice does not compute it twice."""
    once = cells_of(study())
    assert (
        cells_of(study(instances=[FIGURE_5, {"instance": FIGURE_5}], methods=["greedy", "exact", "greedy"]))
        == once
    )


def test_keys_change_with_what_determines_the_result_only() -> None:
    """Options, seeds and time limits change the key; labels, names and further entries do not."""
    (key,) = (cell.key for cell in cells_of(study(methods=["exact"])))
    relabelled = study(study="b", methods=[{"method": "exact", "label": "optimum"}], seeds=[5])
    wider = study(methods=["greedy", "exact"])
    assert [cell.key for cell in cells_of(relabelled)] == [key]
    assert key in {cell.key for cell in cells_of(wider)}
    for changed in (study(methods=["exact"], time_limit=7), study(methods=[{"method": "exact", "width": 3}])):
        assert key not in {cell.key for cell in cells_of(changed)}


def test_an_own_seed_or_time_limit_comes_first() -> None:
    """Options in the entry override the study's seeds and time limit."""
    grid = study(
        methods=[{"method": "greedy", "seed": 9}, {"method": "exact", "time_limit": 5}, "milp"],
        seeds=[0, 1],
        time_limit=None,
    )
    assert [dict(cell.options) for cell in cells_of(grid)] == [{"seed": 9}, {"time_limit": 5}, {}]


def test_a_policy_is_a_method_of_scheduling() -> None:
    """On workloads and scheduling instances a policy is given by the same entry, and nothing else is."""
    example = "scheduling/small/ares-figure-4"
    both = study(instances=[{**_POISSON, "seed": 1}, example], methods=[{"policy": "efq", "alpha": 0.6}])
    found = cells_of(both)
    assert [(cell.word, cell.method) for cell in found] == [("", "efq"), ("scheduling", "efq")]
    assert compute(found[1]).figures["objective"] == efq(gsopt.load(example), alpha=0.6).objective
    with pytest.raises(InvalidInput, match=r"methods\[0\].policy: 'exact': must be one of .*efq"):
        cells_of(study(instances=[example], methods=[{"policy": "exact"}]))


def test_a_method_may_be_for_some_instances() -> None:
    """It meets those with the labels that it names, and its own name does not change by that."""
    grid = study(
        instances=[{"label": "A", **_POISSON, "seed": [1, 2]}, {"label": "B", **_POISSON, "seed": 3}],
        methods=["fifo", {"policy": "srtf", "for": "B"}, {"policy": "sjf", "for": ["A", "B"]}],
    )
    met = [(str(cell.labels.group), str(cell.labels.method), dict(cell.options)) for cell in cells_of(grid)]
    assert met == [
        *[("A", "fifo", {}), ("A", "sjf", {})] * 2,
        *[("B", "fifo", {}), ("B", "srtf", {}), ("B", "sjf", {})],
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"methods": ["greedyy"]}, "s.json: methods[0]: 'greedyy': must be one of decomposition, exact"),
        ({"methods": [{"method": "fifo"}]}, "s.json: methods[0].method: 'fifo': must be one of"),
        ({"methods": ["exact", {"policy": "fifo"}]}, "s.json: methods[1].policy: 'fifo': fits no instance"),
        ({"methods": [{"colour": 1}]}, "s.json: methods[0]: must have one of the keys method, policy"),
        ({"methods": [{"method": 3}]}, "s.json: methods[0].method: 3: must be a name"),
        (
            {"methods": [{"method": "exact", "alpha": 1}]},
            "s.json: methods[0].alpha: 1: is not an option of exact",
        ),
        ({"methods": [{"method": "exact", "gap": "0"}]}, "s.json: methods[0].gap: '0': input should be"),
        ({"methods": [{"method": "exact", "gap": []}]}, "s.json: methods[0].gap: []: must hold a value"),
        ({"instances": [FIGURE_5, _POISSON]}, "s.json: instances[1]: 'poisson(jobs=5, gpus=8, seed=1)': no"),
        ({"methods": [{"method": "exact", "for": "x"}]}, "s.json: methods[0].for: 'x': must be the label of"),
        ({"methods": [{"method": "exact", "for": 1}]}, "s.json: methods[0].for: 1: must be the label of"),
        ({"instances": ["reclaiming/x"]}, "s.json: instances[0].instance: 'reclaiming/x': is no file"),
        ({"instances": ["x.json"]}, "s.json: instances[0]: x.json: cannot be read"),
    ],
)
def test_bad_studies_are_one_line(change: dict[str, Any], line: str) -> None:
    """File, entry, value and rule are named before anything is computed."""
    assert refusal(cells_of, study(**change), "s.json").startswith(line)
