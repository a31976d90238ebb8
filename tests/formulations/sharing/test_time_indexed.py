"""The slot model slot by slot: the same optimum from CP-SAT, from HiGHS, and from trying every plan."""

from collections.abc import Iterator
from itertools import combinations, product
from random import Random

import pytest

from formulations.sharing import exact, time_indexed
from formulations.sharing.listing import shortest_first
from formulations.sharing.slots import task_of
from formulations.sharing.slotted import FULL, Slotted
from formulations.sharing.time_indexed import plan_of, slot_model
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.backends.slotted import USERS, solve
from gsopt.solvers.standard_form import StandardForm
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases
from tests.exactness import sharing as oracle


def drawn(seed: int, most: int) -> Slotted:
    """Draw a slot model of up to three jobs on up to three GPUs."""
    problem = oracle.draw(Random(seed))
    return Slotted.of(problem, shortest_first(problem, 0), most)


def by_cp_sat(model: Slotted) -> int | None:
    """Return the least sum of ends that CP-SAT proves; None when there is no plan."""
    answer = CpSat().call(solve, task_of(model, Budget())).answer
    if answer.plan is None:
        assert answer.status == "INFEASIBLE"
        return None
    ends = model.ends(dict(enumerate(answer.plan)))
    assert ends is not None
    assert sum(ends.values()) == answer.bound
    return sum(ends.values())


def by_highs(model: Slotted) -> int | None:
    """Return the least sum of ends that HiGHS proves; None when there is no plan."""
    form = StandardForm.from_pyomo(slot_model(model))
    found = Highs().solve(form)
    if found.values is None:
        assert found.status.value == "infeasible"
        return None
    ends = model.ends(plan_of(model, form.named(form.rounded(found.values))))
    assert ends is not None
    assert sum(ends.values()) == round(found.objective or 0)
    return sum(ends.values())


def by_trying(model: Slotted) -> int | None:
    """Return the least sum of ends of all plans; None when there is none."""
    problem = model.problem
    ways = [
        list(product(range(release, model.horizon), combinations(range(problem.gpus), job.gpus)))
        for job, release in zip(problem.jobs, model.release, strict=True)
    ]
    return min((total for plan in product(*ways) for total in totals(model, plan)), default=None)


def totals(model: Slotted, plan: tuple[tuple[int, tuple[int, ...]], ...]) -> Iterator[int]:
    """Yield the sum of the ends of a plan, or nothing when it breaks a rule: slot by slot, GPU by GPU."""
    left, total = list(model.work), 0
    for slot in range(model.horizon):
        done = [FULL * (left[job] > 0 and start <= slot) for job, (start, _) in enumerate(plan)]
        runs = [job for job, amount in enumerate(done) if amount]
        for gpu in range(model.problem.gpus):
            users = [job for job in runs if gpu in plan[job][1]]
            pairs = [(one, two) for one in users for two in users if one != two]
            if len(users) > USERS or any(two not in model.beside[one] for one, two in pairs):
                return
            for one in users:
                done[one] = min([done[one], *(model.beside[one][two] for other, two in pairs if other == one)])
        for job in runs:
            left[job] -= done[job]
            total += (slot + 1) * (left[job] <= 0)
    if max(left) <= 0:
        yield total


def test_both_solvers_prove_the_same_optimum() -> None:
    """On random instances the least sum of ends is the same from constraints and from the program."""
    models = [drawn(seed, 7) for seed in range(cases(100))]

    assert [by_cp_sat(model) for model in models] == [by_highs(model) for model in models]


def test_no_plan_is_better() -> None:
    """On the tiniest instances the optimum is the least of all plans."""
    models = [drawn(seed, 4) for seed in range(100, 100 + cases(100))]

    assert [by_cp_sat(model) for model in models] == [by_trying(model) for model in models]
    assert [by_highs(model) for model in models[:20]] == [by_trying(model) for model in models[:20]]


@pytest.mark.parametrize("starts", ["events", "any"])
def test_it_follows_its_plan_at_events(starts: str) -> None:
    """The reference gives a schedule that is no better than the optimum, and its value in slots."""
    problem = between_events(starts=starts)
    result, proven = time_indexed(problem), exact(between_events())

    assert result.objective == proven.objective
    assert result.message == "slots of 0.5 s: 3.75 is optimal"
    assert result.bound is not None
    assert result.bound < 3.75


def test_larger_instances_are_refused() -> None:
    """What has too many places in time says so."""
    with pytest.raises(Unsupported, match="places in time: the reference is for at most 3,000"):
        time_indexed(interfering_jobs(jobs=12, gpus=16))
