"""Pairing: the matching is the best there is, and is decided again while running jobs have GPUs left."""

from itertools import permutations
from random import Random

import pytest
from networkx import Graph, max_weight_matching

from gsopt.job import Job
from gsopt.simulation import Decider, State, simulate
from gsopt.simulation.deciders import Match, Pairing
from gsopt.simulation.deciders.pairing import best_pairs
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import machine


def _drawn(random: Random, jobs: int, partners: int) -> dict[int, dict[int, int]]:
    values = {
        job: {partner: random.randint(1, 20) for partner in range(partners) if random.random() < 0.6}
        for job in range(100, 100 + jobs)
    }
    return {job: own for job, own in values.items() if own}


def test_best_pairs_are_best() -> None:
    """The sum is that of enumeration, and that of networkx where there are too many for this."""
    random = Random(5)
    for _ in range(100):
        values = _drawn(random, random.randint(1, 4), random.randint(1, 4))
        nobody = [None] * len(values)
        most = max(
            sum(own.get(partner, 0) for own, partner in zip(values.values(), order, strict=False))
            for order in permutations([*range(4), *nobody], len(values))
        )
        assert _sum(values, best_pairs(values)) == most
    for _ in range(10):
        values = _drawn(random, 20, 15)
        graph = Graph()
        for job, own in values.items():
            graph.add_weighted_edges_from((job, partner, value) for partner, value in own.items())
        matched = (sorted(pair) for pair in max_weight_matching(graph))
        assert _sum(values, best_pairs(values)) == sum(values[job][partner] for partner, job in matched)


def _sum(values: dict[int, dict[int, int]], chosen: dict[int, int]) -> int:
    assert len(set(chosen.values())) == len(chosen)
    return sum(values[job][partner] for job, partner in chosen.items())


@pytest.mark.parametrize("values", [{}, {3: {1: 1e-9}}, {3: {1: 1e9, 2: 1e9}}])
def test_small_cases(values: dict[int, dict[int, float]]) -> None:
    """Without pairs there is none; tiny values count, and ties go to anybody."""
    assert list(best_pairs(values)) == list(values)


def _anybody(state: State) -> Decider:
    return Pairing(state, key=lambda job: job, judge=lambda *_pair: Match(-1))


def test_a_running_job_is_matched_until_it_has_no_gpus_left() -> None:
    """Three jobs of one GPU join one on three, a fourth waits, and one of two GPUs never shares one only."""
    jobs = [Job(name="wide", release_date=0, duration=4, gpus=3)]
    jobs += [Job(name=f"j{i}", release_date=1, duration=9, gpus=1) for i in range(4)]
    run = simulate(bundle(jobs), _anybody, cluster=machine(3), share_limit=2)
    assert run.start_times == (0, 1, 1, 1, 4)
    pair = Job(name="pair", release_date=2, duration=9, gpus=2)
    run = simulate(bundle([*jobs[:3], pair]), _anybody, cluster=machine(3), share_limit=2)
    assert run.start_times == (0, 1, 1, 10)


def test_free_gpus_come_first() -> None:
    """A job that fits on free GPUs takes them in its turn, whatever a pair would be worth."""
    jobs = [Job(name=f"j{i}", release_date=i, duration=9, gpus=1) for i in range(3)]
    run = simulate(bundle(jobs), _anybody, cluster=machine(2), share_limit=2, record=True)
    assert run.schedule is not None
    assert [each.placement for each in run.schedule.segments] == [(0,), (1,), (0,)]
