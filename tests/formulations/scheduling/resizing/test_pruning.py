"""What the model rules out: no rule touches the optimum, and one that is a little too strict is noticed."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest
from pyomo.common.errors import InvalidConstraintError

from formulations.common.prover import Prover
from formulations.scheduling.resizing import resizing
from formulations.scheduling.resizing.cuts import groups
from formulations.scheduling.resizing.jobs import Resizable
from formulations.scheduling.resizing.model import COST, launch_model, soonest_completions
from gsopt.core.numbers.tolerances import CONTINUOUS
from gsopt.core.result import Status
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.solvers.standard_form import StandardForm
from tests.exactness import resizing as oracle

MODEL = import_module("formulations.scheduling.resizing.model")
METHOD = import_module("formulations.scheduling.resizing.method")


def tiny(gpus: int, *jobs: tuple[float, float, int, int]) -> Scheduling:
    """Return jobs by release date, GPU-seconds, fewest and most GPUs."""
    made: list[ElasticJob] = []
    for index, (release, work, fewest, most) in enumerate(jobs):
        job = oracle.elastic(f"j{index}", work, fewest, most)
        made.append(job.model_copy(update={"release": release}))
    return Scheduling(gpus=gpus, jobs=made, preemptive=False)


#: Instances whose best schedule a rule that is too strict rules out, with their optima in seconds in all.
TINY = [
    (tiny(4, (0, 8, 4, 4), (0, 4, 4, 4)), 1 + 3),  # the longer one waits
    (tiny(4, (0, 4, 1, 1), (0, 4, 4, 4)), 1 + 5),  # as does the narrower one
    (tiny(4, (0, 4, 1, 1), (0, 4, 1, 4)), 4 + 4 / 3),  # and one that cannot grow
    (tiny(2, (0, 2, 1, 1), (0, 2, 1, 1), (3, 1, 1, 1)), 2 + 2 + 1),  # all is done before the next one comes
    (tiny(4, (0, 4, 1, 2), (0, 9, 3, 4)), 2 + 4.25),  # one after the other
    (tiny(4, (0, 40, 4, 4), (1, 4, 4, 4)), 1 + 12),  # idle until a small one comes
    (tiny(4, (0, 8, 1, 4), (0, 12, 1, 4), (1, 40, 4, 4)), 2 + 5 + 14),
    (tiny(3, (0, 3, 1, 2), (0, 3, 1, 2), (0, 3, 1, 2)), 7.125),  # equal ones
    (tiny(8, (0, 300, 2, 3), (0, 120, 2, 6)), 124),
]


def _optimum(problem: Scheduling) -> float:
    return oracle.optimum(problem) * len(problem.jobs)


@pytest.mark.parametrize("number", range(len(TINY)))
def test_optima_are_those_of_all_orders(number: int) -> None:
    """The optimum of each instance is that of all orders of events in fractions."""
    problem, total = TINY[number]
    assert _optimum(problem) == pytest.approx(total)


def _no_cut(*_: Any) -> bool:
    return False


def _no_soonest(jobs: Resizable) -> list[float]:
    return [0.0] * len(jobs)


def _any_latest(soonest: Sequence[float], total: float) -> list[float]:
    return [2 * total for _ in soonest]


def _without(*names: str) -> Callable[..., Any]:
    def model(jobs: Resizable, total: float) -> Any:
        made = launch_model(jobs, total)
        for name in names:
            made.del_component(name)
        return made

    return model


#: What rules something out, where it stands, and what is there where it is switched off.
RULES: Mapping[str, tuple[Any, str, Any]] = {
    "none": (METHOD, "_GAP", METHOD._GAP),  # noqa: SLF001 - as it is
    "what jobs share": (METHOD, "cut", _no_cut),
    "soonest completions": (MODEL, "soonest_completions", _no_soonest),
    "latest completions": (MODEL, "_latest", _any_latest),
    "completions alone": (METHOD, "launch_model", _without("alone")),
    "equal jobs in turn": (METHOD, "launch_model", _without("alike")),
    "simple bounds": (METHOD, "soonest_completions", _no_soonest),
}


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_touches_the_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any rule switched off the optimum is the same, and proven where the cuts are not those missing."""
    monkeypatch.setattr(*RULES[rule])
    for problem, total in TINY:
        result = resizing(problem)
        jobs = len(problem.jobs)
        assert result.status is Status.OPTIMAL or rule == "what jobs share", problem
        assert (result.bound or 0) * jobs <= total * (1 + 1e-9)
        assert float(result.objective or 0) * jobs == pytest.approx(total)


def _bound(problem: Scheduling, total: float) -> float:
    """Return the optimum of the model with every cut, for schedules no worse than a total."""
    jobs = Resizable.of(problem)
    try:
        model = MODEL.launch_model(jobs, total + sum(jobs.instance.release))
    except InvalidConstraintError:  # Pyomo refuses what cannot hold
        return float("inf")
    for weights, share in groups(jobs):
        for k, i in jobs.cells:
            done = [weight * model.y[j, k, i] for j, weight in weights.items() if j < jobs.there[i]]
            if done:
                model.shared.add(sum(done) <= share * model.d[k, i])
    outcome = Prover().solve(StandardForm.from_pyomo(model), time_limit=None, gap=CONTINUOUS)
    if outcome.status is not Status.OPTIMAL:
        return float("inf")
    return (outcome.bound or 0) / COST * jobs.unit - sum(jobs.instance.release)


@pytest.mark.parametrize("number", range(len(TINY)))
def test_the_best_schedule_is_left(number: int) -> None:
    """With the optimum as the total that is known, the model still has it."""
    problem, total = TINY[number]
    assert _bound(problem, total) <= total * (1 + 1e-6)


def _too_late(jobs: Resizable) -> list[float]:
    return [1.01 * time for time in SOONEST(jobs)]


def _later_than_the_one_before(soonest: Sequence[float], total: float) -> list[float]:
    latest = LATEST(soonest, total)
    return [min(pair) for pair in pairwise([*latest[:1], *latest])]


def _a_little_early(soonest: Sequence[float], total: float) -> list[float]:
    latest: list[float] = LATEST(soonest, total * 0.99)
    return latest


def _one_more_after(soonest: Sequence[float], total: float) -> list[float]:
    count = len(soonest)
    return [(total - sum(soonest[:k])) / (count - k + 1) for k in range(count)]


SOONEST, LATEST = soonest_completions, MODEL._latest  # noqa: SLF001 - the rule to be broken

#: Rules that leave out too much.
WRONG = [
    ("soonest_completions", _too_late),
    ("_latest", _later_than_the_one_before),
    ("_latest", _a_little_early),
    ("_latest", _one_more_after),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[wrong.__name__ for _, wrong in WRONG])
def test_what_is_too_strict_is_noticed(name: str, wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any rule that leaves out more than it may makes some bound too high."""
    monkeypatch.setattr(MODEL, name, wrong)
    assert any(_bound(problem, total) > total * (1 + 1e-4) for problem, total in TINY)
