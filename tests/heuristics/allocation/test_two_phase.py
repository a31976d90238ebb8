"""Algorithm 2: on the paper's examples, with both item weights, and as a whole."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import exact
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.problems.allocation import Allocation, ElasticJob
from heuristics.allocation import two_phase
from heuristics.allocation.two_phase import shortest_job_first, two_phase_allocation
from instances.allocation import elastic_jobs, figure_6, table_4
from tests.effort import cases
from tests.heuristics.results import solved
from tests.unwrap import unwrap


def job(name: str, workers: int, time: float, **fields: Any) -> ElasticJob:
    """Return a job that can use twice its minimum workers."""
    return ElasticJob(
        **{"name": name, "min_workers": workers, "max_workers": 2 * workers, "time_at_min": time, **fields}
    )


def test_table_4() -> None:
    """Table 4 with four GPUs: corrected weights give A+1, B+3 (86); printed ones A+1 (50) and 3 idle GPUs."""
    corrected, printed = two_phase(table_4()), two_phase(table_4(), weight="printed")
    assert (corrected.objective, dict(unwrap(corrected.solution).extra)) == (86, {"A": 1, "B": 3})
    assert (printed.objective, dict(unwrap(printed.solution).extra)) == (50, {"A": 1})
    assert table_4().measures(unwrap(printed.solution))["idle_gpus"] == 3


def test_figure_6() -> None:
    """Figure 6, two GPUs per worker of A: corrected weights give A+1, B+2, worth 80."""
    result = two_phase(figure_6())
    assert (result.objective, dict(unwrap(result.solution).extra)) == (80, {"A": 1, "B": 2})


def test_printed_weights_are_right_for_a_capacity_with_all_minima_in_it() -> None:
    """(w + w_min) D fits a capacity that still holds every minimum, 8 for Table 4: the value is 86 again."""
    totals = [
        ElasticJob(
            name=job.name,
            min_workers=1,
            max_workers=1 + job.min_workers + job.max_extra,
            values=(
                *[-1e6] * (job.min_workers - 1),
                0,
                *(float(job.value(w)) for w in range(1, job.max_extra + 1)),
            ),
        )
        for job in table_4().jobs
    ]
    best = exact(Allocation(capacity=8, jobs=tuple(totals)))
    assert best.objective == 86


@given(st.integers(0, 10_000), st.integers(0, 60), st.sampled_from(["proportional", "across_servers"]))
@settings(deadline=None, max_examples=cases(80))
def test_corrected_weights_are_exact_and_printed_ones_never_better(
    seed: int, capacity: int, scaling: Any
) -> None:
    """The second phase with the corrected weight is the exact optimum; the printed weight never gives more."""
    problem = elastic_jobs(jobs=7, capacity=capacity, sizes="any", scaling=scaling, queued_share=0.3, seed=seed)
    corrected = two_phase(problem).objective
    printed = two_phase(problem, weight="printed").objective
    assert corrected == exact(problem).objective
    assert unwrap(printed) <= unwrap(corrected)


def test_the_knapsack_takes_menus() -> None:
    """Menus of 1 or 4, and of 3 workers of two GPUs, on nine GPUs: 1 and 3 workers, not 4."""
    one = ElasticJob(name="one", min_workers=1, counts=(1, 4), values=(10, 12))
    two = ElasticJob(name="two", min_workers=1, counts=(3,), gpus_per_worker=2, values=(30,))
    result = two_phase(Allocation(capacity=9, jobs=(one, two)))
    assert (result.objective, dict(unwrap(result.solution).extra)) == (40, {"one": 1, "two": 3})


def test_unknown_weights_are_refused() -> None:
    """A weight that is neither corrected nor printed is refused in one line."""
    with pytest.raises(InvalidInput, match="weight: 'free': must be one of corrected, printed"):
        two_phase(table_4(), weight="free")  # type: ignore[arg-type]


def test_shortest_job_first_passes_over_jobs_that_do_not_fit() -> None:
    """A job whose minimum exceeds what is left waits, and longer jobs may still start (section 5.2)."""
    queue = [job("long", 1, 900), job("short", 3, 10), job("large", 4, 20), job("equal", 1, 900)]
    started, waiting = shortest_job_first(queue, 5)
    assert [job.name for job in started] == ["short", "long", "equal"]
    assert [job.name for job in waiting] == ["large"]


def test_elastic_jobs_are_sorted_by_their_time_at_the_minimum() -> None:
    """Line 5 sorts by the running time at the minimum: 90 s comes after 80 s, though the maximum is faster."""
    elastic = ElasticJob(name="elastic", min_workers=1, max_workers=9, time_at_min=90)
    rigid = ElasticJob(name="rigid", min_workers=1, max_workers=1, time_at_min=80)
    worked = ElasticJob(name="worked", min_workers=2, max_workers=2, remaining_work=40)
    started, _ = shortest_job_first([elastic, rigid, worked], 9)
    assert [job.name for job in started] == ["worked", "rigid", "elastic"]


def test_the_whole_algorithm_on_a_queue() -> None:
    """Ten GPUs: the queue takes six, a running job and the started ones share four, the large job waits."""
    running = job("running", 2, 300, gpus_per_worker=2)
    queue = [job("b", 4, 60), job("a", 2, 30), job("large", 5, 90)]
    decision = two_phase_allocation(queue, [running], 10)
    assert [job.name for job in decision.started] == ["a", "b"]
    assert [job.name for job in decision.waiting] == ["large"]
    assert decision.problem.remaining == 4
    assert decision.result.objective == exact(decision.problem).objective
    assert dict(unwrap(decision.result.solution).extra) == {"running": 2}


def test_nothing_left_for_the_second_phase() -> None:
    """With no GPU left (line 25) nothing is shared; with no GPU at all nothing starts."""
    queue = [job("a", 2, 30), job("b", 2, 20)]
    full, empty = two_phase_allocation(queue, [], 4), two_phase_allocation(queue, [], 1)
    assert (len(full.started), full.result.objective) == (2, 0)
    assert (len(empty.started), len(empty.waiting), empty.result.objective) == (0, 2, 0)


def test_the_knapsack_is_an_argument() -> None:
    """The second phase can be any method: an exact one gives the same value, the printed weights not more."""
    jobs = elastic_jobs(jobs=20, seed=6).jobs
    queue, running = jobs[:3], jobs[3:]
    own = two_phase_allocation(queue, running, 150).result
    other = two_phase_allocation(queue, running, 150, knapsack=exact).result
    printed = two_phase_allocation(queue, running, 150, knapsack=partial(two_phase, weight="printed")).result
    assert own.objective == other.objective
    assert unwrap(printed.objective) < unwrap(own.objective)


def test_a_queued_job_without_a_time_is_refused() -> None:
    """The queue is ordered by running time; a job that has only values is refused by name."""
    unknown = ElasticJob(name="u", min_workers=1, max_workers=2, values=(3,))
    with pytest.raises(InvalidInput, match="queued job 'u': must have time_at_min or remaining_work"):
        two_phase_allocation([unknown], [], 4)


def test_a_capacity_too_large_for_a_table_is_refused() -> None:
    """The programme is pseudo-polynomial: a table that memory cannot hold is refused."""
    jobs = tuple(
        ElasticJob(name=str(n), min_workers=1, max_workers=2, gpus_per_worker=1_000, time_at_min=1)
        for n in range(1_000)
    )
    with pytest.raises(Unsupported, match="too large"):
        two_phase(Allocation(capacity=1_000_000, jobs=jobs))


def test_a_capacity_that_nobody_can_use_is_no_table() -> None:
    """A hundred million GPUs for two jobs of three extra workers need a table of six GPUs."""
    jobs = tuple(ElasticJob(name=name, min_workers=1, max_workers=4, time_at_min=12) for name in "ab")
    solution = solved(two_phase(Allocation(capacity=100_000_000, jobs=jobs)))
    assert dict(solution.extra) == {"a": 3, "b": 3}
