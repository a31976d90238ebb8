"""The kernels of lists, against the schedules made without them."""

from random import Random

import numpy as np
import pytest

from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_list
from formulations.scheduling.segments import Segments
from formulations.scheduling.serving import Changes, Marks, ReplayState, replay, trace
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import elastic_jobs
from tests.strategies.scheduling import tiny

#: Loads with which a cluster is empty now and then, or never.
LOADS = (0.2, 0.6, 1.5)


def _problems() -> list[Scheduling]:
    random = [
        elastic_jobs(jobs=25, gpus=gpus, load=load, seed=seed)
        for seed, (gpus, load) in enumerate((gpus, load) for gpus in (8, 16) for load in LOADS)
    ]
    early = [
        ElasticJob(name=name, release=release, work=work, rates={2: 1.0, 3: 1.5})
        for name, release, work in (("a", 0, 1.5 + 1e-8), ("b", 1, 1))
    ]
    return [
        *random,
        Scheduling(name="early", gpus=3, jobs=early),
        *(tiny(seed, fair=seed % 2 == 0) for seed in range(20)),
    ]


def _cost(instance: Instance, segments: Segments, names: list[int]) -> float:
    completions = serve_list(instance, segments, names).completions
    late = sum(max(0.0, time - due) for time, due in zip(completions, instance.deadline, strict=True))
    return sum(completions) + segments.penalty * late


@pytest.mark.parametrize("most", [1, 4, 25])
def test_a_replay_from_a_mark_costs_what_the_whole_list_does(most: int) -> None:
    """Along a chain of moved names every cost is that of the naive schedule, however many marks there are."""
    came_back = 0
    for number, problem in enumerate(_problems()):
        instance, random = Instance.of(problem), Random(number)
        segments, jobs = Segments.of(instance), len(instance)
        start = sum(map(instance.earliest, range(jobs)))
        known, noted = (Marks.of(jobs, min(most, jobs), start) for _ in range(2))
        state, names = ReplayState.of(segments), random.sample(segments.job.tolist(), len(segments.job))
        moved, total = jobs, 0.0
        for _ in range(12):
            given = np.array(names)
            cost, after = replay(segments, given, state, known, noted, moved, total, np.inf)
            assert cost == pytest.approx(_cost(instance, segments, names), rel=1e-9), problem.name
            assert replay(segments, given, state, known, noted, moved, total, 0.999 * cost)[0] == np.inf
            _take_over(known, noted, 0 if moved == jobs else moved // known.stride, after, cost - total)
            came_back += after < len(known.there)
            place = random.randrange(len(names))
            moved, total = names.pop(place), cost
            names.insert(random.randrange(len(names) + 1), moved)
    assert came_back > 0 or most == 1


def _take_over(known: Marks, noted: Marks, mark: int, after: int, difference: float) -> None:
    width = len(known.left) // len(known.there)
    for one, other in zip(known[1:], noted[1:], strict=True):
        scale = width if len(one) > len(known.there) else 1
        one[mark * scale : after * scale] = other[mark * scale : after * scale]
    known.cost[after:] += difference


def test_a_trace_is_the_naive_schedule() -> None:
    """Completion times are those of the naive schedule to the last bit, and what changes is counted."""
    for number, problem in enumerate(_problems()):
        instance = Instance.of(problem)
        segments, state = Segments.of(instance), ReplayState.of(Segments.of(instance))
        names = Random(number).sample(segments.job.tolist(), len(segments.job))
        completions, held = np.zeros(len(instance)), state.here * 0
        size = trace(segments, np.array(names), state, held, completions, Changes.of(0))
        naive = serve_list(instance, segments, names)
        assert tuple(completions.tolist()) == naive.completions
        assert size >= len(naive.pieces)
