"""Options on the nodes."""

from formulations.goodput.case import Case, Option
from formulations.goodput.packing import NodePacking, pack
from gsopt.core.budget import Budget
from gsopt.problems.goodput import Goodput
from tests.strategies.goodput import LINEAR, job, tiny


def of(nodes: list[int], *options: Option) -> list[tuple[int, ...]]:
    """Pack options of as many jobs."""
    problem = Goodput(nodes=nodes, jobs=[job(f"j{k}", *LINEAR) for k in range(len(options))])
    return pack(Case.of(problem), options).vectors


def single(gpus: int) -> Option:
    """Return an option on one node."""
    return Option(gpus, 1, 1, 0.5)


def test_jobs_on_one_node_go_where_the_least_is_left() -> None:
    """The largest job first, and each to the fullest node that has room."""
    assert of([4, 3], single(1), single(3), single(3)) == [(1, 0), (0, 3), (3, 0)]


def test_jobs_on_several_nodes_take_the_emptiest() -> None:
    """On as few nodes as hold the GPUs, at least one on each, and none beside a part of another such job."""
    assert of([4, 4, 4], Option(6, 2, 3, 0.5)) == [(4, 2, 0)]
    assert of([4, 4, 4], Option(3, 3, 3, 0.5)) == [(1, 1, 1)]
    assert of([2, 2, 2, 2], Option(3, 2, 2, 0.5), Option(2, 2, 2, 0.5)) == [(2, 1, 0, 0), (0, 0, 1, 1)]
    assert of([2, 2, 2], Option(3, 2, 2, 0.5), Option(2, 2, 2, 0.5)) == [(2, 1, 0), (0, 0, 0)]


def test_improving_never_breaks_a_rule() -> None:
    """On random instances what is improved, and exchanged, costs no more and breaks no rule."""
    better = 0
    for seed in range(100):
        problem = tiny(seed)
        case = Case.of(problem)
        orders = [sorted(options, key=lambda option: option.cost) for options in case.options]
        packing = NodePacking(case)
        costs = [packing.cost]
        packing.improve(orders, Budget())
        costs.append(packing.cost)
        packing.exchange(range(len(orders)), orders, Budget())
        costs.append(packing.cost)
        assert costs == sorted(costs, reverse=True), seed
        assert problem.violations(case.solution(packing.vectors)) == [], seed
        better += costs[0] > costs[1]
    assert better > 10


def test_a_job_without_gpus_displaces_another_one() -> None:
    """A job that needs both GPUs moves the one that has them to the other node."""
    jobs = [job("a", [1.0, 3.0]), job("b", [0.0, 3.0])]
    case = Case.of(Goodput(nodes=[2, 1], jobs=jobs))
    orders = [sorted(options, key=lambda option: option.cost) for options in case.options]
    packing = pack(case, [case.options[0][2], case.options[1][0]])
    assert packing.vectors == [(2, 0), (0, 0)]
    packing.exchange([1], orders, Budget())
    assert packing.vectors == [(0, 1), (2, 0)]
