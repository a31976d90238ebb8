"""One cell."""

import dataclasses
import json
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import gsopt
from gsopt import simulation
from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from gsopt.simulation import simulate
from gsopt.studies import CellState, cells_of, run
from gsopt.studies.compute import compute, prove
from gsopt.studies.rows import CellOutcome
from heuristics.policies import las
from instances.workloads import poisson
from tests.gsopt.studies.samples import starts, study


def _outcome(**changes: Any) -> CellOutcome:
    return compute(cells_of(study(**changes))[0])


def test_a_decision_has_the_figures_of_its_result() -> None:
    """Value, bound, status and the problem's measures are those of solving the instance."""
    figures = _outcome(methods=["exact"]).figures
    problem = gsopt.load("reclaiming/aryl-figure-5")
    result = gsopt.solve(problem)
    assert (figures["objective"], figures["bound"], figures["status"]) == (1, 1, "optimal")
    assert (figures["own_gap"], figures["stopped_by"], figures["sense"]) == (0.0, "finished", "minimize")
    assert set(problem.measures(result.solution)) <= set(figures)


def test_a_policy_has_the_figures_of_its_replay() -> None:
    """The figures are those of the simulator with the same options, and the time that it took."""
    entry = {"workload": "poisson", "jobs": 60, "gpus": 8, "load": 2.0, "seed": 4}
    (cell,) = cells_of(study(instances=[entry], methods=[{"policy": "las", "quantum": 60}]))
    found = compute(cell, bound=prove(cell)).figures
    replay = simulate(poisson(jobs=60, gpus=8, load=2.0, seed=4), las, cluster=8, quantum=60)
    expected = {name: value for name, value in replay.metrics.as_dict().items() if name != "policy"}
    expected["proof"] = replay.metrics.proof
    times = ("runtime", "decision_median", "decision_p99")
    assert {name: value for name, value in found.items() if name not in times} == expected
    assert all(found[name] > 0 for name in times)
    assert found["decision_median"] <= found["decision_p99"] <= found["runtime"]


def test_the_files_of_an_instance_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell says what its instance was read from, with the digest of the content; a generated one nothing."""
    monkeypatch.setenv("GSOPT_DATA", str(tmp_path))
    file = tmp_path / "jobs.json"
    gsopt.write(poisson(jobs=5, gpus=8, load=2.0, seed=4), file)
    own = {f"$GSOPT_DATA/{file.name}": sha256(file.read_bytes()).hexdigest()}
    entries = [{"workload": str(file), "gpus": 8}, {"workload": "poisson", "jobs": 5, "gpus": 8}]
    read, made = (compute(cell) for cell in cells_of(study(instances=entries, methods=["fifo"])))
    assert (read.sources, made.sources) == (own, {})
    committed = [_outcome(methods=[method]).sources for method in ("greedy", "exact")]
    assert [list(sources) for sources in committed] == [["instances/reclaiming/aryl-figure-5.json"]] * 2


def test_loans_have_their_figures() -> None:
    """Where machines are lent a cell says what they were worth, and beside it what usage is without them."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4, "loaning": [True, False]}
    lent, alone = (compute(cell).figures for cell in cells_of(study(instances=[entry], methods=["fifo"])))
    assert lent["loaned_jobs"] == 0  # FIFO starts jobs in their default mode, which is for training GPUs
    assert lent["training_usage"] > lent["loaned_usage"] == 0
    assert lent["reclaimed_servers"] >= lent["reclaims"] > 0
    assert lent["spare_servers"] == 1
    assert 0 < alone["training_usage"] == alone["overall_usage"] < 1
    assert alone["loaned_usage"] is None
    assert lent["mean_jct"] == alone["mean_jct"]


