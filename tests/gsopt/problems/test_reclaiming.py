"""The judge of reclaiming, against values worked out by hand and an evaluation of its own."""

import random
from fractions import Fraction
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution, Server
from gsopt.testing import brute_force, check_judge
from tests.effort import cases
from tests.strategies.reclaiming import reclaiming_problems

SERVERS = [Server(name=f"s{i}", gpus=8) for i in range(1, 7)]
FIGURE_5 = [
    Job(name="a", workers={"s1": 4, "s2": 4}),
    Job(name="b", workers={"s3": 8}),
    Job(name="c", workers={"s4": 4, "s5": 1}),
    Job(name="d", workers={"s5": 1, "s6": 4}),
]


def figure_5(demand: int) -> Reclaiming:
    """Return the paper's example with another demand."""
    return Reclaiming(demand=demand, servers=SERVERS, jobs=FIGURE_5)


def pick(*names: str) -> ReclaimingSolution:
    """Return a solution by server names."""
    return ReclaimingSolution(servers=names)


def test_figure_5_trade_off_curve() -> None:
    """The fewest preemptions for 0 to 6 returned servers of Aryl's Figure 5 are 0,1,1,2,3,3,4."""
    curve = [brute_force(figure_5(demand)) for demand in range(7)]
    assert [best[0] for best in curve if best] == [0, 1, 1, 2, 3, 3, 4]


def test_figure_5_choices_named_in_the_text() -> None:
    """Servers 1 and 2 cost one preemption; servers 3 and 4, and servers 5 and 4, cost two."""
    assert figure_5(2).objective(pick("s1", "s2")) == 1
    assert figure_5(2).objective(pick("s3", "s4")) == 2
    assert figure_5(2).objective(pick("s5", "s4")) == 2


def test_weighted_cost_is_exact() -> None:
    """Fractional costs add up without rounding and integer costs stay integers."""
    jobs = [Job(name=n, workers={"s1": 1}, cost=c) for n, c in (("a", 0.1), ("b", 0.2), ("c", 0.7))]
    problem = Reclaiming(demand=1, servers=SERVERS, jobs=jobs)
    assert problem.objective(pick("s1")) == 1
    assert problem.objective(pick("s2")) == 0


def test_tagged_flexible_workers_are_released_without_preemption() -> None:
    """A server that holds only flexible workers costs nothing; one base worker preempts the job."""
    jobs = [Job(name="a", workers={"s1": 4}, flexible={"s2": 4, "s1": 2})]
    problem = Reclaiming(demand=1, servers=SERVERS[:2], jobs=jobs)
    assert (problem.objective(pick("s2")), problem.objective(pick("s1"))) == (0, 1)
    assert problem.measures(pick("s2"))["released_gpus"] == 4
    assert problem.measures(pick("s1")) == {"preemptions": 1, "collateral_gpus": 4, "released_gpus": 0}


def test_fungible_job_survives_while_it_keeps_its_base() -> None:
    """With fungible workers a job is preempted only when it loses more GPUs than it had flexible."""
    jobs = [Job(name="a", workers={"s1": 4}, flexible={"s2": 4, "s3": 1})]
    problem = Reclaiming(demand=1, servers=SERVERS[:3], jobs=jobs, elasticity="fungible")
    assert problem.objective(pick("s1")) == 0
    two = problem.model_copy(update={"demand": 2})
    assert two.objective(pick("s1", "s3")) == 0
    assert two.objective(pick("s1", "s2")) == 1


def test_collateral_breaks_ties() -> None:
    """Between equal preemptions the choice that kills fewer GPUs elsewhere is better."""
    jobs = [Job(name="a", workers={"s1": 4, "s2": 4}), Job(name="b", workers={"s3": 8})]
    problem = Reclaiming(demand=1, servers=SERVERS[:3], jobs=jobs, second_objective="collateral")
    assert problem.objective(pick("s3")) == 17
    assert problem.objective(pick("s1")) == 17 + 4


