"""Running a study in this process."""

import os
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import Contradiction, InvalidInput
from gsopt.schedule.bounds import MeanBound
from gsopt.studies import CellState, StudyProgress, cells_of, results, run
from gsopt.studies.rows import CellOutcome
from gsopt.studies.store import writing
from tests.gsopt.studies.samples import HARD, committed, fill, starts, study
from tests.processes import children, meanwhile, wait_until

#: A cell that takes a while, and one that takes hours.
_LONG = {
    "instances": [{"workload": "poisson", "jobs": 10000, "gpus": 64, "load": 2.0}],
    "methods": ["las"],
    "bound_evaluations": 0,
}
_ENDLESS = {"instances": [HARD], "methods": [{"method": "milp", "time_limit": 36000}]}


def test_only_what_is_new_is_computed(tmp_path: Path) -> None:
    """A second run computes nothing, and a wider grid only what it adds."""
    run(study(), tmp_path, workers=1)
    run(study(), tmp_path, workers=1)
    assert len(starts(tmp_path)) == 2
    wider = run(study(methods=["exact", "static_cost", "greedy"]), tmp_path, workers=1)
    assert len(starts(tmp_path)) == 3
    assert [str(row.labels.method) for row in wider] == ["exact", "static_cost", "greedy"]


def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    """One process and two give the same figures in the same order."""
    entry = {"workload": "poisson", "jobs": 50, "gpus": 8, "load": 2.0, "seed": [1, 2, 3]}
    grid = study(instances=[entry], methods=["srtf", "las", "random_order"], seeds=[0, 1], bound_evaluations=0)
    one, two = (run(grid, tmp_path / str(count), workers=count) for count in (1, 2))
    zero = dict.fromkeys(("wall", "runtime", "decision_median", "decision_p99"), 0)
    timeless = [[{**row.as_dict(), **zero} for row in found] for found in (one, two)]
    assert timeless[0] == timeless[1]


def test_a_failed_cell_is_stored_and_retried_on_demand(tmp_path: Path) -> None:
    """A cell that raises is stored with its line, left alone by the next run, and computed again with retry."""
    bad = {"generator": "reclaiming/churn", "servers": 10, "demand": 50}
    grid = study(instances=["reclaiming/aryl-figure-5", bad], methods=["greedy"])
    found = run(grid, tmp_path, workers=1)
    (failed,) = found.failed
    assert failed.outcome.message.startswith("demand: 50: must be between 0 and")
    assert found[0].outcome.state is CellState.DONE
    run(grid, tmp_path, workers=1)
    assert len(starts(tmp_path)) == 2
    run(grid, tmp_path, workers=1, retry=True)
    assert len(starts(tmp_path)) == 3


@pytest.mark.parametrize(("kills", "grid"), [(1, _LONG), (2, _ENDLESS)])
def test_a_cell_whose_process_dies_is_tried_once_more(tmp_path: Path, kills: int, grid: dict[str, Any]) -> None:
    """A killed process is replaced once; killed twice, the cell is stored as failed."""
    with meanwhile(partial(_kill_workers, tmp_path, kills)):
        (row,) = run(study(**grid), tmp_path, workers=1)
    assert len(starts(tmp_path)) == 2
    assert row.outcome.state is (CellState.DONE if kills == 1 else CellState.FAILED)
    if kills == 2:
        assert row.outcome.message == "process ended by SIGKILL, 2 times"


def test_a_cell_that_ctrl_c_kills_has_not_failed(tmp_path: Path) -> None:
    """Ctrl-C while a cell is tried for the last time leaves it to the next run, like any that is under way."""

    def kill_and_interrupt() -> None:
        _kill_workers(tmp_path, 1)
        wait_until(lambda: len(starts(tmp_path)) == 2)
        os.kill(os.getpid(), signal.SIGINT)

    with meanwhile(kill_and_interrupt):
        found = run(study(**_ENDLESS), tmp_path, workers=1)
    assert found.interrupted
    assert (len(found), found.missing) == (0, 1)


