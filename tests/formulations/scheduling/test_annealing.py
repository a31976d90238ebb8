"""Annealing of lists: deterministic in its steps, compiled or not, and interruptible."""

import sys
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np
import pytest

import formulations.scheduling
from formulations.scheduling.annealing import Annealing, timetable
from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_list
from formulations.scheduling.moving import anneal
from formulations.scheduling.segments import Segments
from gsopt.core.budget import Budget
from gsopt.core.numbers import compiled
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.scheduling import elastic_jobs
from tests.strategies.scheduling import tiny

#: Modules of the kernels, and the one that uses them.
KERNELS = ("serving", "moving", "annealing")


def test_it_comes_close_to_what_is_proven() -> None:
    """Of 20 jobs on 8 GPUs a few thousand steps find the optimum, which the relaxations prove."""
    instance = Instance.of(elastic_jobs(jobs=20, gpus=8, load=1.2, seed=0))
    search = Annealing(instance)
    first = search.cost
    search.improve(20_000)

    assert instance.mean_jct(search.cost) == pytest.approx(5785.98, abs=0.01)
    assert search.cost < first


def test_the_cost_is_that_of_the_best_list() -> None:
    """Cost, timetable and the naive schedule of the best list agree on fifty instances."""
    for seed in range(50):
        load = (0.3, 1.5)[seed % 2]
        problem = tiny(seed) if seed % 5 else elastic_jobs(jobs=30, gpus=8, load=load, seed=seed)
        instance = Instance.of(problem)
        search = Annealing(instance, seed=seed)
        search.improve(200)
        naive = serve_list(instance, Segments.of(instance), search.names.tolist())
        assert search.cost == pytest.approx(naive.total, rel=1e-9)
        assert search.timetable == naive
        assert problem.violations(search.timetable.solution) == []


def test_without_a_compiler_all_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same functions, not compiled, take the same steps to the last bit, deadlines included."""
    pytest.importorskip("numba")
    problems = [elastic_jobs(jobs=12, gpus=8, load=1.2, seed=4), tiny(2, fair=True), tiny(8, fair=True)]
    found = [_annealed(Annealing, problem) for problem in problems]

    monkeypatch.setattr(compiled, "find_spec", lambda _: None)
    for name in KERNELS:
        monkeypatch.setattr(formulations.scheduling, name, getattr(formulations.scheduling, name))
        monkeypatch.delitem(sys.modules, f"formulations.scheduling.{name}")
    plain = import_module("formulations.scheduling.annealing").Annealing
    assert plain is not Annealing
    assert [_annealed(plain, problem) for problem in problems] == found


def _annealed(kind: type[Annealing], problem: Scheduling) -> tuple[float, list[int]]:
    search = kind(Instance.of(problem))
    search.improve(150)
    return search.cost, search.names.tolist()


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are the same in chunks of any size."""
    problem = elastic_jobs(jobs=15, gpus=8, load=1.2, seed=4)
    found = _annealed(Annealing, problem)
    monkeypatch.setattr("formulations.scheduling.annealing._GROWTH", 1)

    assert _annealed(Annealing, problem) == found


def test_it_cools_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """From chunk to chunk and step to step the temperature falls, in the end to a hundredth of the first."""
    module = import_module("formulations.scheduling.annealing")
    heats: list[float] = []

    def watched(*arguments: Any) -> Any:
        heats.extend(arguments[8].tolist())
        return anneal(*arguments)

    monkeypatch.setattr(module, "anneal", watched)
    Annealing(Instance.of(elastic_jobs(jobs=15, gpus=8, load=1.2, seed=4))).improve(400)
    assert len(heats) == 400
    assert heats == sorted(heats, reverse=True)
    assert heats[-1] == pytest.approx(0.01 * heats[0], rel=0.02)