@pytest.mark.parametrize(
    ("solution", "rule"),
    [
        (pick("s1"), "1 are returned, the demand is 2"),
        (pick("s1", "s2", "s3"), "3 are returned, the demand is 2"),
        (pick("s1", "s1"), "is returned 2 times"),
        (pick("s1", "s9"), "is not a server of the instance"),
        (pick("s1", ""), "is not a server of the instance"),
    ],
)
def test_violations_name_the_rule(solution: ReclaimingSolution, rule: str) -> None:
    """Each broken rule is reported by a sentence that says what is wrong."""
    assert rule in " ".join(figure_5(2).violations(solution))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"demand": 7}, "at most the 6 servers"),
        ({"demand": -1}, "greater than or equal to 0"),
        ({"demand": True}, "valid integer"),
        ({"demand": 2.0}, "valid integer"),
        ({"servers": []}, "at least 1 item"),
        ({"servers": [*SERVERS, SERVERS[0]]}, "differ from every other name"),
        ({"jobs": [*FIGURE_5, FIGURE_5[0]]}, "differ from every other name"),
        ({"jobs": [Job(name="x", workers={"s9": 1})]}, "must name one of the servers"),
        ({"jobs": [Job(name="x", workers={"s1": 9})]}, "at least the 9 GPUs"),
        ({"jobs": [Job(name="x", workers={"s1": 8}, flexible={"s1": 1})]}, "at least the 9 GPUs"),
        ({"colour": "red"}, "not permitted"),
    ],
)
def test_bad_data_are_refused(change: dict[str, object], rule: str) -> None:
    """A problem that breaks a rule cannot be made, and the message says which."""
    data: dict[str, object] = {"demand": 2, "servers": SERVERS, "jobs": FIGURE_5}
    with pytest.raises(ValidationError, match=rule):
        Reclaiming(**(data | change))  # type: ignore[arg-type]


def test_collateral_needs_integer_costs() -> None:
    """The lexicographic objective refuses costs that are no integers."""
    jobs = [Job(name="x", workers={"s1": 1}, cost=0.5)]
    with pytest.raises(ValidationError, match="must be an integer"):
        Reclaiming(demand=1, servers=SERVERS, jobs=jobs, second_objective="collateral")


def random_problem(seed: int) -> Reclaiming:
    """Draw a small problem of any variant."""
    draw = random.Random(seed)
    servers = [f"s{i}" for i in range(draw.randint(2, 7))]
    free = dict.fromkeys(servers, 8)
    jobs = []
    for index in range(draw.randint(0, 6)):
        groups: list[dict[str, int]] = [{}, {}]
        for group, size in zip(groups, (draw.randint(1, 3), draw.randint(0, 2)), strict=True):
            for name in draw.sample(servers, min(size, len(servers))):
                gpus = draw.randint(1, 3)
                if free[name] >= gpus:
                    free[name] -= gpus
                    group[name] = gpus
        if groups[0]:
            cost = draw.choice([1, 1, 2, 5])
            jobs.append(Job(name=f"j{index}", workers=groups[0], flexible=groups[1], cost=cost))
    return Reclaiming(
        demand=draw.randint(0, len(servers)),
        servers=[Server(name=name, gpus=8) for name in servers],
        jobs=jobs,
        elasticity=draw.choice(["tagged", "fungible"]),
        second_objective=draw.choice(["none", "collateral"]),
    )


def test_ten_thousand_random_checks_agree_with_a_second_evaluation() -> None:
    """On 10,000 random solutions, half of them broken, the judge accepts and scores like a naive evaluation."""
    draw = random.Random(0)
    accepted = 0
    for seed in range(500):
        problem = random_problem(seed)
        names = [server.name for server in problem.servers]
        for _ in range(20):
            count = problem.demand if draw.random() < 0.6 else draw.randint(0, len(names))
            servers = tuple(draw.choice([*names, "ghost"]) if draw.random() < 0.3 else name for name in names)
            solution = ReclaimingSolution(servers=servers[:count])
            valid = (
                len(solution.servers) == problem.demand
                and len(set(solution.servers)) == problem.demand
                and set(solution.servers) <= set(names)
            )
            assert valid == (not problem.violations(solution))
            if valid:
                accepted += 1
                assert problem.objective(solution) == naive_objective(problem, set(solution.servers))
    assert accepted > 2000


def naive_objective(problem: Reclaiming, returned: set[str]) -> int:
    """Evaluate a solution from the definition, one GPU table at a time."""
    cost = collateral = in_use = 0
    for job in problem.jobs:
        table = {s.name: job.workers.get(s.name, 0) + job.flexible.get(s.name, 0) for s in problem.servers}
        in_use += sum(table.values())
        lost = sum(gpus for name, gpus in table.items() if name in returned)
        if problem.elasticity == "fungible":
            dead = sum(table.values()) - lost < sum(job.workers.values())
        else:
            dead = any(name in returned for name in job.workers)
        if dead:
            cost += int(job.cost)
            collateral += sum(table.values()) - lost
    return cost if problem.second_objective == "none" else cost * (1 + in_use) + collateral