def test_a_bound_is_proven_once_and_kept(tmp_path: Path) -> None:
    """All policies on a workload are held against the same bound, which a later run takes from the folder."""
    entry = {"workload": "poisson", "jobs": 60, "gpus": 16, "load": 1.2, "seed": 1}
    first = run(study(instances=[entry], methods=["fifo", "srtf"]), tmp_path, workers=2)
    (known,) = {row.figures["lower_bound"] for row in first}
    with writing(tmp_path) as store:
        key = cells_of(study(instances=[entry], methods=["fifo"]))[0].instance_key
        assert store.bound(key, -1) == MeanBound(known, "prices")
        store.keep_bound(key, -1, MeanBound(known / 2, "formulas"))
    second = run(study(instances=[entry], methods=["fifo", "srtf", "las"]), tmp_path, workers=1)
    found = {str(row.labels.method): (row.figures["lower_bound"], row.figures["proof"]) for row in second}
    assert found == {"fifo": (known, "prices"), "srtf": (known, "prices"), "las": (known / 2, "formulas")}
    third = run(study(instances=[entry], methods=["sjf"], bound_evaluations=0), tmp_path, workers=1)
    (row,) = third
    assert row.figures["proof"] == "formulas"
    assert row.figures["lower_bound"] < known


def test_progress_is_told(tmp_path: Path) -> None:
    """The first word is what was there, the last that all is done; the time left is known after one cell."""
    fill(tmp_path, study(methods=["greedy"]))
    heard: list[StudyProgress] = []
    run(study(methods=["greedy", "exact", "static_cost"]), tmp_path, workers=1, on_progress=heard.append)
    assert [(each.finished, each.total) for each in heard] == [(1, 3), (2, 3), (3, 3)]
    assert heard[0].left is None
    assert heard[-1].left == 0


def test_a_contradiction_stops_the_study(tmp_path: Path) -> None:
    """A stored bound that a stored value beats raises at the end of the run, and the results are kept."""
    grid = study()
    greedy, exact = cells_of(grid)
    liar = {"objective": None, "bound": 5, "sense": "minimize"}
    with writing(tmp_path) as store:
        store.adopt(grid, [greedy, exact], 1)
        store.commit(exact, CellOutcome(CellState.DONE, liar, 0.1))
    with pytest.raises(Contradiction, match="greedy found 1, better than the bound 5 proven by exact"):
        run(grid, tmp_path, workers=1)
    assert len(results(tmp_path)) == 2


def test_bad_studies_leave_no_folder(tmp_path: Path) -> None:
    """What is refused is refused before anything is written."""
    for grid, workers in ((study(methods=["magic"]), 1), (study(), 0)):
        with pytest.raises(InvalidInput):
            run(grid, tmp_path / "new", workers=workers)
    assert not (tmp_path / "new").exists()


def test_every_cell_is_begun_once(tmp_path: Path) -> None:
    """Three workers share a grid without computing any cell twice, and none is left when the run returns."""
    grid = study(instances=["reclaiming/small"], methods=["greedy", "static_cost"])
    before = set(children(os.getpid()))
    run(grid, tmp_path, workers=3)
    assert set(children(os.getpid())) <= before
    begun = Counter(key for key, _ in starts(tmp_path))
    assert set(begun.values()) == {1}
    assert set(begun) == set(committed(tmp_path))


def _kill_workers(folder: Path, times: int) -> None:
    """Kill the process that computes, each time a cell has begun anew."""
    mine = set(children(os.getpid()))

    def begun(number: int) -> bool:
        return len(starts(folder)) >= number

    for number in range(1, times + 1):
        wait_until(partial(begun, number))
        for pid in set(children(os.getpid())) - mine:
            os.kill(pid, signal.SIGKILL)
