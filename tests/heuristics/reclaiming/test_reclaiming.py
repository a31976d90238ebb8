"""The parts of the reclaiming heuristics, and those beside Algorithm 1."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heuristics.reclaiming
from gsopt.core.errors import InvalidInput, InvalidSolution
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution
from gsopt.testing import brute_force
from heuristics.reclaiming import (
    greedy,
    largest_job_first,
    random_choice,
    reverse_delete,
    smallest_count_first,
    smallest_job_first,
    static_cost,
)
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.kill_order import vacated_in_order
from heuristics.reclaiming.preemption_cost import (
    Definition,
    number_of_jobs,
    preemption_costs,
)
from heuristics.reclaiming.reverse_delete import improve
from heuristics.reclaiming.selection import cheapest_at_first, cheapest_first
from tests.effort import cases
from tests.heuristics.reclaiming.builders import problem_of
from tests.heuristics.results import solved
from tests.strategies.reclaiming import figure_5, reclaiming_problems

#: Aryl, Table 1: its three columns for servers 1 to 6.
TABLE_1: dict[Definition, list[str]] = {
    "number_of_jobs": ["1", "1", "1", "1", "2", "1"],
    "gpu_fraction": ["0.5", "0.5", "1", "0.8", "0.4", "0.8"],
    "server_fraction": ["0.5", "0.5", "1", "0.5", "1", "0.5"],
}


@pytest.mark.parametrize("definition", TABLE_1)
def test_every_column_of_table_1_is_reproduced(definition: Definition) -> None:
    """The costs of Figure 5 are those of Aryl's Table 1, exactly."""
    expected = [Fraction(text) for text in TABLE_1[definition]]

    assert expected == list(preemption_costs(figure_5(), definition).values())
    assert preemption_costs(figure_5()) == preemption_costs(figure_5(), "server_fraction")  # the paper's choice


@pytest.mark.parametrize("definition", TABLE_1)
def test_an_unknown_definition_is_refused(definition: Definition) -> None:
    """A word that is no definition raises, and the message lists those there are."""
    with pytest.raises(InvalidInput, match=f"definition: 'price': must be one of .*{definition}"):
        preemption_costs(figure_5(), "price")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_fractions_of_a_job_add_up_to_its_cost(problem: Reclaiming) -> None:
    """By both definitions with fractions the costs of all servers add up to the costs of all jobs."""
    expected = sum((Fraction(decimal(job.cost)) for job in problem.jobs), Fraction(0))

    assert expected == sum(preemption_costs(problem, "server_fraction").values())
    assert expected == sum(preemption_costs(problem, "gpu_fraction").values())


both = pytest.mark.parametrize("select", [cheapest_first, cheapest_at_first])


def test_a_free_job_does_not_make_a_server_come_twice() -> None:
    """A job of cost 0 changes no cost when it goes, and each of its servers is still taken once."""
    problem = problem_of(Job(name="a", workers={"s1": 1, "s2": 1, "s3": 1}, cost=0.0), demand=3)
    hosting = Hosting.of(problem)

    for tie in ("index", "fewest_jobs", "most_jobs"):
        taken = cheapest_first(hosting, number_of_jobs(hosting), 3, tie=tie, seed=0)
        assert sorted(taken) == [0, 1, 2]


@both
@pytest.mark.parametrize(
    ("tie", "expected"),
    [
        ("index", 0),  # the first of the three
        ("fewest_jobs", 2),  # one job of cost 2
        ("most_jobs", 1),  # two jobs of cost 1 and one of cost 0
    ],
)
def test_ties_are_broken_as_told(select: Callable[..., list[int]], tie: str, expected: int) -> None:
    """Of three servers of equal cost the one is taken that the tie-break asks for."""
    problem = problem_of(
        Job(name="a", workers={"s1": 1}),
        Job(name="b", workers={"s1": 1}),
        Job(name="c", workers={"s2": 1}),
        Job(name="d", workers={"s2": 1}),
        Job(name="e", workers={"s2": 1}, cost=0.0),
        Job(name="f", workers={"s3": 1}, cost=2.0),
        demand=1,
    )
    hosting = Hosting.of(problem)

    assert select(hosting, number_of_jobs(hosting), 1, tie=tie, seed=0) == [expected]