def test_another_seed_goes_another_way() -> None:
    """Equal seeds give equal lists, others do not."""
    instance = Instance.of(elastic_jobs(jobs=15, gpus=8, load=1.2, seed=4))
    searches = [Annealing(instance, seed=seed) for seed in (0, 0, 1)]
    for search in searches:
        search.improve(100)
    one, same, other = (search.names.tolist() for search in searches)

    assert one == same != other


def test_it_ends_where_the_time_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is looked at after every chunk; what was found until then is the answer."""
    asked = count()
    monkeypatch.setattr(Budget, "passed", property(lambda _: next(asked) >= 3))
    instance = Instance.of(elastic_jobs(jobs=15, gpus=8, load=1.2, seed=4))
    search = Annealing(instance)
    first = search.cost
    search.improve(10**9, Budget())

    assert next(asked) == 4
    assert search.cost <= first


def test_who_is_told_may_end_it() -> None:
    """Somebody hears of lists that are a good deal better, and may end the search."""
    instance = Instance.of(elastic_jobs(jobs=40, gpus=8, load=1.5, seed=2))
    heard: list[float] = []

    def tell(search: Annealing) -> bool:
        heard.append(search.cost)
        return len(heard) == 2

    search = Annealing(instance)
    before = search.cost
    search.improve(10**9, tell=tell)
    assert search.cost == heard[1] < heard[0] < before


def test_the_best_of_several_lists_is_taken() -> None:
    """Whatever their order, the search begins with the best list, and offers of worse ones change nothing."""
    jobs = [ElasticJob(name=str(work), release=0, work=work, rates={1: 1.0}) for work in (3, 1, 2)]
    instance = Instance.of(Scheduling(gpus=1, jobs=jobs))
    best, worst = np.array([1, 2, 0]), np.array([0, 2, 1])

    for given in ([best, worst], [worst, best]):
        search = Annealing(instance, given)
        assert (search.cost, search.names.tolist()) == (10, [1, 2, 0])
        assert not search.offer(worst)
    search = Annealing(instance, [worst])
    assert search.cost == 14
    assert search.offer(best)
    assert search.timetable.completions == (6, 1, 3)


def test_deadlines_have_a_price() -> None:
    """The penalty makes a list that keeps a deadline cheaper than the best one without."""
    fair = 0
    for seed in range(30):
        instance = Instance.of(tiny(seed, fair=True))
        search = Annealing(instance)
        search.improve(300)
        fair += instance.keeps_deadlines(search.timetable.completions)
    free = 0
    for seed in range(30):
        instance, plain = Instance.of(tiny(seed, fair=True)), Instance.of(tiny(seed))
        search = Annealing(plain)
        search.improve(300)
        free += instance.keeps_deadlines(search.timetable.completions)
    assert fair > free


@pytest.mark.parametrize(("unit", "origin"), [(1e-9, 0.0), (1e9, 0.0), (1.0, 1.7e9)])
def test_sizes_and_dates_of_any_magnitude(unit: float, origin: float) -> None:
    """In billionths or billions of a second, or counted from 1970, the same list is found."""
    drawn = elastic_jobs(jobs=10, gpus=8, load=1.2, seed=4)
    jobs = [
        job.model_copy(update={"release": origin + unit * job.release, "work": unit * job.work})
        for job in drawn.jobs
    ]
    moved = Instance.of(drawn.model_copy(update={"jobs": tuple(jobs)}))
    search, other = Annealing(Instance.of(drawn)), Annealing(moved)
    search.improve(200)
    other.improve(200)

    assert other.cost == pytest.approx(unit * search.cost, rel=1e-6)


def test_a_timetable_of_one_job() -> None:
    """A job alone takes all its segments and runs in one piece."""
    job = ElasticJob(name="a", release=3, work=8, rates={1: 1.0, 2: 1.5, 4: 2.0})
    instance = Instance.of(Scheduling(gpus=4, jobs=[job]))
    found = timetable(instance, Segments.of(instance), np.zeros(3, dtype=np.int64))

    assert [tuple(piece) for piece in found.pieces] == [(0, 0.0, 4.0, 4)]
