"""The search for better schedules by multipliers."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.files import read_data
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import simulate
from gsopt.studies.improve import ImprovedSchedule, improve
from heuristics.policies import marginal
from tests.gsopt.simulation.adaptive import learning

#: Runs that find something better in the scenario below.
_TRIES = 12


class _Killed(Exception):
    """The process ends here."""


def _scenario() -> Scenario:
    """Return jobs that arrive one after the other, for which the policy alone is not best."""
    menu = [(1, 1), (2, 1), (4, 1)]
    return learning(*(Job(name=f"job {n}", release_date=n, duration=9, gpus=1, menu=menu) for n in range(7)))


def test_nothing_gets_worse_and_the_file_says_how(tmp_path: Path) -> None:
    """The result is better than the policy, and its multipliers lead there again."""
    scenario, file, better = _scenario(), tmp_path / "found.json", list[float]()
    found = improve(
        scenario,
        "marginal",
        file,
        tries=_TRIES,
        on_better=lambda each: better.append(each.mean_jct),
        charge=0,
    )
    assert read_data(ImprovedSchedule, file) == found
    assert better == sorted(better, reverse=True)
    assert found.mean_jct == better[-1] < simulate(scenario, marginal, charge=0).metrics.mean_jct
    again = simulate(scenario, marginal, charge=0, multipliers=found.multipliers)
    assert again.metrics.mean_jct == found.mean_jct


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    """A search that was killed, or ended before, comes to the same result as one that was not."""
    scenario = _scenario()
    whole = improve(scenario, marginal, tmp_path / "whole.json", tries=_TRIES, charge=0)

    def kill(_: ImprovedSchedule) -> None:
        raise _Killed

    with pytest.raises(_Killed):
        improve(scenario, marginal, tmp_path / "parts.json", tries=_TRIES, on_better=kill, charge=0)
    assert 0 < read_data(ImprovedSchedule, tmp_path / "parts.json").tries < _TRIES
    assert improve(scenario, marginal, tmp_path / "parts.json", tries=_TRIES, charge=0) == whole


def test_a_file_belongs_to_one_search(tmp_path: Path) -> None:
    """Multipliers that lead to another value than the file states are refused in one line."""
    file = tmp_path / "found.json"
    improve(_scenario(), "marginal", file, tries=0)
    other = learning(Job(name="alone", release_date=0, duration=9, gpus=1, menu=[(1, 1), (2, 1), (4, 1)]))
    with pytest.raises(InvalidInput, match=r"found\.json: mean_jct: .* must be that of the run"):
        improve(other, "marginal", file, tries=1)