A, B, C, D = range(4)


@pytest.mark.parametrize(
    ("jobs", "demand", "expected"),
    [
        ([A, B, C, D], 0, []),  # nothing demanded
        ([A, B, C, D], 1, [0]),  # job a vacates servers 1 and 2, one is enough
        ([C, D, A, B], 3, [3, 4, 5]),  # job d vacates servers 5 and 6
        ([C, A, D, B], 4, [3, 0, 1, 4]),  # server 5 waits for both of its jobs
        ([B, A, D, C], 6, [2, 0, 1, 5, 3, 4]),  # all servers
    ],
)
def test_servers_come_in_the_order_vacated(jobs: list[int], demand: int, expected: list[int]) -> None:
    """Servers of Figure 5 are kept as the jobs on them go, in the order of the instance within one job."""
    assert expected == vacated_in_order(Hosting.of(figure_5()), jobs, demand)


def test_servers_of_one_job_come_in_the_order_of_the_instance() -> None:
    """The order in which a job lists its servers plays no part."""
    problem = problem_of(Job(name="a", workers={"s2": 8, "s1": 8}), demand=2)

    assert vacated_in_order(Hosting.of(problem), [A], 2) == [0, 1]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems(), data=st.data())
def test_a_job_that_need_not_go_is_spared(problem: Reclaiming, data: st.DataObject) -> None:
    """Servers are vacated by the shortest beginning of the order that vacates enough of them."""
    hosting = Hosting.of(problem)
    order = data.draw(st.permutations(range(len(problem.jobs))))
    kept = vacated_in_order(hosting, order, problem.demand)
    gone = {job for server in kept for job in hosting.jobs_of[server]}
    needed = next(
        length
        for length in range(len(order) + 1)
        if sum(set(jobs) <= set(order[:length]) for jobs in hosting.jobs_of) >= problem.demand
    )

    assert len(set(kept)) == problem.demand
    assert gone <= set(order[:needed])


def test_the_largest_job_goes_first() -> None:
    """The job with the most base GPUs is preempted before smaller ones, whatever its cost or span."""
    problem = problem_of(
        Job(name="many servers", workers={"s1": 2, "s2": 2}),
        Job(name="many flexible", workers={"s3": 1}, flexible={"s3": 6}),
        Job(name="most GPUs", workers={"s4": 7}, cost=5.0),
        demand=1,
    )
    solution = solved(largest_job_first(problem))

    assert solution.servers == ("s4",)


def test_a_job_killed_in_vain_is_spared() -> None:
    """The largest job shares its servers with small ones, so only the second one's server is returned."""
    problem = problem_of(
        Job(name="largest", workers={"s1": 7, "s2": 7}),
        Job(name="second", workers={"s3": 6}),
        Job(name="small", workers={"s1": 1, "s2": 1}),
        demand=1,
    )
    result = largest_job_first(problem)

    assert result.solution is not None
    assert result.solution.servers == ("s3",)
    assert result.objective == 1


def test_the_smallest_job_goes_first() -> None:
    """The job with the fewest base GPUs is preempted before larger ones, whatever its cost."""
    problem = problem_of(
        Job(name="large", workers={"s1": 2}),
        Job(name="small", workers={"s2": 1}, flexible={"s2": 4}, cost=5.0),
        demand=1,
    )
    solution = solved(smallest_job_first(problem))

    assert solution.servers == ("s2",)


def test_every_server_is_drawn_about_equally_often() -> None:
    """Over many seeds each of the six servers of Figure 5 is returned in about a third of the draws."""
    drawn: Counter[str] = Counter()
    for seed in range(600):
        solution = solved(random_choice(figure_5(), seed=seed))
        drawn.update(solution.servers)

    assert set(drawn) == {"s1", "s2", "s3", "s4", "s5", "s6"}
    assert all(150 <= count <= 250 for count in drawn.values())