def test_mutated_solutions_are_caught() -> None:
    """At least 99 % of solutions with a server dropped, doubled, swapped or added are refused."""
    caught = tried = 0
    for seed in range(200):
        problem = random_problem(seed)
        names = [server.name for server in problem.servers]
        good = tuple(names[: problem.demand])
        spare = names[problem.demand :]
        mutants = [(*good, "ghost"), (*good, *good[:1], *spare[:1])]
        mutants += [(*good[:i], *good[i + 1 :]) for i in range(len(good))]
        mutants += [(*good[:i], "ghost", *good[i + 1 :]) for i in range(len(good))]
        mutants += [(*good[:i], good[i - 1], *good[i + 1 :]) for i in range(len(good)) if len(good) > 1]
        mutants = [mutant for mutant in mutants if mutant != good]
        found, all_of_them = check_judge(problem, pick(*good), [pick(*mutant) for mutant in mutants])
        caught, tried = caught + found, tried + all_of_them
    assert tried > 1000
    assert caught / tried >= 0.99


@given(st.integers(0, 10_000))
@settings(max_examples=cases(60), deadline=None)
def test_candidates_are_all_choices(seed: int) -> None:
    """Enumeration yields every choice of `demand` servers once, and nothing else."""
    problem = random_problem(seed)
    names = [server.name for server in problem.servers]
    assert [c.servers for c in problem.candidates()] == list(combinations(names, problem.demand))


@settings(deadline=None, max_examples=cases(100))
@given(reclaiming_problems())
def test_every_value_is_a_whole_multiple_of_the_step(problem: Reclaiming) -> None:
    """Whatever the costs, the step divides the value of every choice exactly."""
    step = problem.step
    for choice in problem.candidates():
        value = Fraction(problem.objective(choice))

        assert value == 0 if step is None else (value / step).denominator == 1


@pytest.mark.parametrize(
    ("costs", "second_objective", "step"),
    [
        ((1.1, 1e6), "none", Fraction(1, 10)),
        ((63.0, 126.0), "none", 63),
        ((0.0,), "none", None),  # every value is 0
        ((6.0, 9.0), "collateral", 1),  # GPUs count one by one
    ],
)
def test_the_step_is_that_of_the_costs_as_written(
    costs: tuple[float, ...], second_objective: str, step: Fraction | None
) -> None:
    """The step is the greatest common divisor of decimal costs, and 1 where collateral damage counts too."""
    jobs = tuple(Job(name=f"j{number}", workers={"s1": 1}, cost=cost) for number, cost in enumerate(costs))
    problem = Reclaiming(demand=1, servers=SERVERS, jobs=jobs)

    assert step == problem.model_copy(update={"second_objective": second_objective}).step


def test_the_graph_of_figure_5() -> None:
    """Servers and jobs are joined where a job has workers; three components can be decided apart."""
    graph = figure_5(2).graph(pick("s1", "s2"))
    assert nx.is_bipartite(graph)
    parts = [sorted(name for _, name in nodes) for nodes in nx.connected_components(graph)]
    assert parts == [["a", "s1", "s2"], ["b", "s3"], ["c", "d", "s4", "s5", "s6"]]
    assert {data["component"] for (_, name), data in graph.nodes(data=True) if name in {"c", "s6"}} == {2}
    assert [name for (_, name), data in graph.nodes(data=True) if data.get("preempted")] == ["a"]
    assert [name for (_, name), data in graph.nodes(data=True) if data.get("returned")] == ["s1", "s2"]
    assert graph.edges[("job", "c"), ("server", "s4")]["gpus"] == 4


@given(reclaiming_problems(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=cases(40))
def test_the_graph_tells_what_the_judge_does(problem: Reclaiming, random: random.Random) -> None:
    """GPUs on its edges are those in use, and a tagged job is preempted with a server of its base workers."""
    names = [server.name for server in problem.servers]
    solution = pick(*random.sample(names, problem.demand))
    graph = problem.graph(solution)
    for name in names:
        edges = graph.edges(("server", name), data=True)
        assert sum(data["gpus"] + data["flexible"] for *_, data in edges) == problem.used_gpus[name]
    lost = {job.name for job in problem.preempted(solution)}
    jobs = [node for node, kind in graph.nodes(data="kind") if kind == "job"]
    assert {name for _, name in jobs if graph.nodes["job", name]["preempted"]} == lost
    if problem.elasticity == "tagged":
        hit = {
            name
            for kind, name in jobs
            for (_, server), data in graph[kind, name].items()
            if server in solution.servers and data["gpus"]
        }
        assert hit == lost
