"""The best known schedules of public workloads."""

from datetime import date
from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput, InvalidSolution
from gsopt.core.files import read_text
from gsopt.schedule.judge import judge
from gsopt.simulation import simulate
from heuristics.policies import marginal
from instances.scenarios.best import FOLDER, NAMES, best_schedule, best_schedules, keep, scenario

#: The cheapest to judge, with which the others are made and kept alike.
_CHEAPEST = "philly-1"


def test_every_schedule_is_known() -> None:
    """Each file has its line in the list, between bound and value, and decisions fall on whole minutes."""
    known = best_schedules()
    assert {each.name for each in known} == {file.stem for file in FOLDER.glob("*.csv")}
    assert [each.name for each in known] == [name for name in NAMES if name in {each.name for each in known}]
    for each in known:
        assert 0 < each.bound <= each.mean_jct
        assert not any(segment.start % 60 for segment in best_schedule(each.name).segments)


def test_the_judge_confirms_what_is_known(traces: Path) -> None:
    """A schedule on file is legal, complete, and worth what the list says."""
    verdict = judge(best_schedule(_CHEAPEST), scenario(_CHEAPEST, traces), fairness=False)
    (known,) = (each for each in best_schedules() if each.name == _CHEAPEST)
    assert verdict.violations == ()
    assert verdict.mean_jct == known.mean_jct


def test_the_better_schedule_is_kept(traces: Path, tmp_path: Path) -> None:
    """A worse schedule replaces nothing, a better one does, and the higher bound stays."""
    given = scenario(_CHEAPEST, traces)
    few = given.model_copy(
        update={"workload": given.workload.model_copy(update={"jobs": given.workload.jobs[:6]})}
    )
    good, bad = (
        simulate(few, marginal, round_length=60, record=True, bound=False, multipliers=factors)
        for factors in ({}, {job.name: 1e-6 for job in few.workload.jobs[-1:]})
    )
    assert good.metrics.mean_jct != bad.metrics.mean_jct
    worse, better = sorted((good, bad), key=lambda run: -run.metrics.mean_jct)
    assert worse.schedule is not None
    assert better.schedule is not None
    days = date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)
    first = keep(_CHEAPEST, worse.schedule, few, bound=1, found_by="a", folder=tmp_path, today=days[0])
    assert (first.mean_jct, first.bound, first.found_by) == (worse.metrics.mean_jct, 1, "a")
    second = keep(_CHEAPEST, better.schedule, few, bound=2, found_by="b", folder=tmp_path, today=days[1])
    assert (second.mean_jct, second.bound, second.since) == (better.metrics.mean_jct, 2, days[1])
    third = keep(_CHEAPEST, worse.schedule, few, bound=1.5, found_by="c", folder=tmp_path, today=days[2])
    assert third == second == best_schedules(tmp_path)[0]
    assert read_text(tmp_path / f"{_CHEAPEST}.csv") == better.schedule.to_csv()

    with pytest.raises(InvalidInput, match=r"bound: .* must be at most the value"):
        keep(_CHEAPEST, better.schedule, few, bound=1e9, found_by="d", folder=tmp_path)
    with pytest.raises(InvalidInput, match="multiples of 60"):
        keep(_CHEAPEST, better.schedule.timed(lambda t: t + 1), few, bound=1, found_by="d", folder=tmp_path)
    with pytest.raises(InvalidSolution):
        keep(_CHEAPEST, better.schedule, given, bound=1, found_by="d", folder=tmp_path)