def test_the_seed_decides() -> None:
    """One seed always draws the same servers, and several seeds do not."""
    draws = [random_choice(figure_5(), seed=seed).solution for seed in range(10)]

    assert draws == [random_choice(figure_5(), seed=seed).solution for seed in range(10)]
    assert any(draw != draws[0] for draw in draws)


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_no_server_left_out_hosts_fewer_jobs(problem: Reclaiming) -> None:
    """Without updates the servers with the smallest counts at the start are returned, in that order."""
    counts = {
        server.name: sum(server.name in job.workers for job in problem.jobs) for server in problem.servers
    }
    solution = solved(smallest_count_first(problem))

    assert sorted(counts.values())[: problem.demand] == [counts[name] for name in solution.servers]


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_updated_counts_leave_out_preempted_jobs(problem: Reclaiming) -> None:
    """With updates every server hosts the smallest number of jobs still running at the time it is taken."""
    solution = smallest_count_first(problem, dynamic=True).solution
    running = list(problem.jobs)
    left = [server.name for server in problem.servers]

    assert solution is not None
    for taken in solution.servers:
        counts = {name: sum(name in job.workers for job in running) for name in left}
        assert counts[taken] == min(counts.values())
        left.remove(taken)
        running = [job for job in running if taken not in job.workers]


@pytest.mark.parametrize("dynamic", [False, True])
def test_ties_decide_the_example_of_figure_5(dynamic: bool) -> None:
    """In Figure 5 two servers of equal counts cost one preemption or two, depending on ties."""
    outcomes = {
        smallest_count_first(figure_5(), dynamic=dynamic, tie="random", seed=seed).objective
        for seed in range(20)
    }

    assert outcomes == {1, 2}
    assert smallest_count_first(figure_5(), dynamic=dynamic).objective == 1


@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_no_server_left_out_costs_less(problem: Reclaiming) -> None:
    """The servers with the lowest costs at the start are returned, in order of their costs."""
    costs = preemption_costs(problem)
    solution = solved(static_cost(problem))

    assert sorted(costs.values())[: problem.demand] == [costs[name] for name in solution.servers]


def test_updates_are_what_greedy_adds() -> None:
    """Once server 1 is returned server 3 is free, which static costs do not see."""
    problem = problem_of(
        Job(name="a", workers={"s1": 1, "s3": 1}),
        Job(name="b", workers={"s1": 1, "s3": 1}),
        Job(name="c", workers={"s2": 1}),
        demand=2,
    )

    assert static_cost(problem).solution == ReclaimingSolution(servers=("s1", "s2"))
    assert static_cost(problem).objective == 3
    assert greedy(problem).objective == 2


def test_ties_decide_figure_5_by_static_costs() -> None:
    """In Figure 5 two servers of equal costs cost one preemption or two, depending on ties."""
    assert {static_cost(figure_5(), tie="random", seed=seed).objective for seed in range(20)} == {1, 2}
    assert static_cost(figure_5()).objective == 1


@settings(deadline=None, max_examples=cases(150))
@given(problem=reclaiming_problems(), data=st.data())
def test_a_solution_never_gets_worse(problem: Reclaiming, data: st.DataObject) -> None:
    """Improving any feasible solution of any variant gives a feasible one that is at least as good."""
    names = [server.name for server in problem.servers]
    start = ReclaimingSolution(servers=tuple(data.draw(st.permutations(names))[: problem.demand]))
    improved = improve(problem, start)

    assert problem.violations(improved) == []
    assert problem.objective(improved) <= problem.objective(start)


@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems())
def test_it_is_at_least_as_good_as_both_of_its_starts(problem: Reclaiming) -> None:
    """Without a start the result is no worse than that of greedy and of largest job first."""
    value = reverse_delete(problem).objective
    starts = [greedy(problem).objective, largest_job_first(problem).objective]

    assert value is not None
    assert all(start is not None and value <= start for start in starts)