def test_a_recorded_schedule_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell whose schedule breaks a rule has failed, and says which."""
    entry = {"scenario": "aryl", "days": 1, "servers": 4, "inference_servers": 4}
    (cell,) = cells_of(study(instances=[entry], methods=["fifo"]))
    replay = simulation.replay

    def losing(*args: Any, **options: Any) -> simulation.Replay:
        run = replay(*args, **options)
        assert run.schedule is not None
        return dataclasses.replace(
            run, schedule=dataclasses.replace(run.schedule, segments=run.schedule.segments[1:])
        )

    monkeypatch.setattr(simulation, "replay", losing)
    outcome = compute(cell)
    assert outcome.state is CellState.FAILED
    assert "does not complete" in outcome.message


@pytest.mark.parametrize(
    ("cluster", "method", "worth"),
    [
        ("1x1x1", "sjf_ffs", {"sharing_benefit": 5 / 1.25, "sharing_right": 1.0}),  # 4 + 1 s, or 1.25 s
        ("1x1x1", "sjf", {}),
        ("1x1x1", "gandiva", {}),  # it interrupts jobs
    ],
)
def test_what_sharing_was_worth(tmp_path: Path, cluster: str, method: str, worth: dict[str, float]) -> None:
    """Where jobs start beside others the mean benefit of that is a figure, and how much of it was right."""
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=1) for name, seconds in (("a", 4), ("b", 1))]
    file = tmp_path / "jobs.json"
    gsopt.write(Workload(jobs=jobs), file)
    speed = {"default_interference": 1.25}
    entry = {"workload": str(file), "cluster": cluster, "share_limit": 2, "speed": speed}
    (cell,) = cells_of(study(instances=[entry], methods=[method]))
    outcome = compute(cell)
    figures = {name: value for name, value in outcome.figures.items() if name.startswith("sharing_")}
    assert outcome.state is CellState.DONE, outcome.message
    assert figures == pytest.approx(worth)


def test_what_cannot_be_loaded_has_no_bound(tmp_path: Path) -> None:
    """A bound on a workload that is gone is none; the cell says why."""
    file = tmp_path / "jobs.json"
    gsopt.write(poisson(jobs=3, gpus=2), file)
    (cell,) = cells_of(study(instances=[{"workload": str(file), "gpus": 2}], methods=["fifo"]))
    file.unlink()
    assert prove(cell) is None
    assert compute(cell).state is CellState.FAILED


def test_outcomes_are_plain_json() -> None:
    """Fractions and whatever is not finite become what JSON can hold."""
    for method in ("exact", "milp", "two_phase"):
        figures = _outcome(instances=["allocation/small"], methods=[method]).figures
        assert json.loads(json.dumps(figures, allow_nan=False)) == figures


def test_errors_are_outcomes() -> None:
    """A refused argument is a failure with its line; a variant that a method does not handle is no failure."""
    bad = _outcome(instances=[{"generator": "reclaiming/churn", "servers": -5}], methods=["greedy"])
    assert (bad.state, bad.error) == (CellState.FAILED, "InvalidInput")
    assert bad.message == "servers: -5: must be at least 1"
    tagged = {"generator": "reclaiming/churn", "servers": 20, "demand": 4, "elastic_share": 1.0}
    odd = _outcome(instances=[tagged | {"elasticity": "fungible"}], methods=["decomposition"])
    assert odd.state is CellState.UNSUPPORTED
    assert odd.message


class Thinking:
    """Decides for ever."""

    preemptive = False

    def decide(self, state: Any) -> None:
        """Wait for what never comes."""
        del state
        Event().wait()


def thinking(state: Any) -> Thinking:
    """Make a decider whose first decision never ends."""
    del state
    return Thinking()


_WORKLOAD = {"workload": "batch", "jobs": 5, "gpus": 8}


def test_a_policy_that_takes_too_long_is_given_up() -> None:
    """A run that is not done within the limit of the study, or of the policy itself, has failed and says so."""
    own = {"policy": "fifo", "time_limit": 0}
    for changes in ({"methods": ["fifo"], "time_limit": 0}, {"methods": [own], "time_limit": None}):
        outcome = _outcome(instances=[_WORKLOAD], **changes)
        assert (outcome.state, outcome.error) == (CellState.FAILED, "TimeUp")
        assert outcome.message == "the time limit of 0 s expired when 0 of 5 jobs were complete"


def test_a_limit_does_not_change_what_a_policy_does() -> None:
    """A study limits policies where it says so only; a run that ends before is the same cell either way."""
    plain, limited, own = (
        cells_of(study(instances=[_WORKLOAD], **changes))[0]
        for changes in (
            {"methods": ["fifo"]},
            {"methods": ["fifo"], "time_limit": "2min"},
            {"methods": [{"policy": "fifo", "time_limit": "1h"}], "time_limit": 1},
        )
    )
    assert [cell.time_limit for cell in (plain, limited, own)] == [None, 120.0, 3600.0]
    assert plain.key == limited.key == own.key
    with pytest.raises(InvalidInput, match=r"methods\[0\].time_limit: 'soon': must be a number of seconds"):
        cells_of(study(instances=[_WORKLOAD], methods=[{"policy": "fifo", "time_limit": "soon"}]))


def test_a_decision_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """A policy that thinks for ever is ended with its process, and the cell is not tried again."""
    grid = study(instances=[_WORKLOAD], methods=[f"{__name__}:thinking"], time_limit=0.1, bound_evaluations=0)
    (row,) = run(grid, tmp_path, workers=1, allow=["tests"])
    assert (row.outcome.state, row.outcome.error) == (CellState.FAILED, "TimeUp")
    assert row.outcome.message == "the time limit of 0.1 s is over, and a decision goes on"
    assert len(starts(tmp_path)) == 1
