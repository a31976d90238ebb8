"""FGD and its baselines, replayed worker by worker with scores written out from the paper in fractions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count
from random import Random
from typing import Any

import pytest

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, TimeUp
from gsopt.core.result import Status
from gsopt.problems.placement import Placement, PlacementSolution, Resources, Server, Workers
from heuristics.placement import (
    best_fit,
    dot_product,
    fgd,
    first_fit,
    gpu_clustering,
    gpu_packing,
    random_fit,
    worst_fit,
)
from tests.effort import cases
from tests.strategies.placement import committed
from tests.unwrap import unwrap


@dataclass
class Host:
    """A server with what is left: CPUs, memory, and thousandths of every GPU, those of free ones last."""

    gpus: int
    cpu: int
    memory: int
    left: list[int]
    kind: str
    tags: set[str]


def drawn(seed: int) -> Placement:
    """Draw up to six servers of three GPUs and up to 25 workers in random order, more than fit."""
    random = Random(seed)
    servers = [
        Server(
            name=f"s{index}",
            capacity=Resources(gpu=random.choice((1, 2, 4)), cpu=random.choice((6, 12)), memory=20),
            gpu_type=random.choice("AB"),
            shared=random.choices((100, 450), k=1) if random.random() < 0.3 else (),
        )
        for index in range(random.randint(1, 6))
    ]
    lines = []
    for index in range(random.randint(1, 25)):
        part = random.choice((0, 0, 100, 450, 500, 501, 800))
        gpus = 0 if part else random.choice((0, 1, 1, 2))
        lines.append(
            Workers(
                job=f"j{index}",
                demand=Resources(gpu=gpus, cpu=random.randint(1, 4), memory=random.randint(0, 3)),
                gpu_part=part,
                gpu_types=random.choice(((), (), ("A",))),
            )
        )
    return Placement(minimize="unallocated", servers=servers, workers=lines)


def hosts_of(problem: Placement) -> list[Host]:
    """Return the servers before any worker is placed."""
    return [
        Host(
            server.capacity.gpu,
            server.capacity.cpu,
            server.capacity.memory,
            [1000 - part for part in server.shared] + [1000] * (server.capacity.gpu - len(server.shared)),
            server.gpu_type,
            {"part"} if server.shared else set(),
        )
        for server in problem.servers
    ]


def options_of(host: Host, line: Workers) -> Iterator[list[int]]:
    """Yield the ways to serve a worker on a server: what would be left of each GPU."""
    if (line.gpu_types and host.kind not in line.gpu_types) or line.demand.cpu > host.cpu:
        return
    if line.demand.memory > host.memory:
        return
    if line.gpu_part:
        for gpu, left in enumerate(host.left):
            if left >= line.gpu_part:
                yield [*host.left[:gpu], left - line.gpu_part, *host.left[gpu + 1 :]]
        return
    whole = [gpu for gpu, left in enumerate(host.left) if left == 1000][: line.demand.gpu]
    if len(whole) == line.demand.gpu:
        yield [0 if gpu in whole else left for gpu, left in enumerate(host.left)]


def fragmentation(problem: Placement, host: Host, cpu: int, left: list[int]) -> Fraction:
    """Return the thousandths that a worker drawn from the problem cannot use on a server: paper, section 4."""
    total = Fraction(0)
    for line in problem.workers:
        size = line.gpu_part or 1000
        enough = sum(part >= size for part in left) >= (line.demand.gpu or 1)
        suits = not line.gpu_types or host.kind in line.gpu_types
        asks = bool(line.gpu_part or line.demand.gpu)
        if not asks or not enough or not suits or line.demand.cpu > cpu:
            total += sum(left)
        else:
            total += sum(part for part in left if part < size)
    return total / len(problem.workers)


Scorer = Callable[[Placement, Host, Workers, list[int]], Any]


def growth(problem: Placement, host: Host, line: Workers, left: list[int]) -> Fraction:
    """Score as FGD does."""
    before = fragmentation(problem, host, host.cpu, host.left)
    return fragmentation(problem, host, host.cpu - line.demand.cpu, left) - before


def rest(problem: Placement, host: Host, line: Workers, left: list[int]) -> Fraction:
    """Score as best fit does."""
    gpus = max(server.capacity.gpu for server in problem.servers)
    cpus = max(server.capacity.cpu for server in problem.servers)
    return (Fraction(sum(left), 1000 * gpus) + Fraction(host.cpu - line.demand.cpu, cpus)) / 2


def product(problem: Placement, host: Host, line: Workers, left: list[int]) -> Fraction:
    """Score as the dot product does."""
    del left
    gpus = max(server.capacity.gpu for server in problem.servers)
    cpus = max(server.capacity.cpu for server in problem.servers)
    return Fraction(sum(host.left) * line.thousandths, (1000 * gpus) ** 2) + Fraction(
        host.cpu * line.demand.cpu, cpus**2
    )


def packed(problem: Placement, host: Host, line: Workers, left: list[int]) -> tuple[int, int]:
    """Score as GPU packing does: GPUs in use, free GPUs of servers in use, idle servers."""
    del problem, left
    if not line.thousandths:
        return 0, 0
    tightest = min((part for part in host.left if part >= line.gpu_part and part < 1000), default=None)
    if line.gpu_part and tightest is not None:
        return 0, tightest
    return (2, host.gpus) if all(part == 1000 for part in host.left) else (1, 0)


def clustered(problem: Placement, host: Host, line: Workers, left: list[int]) -> tuple[int, int]:
    """Score as GPU clustering does: only workers alike, others too, nobody, others only."""
    del problem, left
    if not line.thousandths:
        return 0, 0
    tag = tag_of(line)
    ranks = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
    return ranks[tag in host.tags, len(host.tags - {tag}) == 0], sum(host.left)


def tag_of(line: Workers) -> str:
    """Return what workers of equal GPUs have in common."""
    return "part" if line.gpu_part else f"{line.demand.gpu}"


def nothing(problem: Placement, host: Host, line: Workers, left: list[int]) -> int:
    """Score as random fit does."""
    del problem, host, line, left
    return 0


def first(problem: Placement, host: Host, line: Workers, left: list[int]) -> int:
    """Score as first fit does: any server, the first of equals."""
    return nothing(problem, host, line, left)


def roomiest(problem: Placement, host: Host, line: Workers, left: list[int]) -> int:
    """Score as worst fit does."""
    del problem, line, left
    return -sum(host.left)


RULES: dict[str, tuple[Any, Scorer, bool]] = {
    "fgd": (fgd, growth, True),
    "best fit": (best_fit, rest, False),
    "dot product": (dot_product, product, False),
    "packing": (gpu_packing, packed, True),
    "clustering": (gpu_clustering, clustered, True),
    "random": (random_fit, nothing, False),
    "first fit": (first_fit, first, True),
    "worst fit": (worst_fit, roomiest, True),
}


@pytest.mark.parametrize(("method", "score", "exact"), RULES.values(), ids=RULES.keys())
def test_every_worker_goes_to_the_lowest_score(method: Any, score: Scorer, exact: bool) -> None:
    """Replayed in fractions, no server with room has a lower score, or an equal one earlier in order."""
    for seed in range(cases(25)):
        problem = drawn(seed)
        replay(problem, unwrap(method(problem).solution), score, exact=exact)


def replay(problem: Placement, solution: PlacementSolution, score: Scorer, *, exact: bool) -> None:
    """Check the place of each worker in turn; scores in floats may take any of nearly equal servers."""
    hosts = hosts_of(problem)
    numbers = dict(zip((server.name for server in problem.servers), count(), strict=False))
    places = {line: (numbers[server], -1) for server, line, _ in solution.placed}
    places |= {line: (numbers[server], gpu) for server, gpu, line, _ in solution.parts}
    gpu_of: list[list[int]] = [list(range(len(server.shared))) for server in problem.servers]
    for index, line in enumerate(problem.workers):
        scores = {
            number: min(score(problem, host, line, left) for left in options)
            for number, host in enumerate(hosts)
            if (options := list(options_of(host, line)))
        }
        if index not in places:
            assert not scores
            continue
        chosen, gpu = places[index]
        best = min(scores.values())
        if exact:
            assert chosen == min(number for number, value in scores.items() if value == best)
        else:
            assert scores[chosen] <= best + Fraction(1, 10**9)
        host = hosts[chosen]
        if line.gpu_part:
            if gpu == len(gpu_of[chosen]):  # the first of the free GPUs is the next one shared
                gpu_of[chosen].append(host.left.index(1000))
            position = gpu_of[chosen][gpu]
            left = [part - line.gpu_part * (at == position) for at, part in enumerate(host.left)]
            assert left in list(options_of(host, line))
            if score is growth:
                assert score(problem, host, line, left) == best
        else:
            left = next(options_of(host, line))
        host.left, host.cpu, host.memory = left, host.cpu - line.demand.cpu, host.memory - line.demand.memory
        host.tags |= {tag_of(line)} if line.thousandths else set()


def test_fgd_by_hand() -> None:
    """A part of 500 goes where another one is, as it would spoil a GPU for workers that need a whole one."""
    lines = [Workers(job=f"a{index}", demand=Resources(), gpu_part=500) for index in range(2)]
    lines.append(Workers(job="b", demand=Resources(gpu=2)))
    servers = [Server(name="s", count=2, capacity=Resources(gpu=2))]
    solution = unwrap(fgd(Placement(minimize="unallocated", servers=servers, workers=lines)).solution)

    assert [tuple(part) for part in solution.parts] == [("s[0]", 0, 0, 1), ("s[0]", 0, 1, 1)]
    assert [tuple(entry) for entry in solution.placed] == [("s[1]", 2, 1)]


ROUNDED = [
    partial(method, rounded=True) for method in (fgd, best_fit, dot_product, gpu_packing, gpu_clustering)
]


def test_rounded_scores_place_what_fits() -> None:
    """With rounded scores, too, a worker stays unplaced only if no server has room for it."""
    for seed in range(cases(10)):
        for method in ROUNDED:
            problem = drawn(seed)
            replay(problem, unwrap(method(problem).solution), nothing, exact=False)


def test_typical_workers_may_be_others() -> None:
    """Where typical workers need whole GPUs, a part goes to a GPU that is shared already."""
    servers = [
        Server(name="s", capacity=Resources(gpu=1)),
        Server(name="t", capacity=Resources(gpu=2), shared=(300,)),
    ]
    part = Workers(job="a", demand=Resources(), gpu_part=700)
    problem = Placement(minimize="unallocated", servers=servers, workers=[part])
    whole = problem.model_copy(update={"workers": (Workers(job="b", demand=Resources(gpu=1)),)})

    assert unwrap(fgd(problem, typical=whole).solution).parts[0].server == "t"
    with pytest.raises(InvalidInput, match="popular"):
        fgd(problem, popular=0.0)


def test_random_fit_depends_on_its_seed_only() -> None:
    """The same seed draws the same servers, and some other seed others."""
    problem = drawn(3)
    found = [random_fit(problem, seed=seed).solution for seed in (1, 1, 2, 3, 4)]
    assert found[0] == found[1]
    assert any(solution != found[0] for solution in found[2:])


def test_whole_jobs_choose_one_pool() -> None:
    """The first worker of a job that is not split chooses the pool of the others."""
    servers = [
        Server(name="t", capacity=Resources(gpu=1)),
        Server(name="i", count=2, pool="inference", capacity=Resources(gpu=1)),
    ]
    lines = [Workers(job="a", count=2, demand=Resources(gpu=1))]
    problem = Placement(minimize="unallocated", servers=servers, workers=lines, split_jobs=False)
    assert problem.violations(unwrap(gpu_packing(problem).solution)) == []


def test_a_deadline_keeps_what_is_placed() -> None:
    """When time is up, those placed are returned if others may stay unplaced, and nothing otherwise."""
    lines = [Workers(job="a", count=500, demand=Resources(cpu=1), gpu_part=1)]
    servers = [Server(name="s", capacity=Resources(gpu=1, cpu=1000))]
    now = Budget(time_limit=0.0)
    some = fgd(Placement(minimize="unallocated", servers=servers, workers=lines), budget=now)
    none = fgd(Placement(servers=servers, workers=lines), budget=now)

    assert some.objective is not None
    assert 500 < some.objective < 1000
    assert (none.status, none.solution) == (Status.UNKNOWN, None)
    assert TimeUp.__name__ not in none.message


def test_they_place_parts_of_the_small_suite() -> None:
    """The committed instance whose workers fill both servers is solved by GPU packing."""
    assert gpu_packing(committed("small/full-cluster")).objective is not None