@settings(deadline=None, max_examples=cases(100))
@given(problem=reclaiming_problems(elasticities=("tagged",), second_objectives=("none",)), data=st.data())
def test_no_further_job_can_be_spared(problem: Reclaiming, data: st.DataObject) -> None:
    """After the step every preempted job that costs anything is needed to vacate enough servers."""
    names = [server.name for server in problem.servers]
    start = ReclaimingSolution(servers=tuple(data.draw(st.permutations(names))[: problem.demand]))
    gone = {job.name for job in problem.preempted(improve(problem, start))}
    for spared in (job.name for job in problem.jobs if job.name in gone and job.cost > 0):
        killed = gone - {spared}
        vacated = [
            name for name in names if all(job.name in killed for job in problem.jobs if name in job.workers)
        ]
        assert len(vacated) < problem.demand


def test_a_better_largest_job_first_is_taken_up() -> None:
    """Where greedy preempts two spread jobs, the one large job that frees both servers is found."""
    problem = problem_of(
        Job(name="large", workers={"s1": 8, "s2": 8}),
        Job(name="spread", workers={"s3": 1, "s4": 1, "s5": 1}),
        Job(name="also spread", workers={"s6": 1, "s7": 1, "s8": 1}),
        *(Job(name=f"only {name}", workers={name: 1}) for name in ("s4", "s5", "s7", "s8")),
        demand=2,
    )

    assert greedy(problem).objective == 2
    assert reverse_delete(problem).objective == 1


def test_a_better_greedy_is_taken_up() -> None:
    """Where the largest jobs stand together, the small job that has a server to itself is found."""
    problem = problem_of(
        Job(name="large", workers={"s1": 5}),
        Job(name="medium", workers={"s1": 3}),
        Job(name="small", workers={"s2": 2}),
        demand=1,
    )

    assert largest_job_first(problem).objective == 2
    assert reverse_delete(problem).objective == 1


def test_the_jobs_that_cost_most_per_server_are_spared() -> None:
    """Two servers need not be vacated: the two small jobs on them are spared, not the cheaper wide one."""
    problem = problem_of(
        Job(name="cheap", workers={"s1": 8, "s2": 8}),
        Job(name="small", workers={"s3": 8}, cost=2.0),
        Job(name="also small", workers={"s4": 8}, cost=2.0),
        Job(name="wide", workers={"s5": 8, "s6": 8}, cost=3.0),
        demand=4,
    )
    improved = improve(problem, ReclaimingSolution(servers=("s1", "s3", "s4", "s5")))

    assert [job.name for job in problem.preempted(improved)] == ["cheap", "wide"]


def test_the_dearer_of_two_alike_jobs_is_spared() -> None:
    """One server need not be vacated: of the two jobs that stand on one server, the dearer is spared."""
    problem = problem_of(
        Job(name="wide", workers={"s1": 8, "s2": 8}),
        Job(name="cheap", workers={"s3": 8}, cost=2.0),
        Job(name="dear", workers={"s4": 8}, cost=3.0),
        demand=3,
    )
    improved = improve(problem, ReclaimingSolution(servers=("s1", "s3", "s4")))

    assert [job.name for job in problem.preempted(improved)] == ["wide", "cheap"]


def test_the_fullest_vacated_servers_are_returned() -> None:
    """Where collateral damage counts, the server on which the preempted job has more GPUs is returned."""
    problem = problem_of(
        Job(name="a", workers={"s1": 2, "s2": 6}),
        Job(name="b", workers={"s3": 8}, cost=2.0),
        demand=1,
        second_objective="collateral",
    )

    assert improve(problem, ReclaimingSolution(servers=("s1",))).servers == ("s2",)


def test_a_solution_that_cannot_be_improved_is_returned_as_it_is() -> None:
    """The order of the servers of an optimum is left alone."""
    start = ReclaimingSolution(servers=("s2", "s1"))

    assert improve(figure_5(), start) is start


def test_an_infeasible_start_is_refused() -> None:
    """A start with too few servers raises."""
    with pytest.raises(InvalidSolution, match="1 are returned, the demand is 2"):
        reverse_delete(figure_5(), start=ReclaimingSolution(servers=("s1",)))


Method = Callable[[Reclaiming], Result[ReclaimingSolution]]

