"""Pairing: the matching is the best there is, and is decided again while running jobs have GPUs left."""

from itertools import permutations
from random import Random

import pytest
from networkx import Graph, max_weight_matching

from gsopt.core.numbers.tolerances import SUM
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State, simulate
from gsopt.simulation.parts import Match
from heuristics.policies.castor.pairing import Pairing, best_pairs
from tests.effort import cases
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


@pytest.mark.parametrize("seed", range(cases(24)))
def test_the_ranks_of_the_pairs_have_the_least_sum(seed: int) -> None:
    """Who starts beside whom is the best of all ways in which three jobs can join three."""
    random = Random(seed)
    ranks = {(job, partner): -random.random() for job in (3, 4, 5) for partner in (0, 1, 2)}
    taken: dict[int, int] = {}

    def judge(_state: State, job: int, partner: int, gpus: tuple[int, ...]) -> Match:
        taken[gpus[0]] = partner
        return Match(ranks[job, partner])

    jobs = [Job(name=f"j{i}", release_date=i // 3, duration=99, gpus=1) for i in range(6)]
    run = simulate(
        bundle(jobs),
        lambda state: Pairing(state, key=lambda job: job, judge=judge),
        cluster=machine(3),
        share_limit=2,
        record=True,
        bound=False,
    )
    assert run.schedule is not None
    begun = {each.job: each.placement[0] for each in run.schedule.segments if each.start == 1}
    found = sum(ranks[job, taken[begun[f"j{job}"]]] for job in (3, 4, 5))
    least = min(
        sum(ranks[pair] for pair in zip((3, 4, 5), order, strict=True)) for order in permutations(range(3))
    )
    assert found == pytest.approx(least, rel=SUM)


def test_several_partners_and_free_gpus_together() -> None:
    """A job that is too wide for the free GPUs and for a partner starts on both, if it may have several."""

    def policy(state: State, *, several: bool) -> Pairing:
        return Pairing(state, key=lambda job: job, judge=lambda *_pair: Match(-1), several=several)

    jobs = [
        Job(name="a", release_date=0, duration=9, gpus=2),
        Job(name="b", release_date=1, duration=9, gpus=4),
    ]
    starts = [
        simulate(bundle(jobs), policy, cluster=machine(4), share_limit=2, several=several).start_times
        for several in (False, True)
    ]
    assert starts == [(0, 9), (0, 1)]


def test_free_gpus_come_first() -> None:
    """A job that fits on free GPUs takes them in its turn, whatever a pair would be worth."""
    jobs = [Job(name=f"j{i}", release_date=i, duration=9, gpus=1) for i in range(3)]
    run = simulate(bundle(jobs), _anybody, cluster=machine(2), share_limit=2, record=True)
    assert run.schedule is not None
    assert [each.placement for each in run.schedule.segments] == [(0,), (1,), (0,)]