METHODS: dict[str, Callable[..., Result[ReclaimingSolution]]] = {
    "greedy": greedy,
    "greedy, random ties": partial(greedy, tie="random", seed=3),
    "greedy, fewest jobs": partial(greedy, tie="fewest_jobs"),
    "greedy, most jobs": partial(greedy, tie="most_jobs"),
    "greedy, GPU fractions": partial(greedy, cost="gpu_fraction"),
    "greedy, all servers": partial(greedy, denominator="all", single="fractions"),
    "largest job first": largest_job_first,
    "random": random_choice,
    "reverse delete": reverse_delete,
    "smallest count first": smallest_count_first,
    "smallest count first, dynamic": partial(smallest_count_first, dynamic=True),
    "smallest job first": smallest_job_first,
    "static cost": static_cost,
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@every_method
@settings(deadline=None, max_examples=cases(60))
@given(problem=reclaiming_problems())
def test_every_solution_is_feasible_and_never_beats_brute_force(method: Method, problem: Reclaiming) -> None:
    """On every variant a heuristic returns a solution that the judge accepts, no better than the best."""
    best = brute_force(problem)
    result = method(problem)

    assert best is not None
    assert result.solution is not None
    assert result.objective is not None
    assert problem.violations(result.solution) == []
    assert best[0] <= result.objective


@every_method
@settings(deadline=None, max_examples=cases(50))
@given(problem=reclaiming_problems(), data=st.data())
def test_solutions_stay_valid_when_servers_and_jobs_are_relabelled(
    method: Method, problem: Reclaiming, data: st.DataObject
) -> None:
    """New names and another order of servers and jobs may change ties but never make a solution infeasible."""
    relabelled = _relabelled(problem, data)
    result = method(relabelled)

    assert result.solution is not None
    assert relabelled.violations(result.solution) == []


@every_method
def test_a_call_is_a_function_of_its_arguments(method: Method) -> None:
    """The same call twice gives the same servers in the same order."""
    problem = figure_5(demand=3)

    assert method(problem).solution == method(problem).solution


def _relabelled(problem: Reclaiming, data: st.DataObject) -> Reclaiming:
    names = [server.name for server in problem.servers]
    new = dict(
        zip(names, data.draw(st.permutations([f"t{number}" for number in range(len(names))])), strict=True)
    )

    def renamed(item: Any) -> Any:
        return {new[name]: gpus for name, gpus in item.items()}

    jobs = [
        job.model_copy(update={"workers": renamed(job.workers), "flexible": renamed(job.flexible)})
        for job in problem.jobs
    ]
    servers = [server.model_copy(update={"name": new[server.name]}) for server in problem.servers]
    return problem.model_copy(
        update={
            "servers": tuple(data.draw(st.permutations(servers))),
            "jobs": tuple(data.draw(st.permutations(jobs))),
        }
    )


@pytest.mark.parametrize(
    "method", [smallest_count_first, partial(smallest_count_first, dynamic=True), static_cost]
)
def test_an_unknown_tie_break_is_refused(method: Callable[..., Result[ReclaimingSolution]]) -> None:
    """A word that is no tie-break raises, even if nothing is demanded."""
    with pytest.raises(InvalidInput, match="tie: 'luck': must be one of index, random, fewest_jobs, most_jobs"):
        method(figure_5(demand=0), tie="luck")


def test_the_package_names_exactly_its_methods() -> None:
    """The list of methods is what the study and the command line read, so nothing else may stand in it."""
    methods = {method.func if isinstance(method, partial) else method for method in METHODS.values()}
    assert sorted(each.__name__ for each in methods) == heuristics.reclaiming.__all__


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (largest_job_first, ("s1", "s2", "s3")),  # jobs a and b are of one size: a goes first
        (smallest_job_first, ("s4", "s5", "s6")),  # so are c and d: c goes first
    ],
)
def test_equal_jobs_go_in_the_order_of_the_instance(method: Method, expected: tuple[str, ...]) -> None:
    """Of the jobs of one size in Figure 5 the first goes first."""
    assert solved(method(figure_5(demand=3))).servers == expected
