"""Lists of segments: serving, moving and annealing them."""

import sys
from importlib import import_module
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest

import formulations.scheduling
from formulations.scheduling import incumbents as module
from formulations.scheduling.annealing import Annealing, timetable
from formulations.scheduling.best import BestSchedule
from formulations.scheduling.incumbents import KnownLists
from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_by_rest, serve_list
from formulations.scheduling.local_search import Priorities, list_schedule
from formulations.scheduling.moving import DRAWS, Lists, anneal, begin, move, shift, walk
from formulations.scheduling.segments import Segments
from formulations.scheduling.serving import Changes, Marks, ReplayState, replay, trace
from gsopt.core.budget import Budget
from gsopt.core.numbers import compiled
from gsopt.problems.scheduling import ElasticJob, Scheduling
from heuristics.scheduling import efq, elastic_srtf, srsf, srtf
from instances.scheduling import elastic_jobs
from tests.strategies.scheduling import figure_4, rigid, tiny

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
    instance = Instance.of(rigid((0, 3), (0, 1), (0, 2)))
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


def test_a_name_is_moved() -> None:
    """What stands between moves by one place, forward or backward."""
    names = np.array([5, 6, 7, 8])
    move(names, 0, 2)
    assert names.tolist() == [6, 7, 5, 8]
    move(names, 3, 1)
    assert names.tolist() == [6, 8, 7, 5]


def test_all_of_a_job_is_shifted() -> None:
    """Its names keep their distances up to the ends of the list, and the others their order."""
    for seed in range(200):
        random = Random(seed)
        names = [random.randrange(4) for _ in range(9)]
        job, places = names[0], random.choice([*range(-9, 0), *range(1, 10)])
        shifted = np.zeros(9, dtype=np.int64)
        shift(np.array(names), job, places, shifted)
        found = shifted.tolist()
        assert [name for name in found if name != job] == [name for name in names if name != job]
        before = [place for place, name in enumerate(names) if name == job]
        after = [place for place, name in enumerate(found) if name == job]
        assert after == _moved(before, places, 9)


def _moved(before: list[int], places: int, size: int) -> list[int]:
    """Move places, none beyond the ends or on another."""
    count = len(before)
    low, high = list(range(count)), list(range(size - count, size))
    return [min(max(place + places, least), most) for place, least, most in zip(before, low, high, strict=True)]


def test_only_jobs_nearby_count_for_the_way() -> None:
    """Two places further, not counting jobs whose numbers are far away."""
    names = np.array([10, 99, 11, 98, 97, 12, 13])
    assert walk(names, 0, 2, 5) == 5
    assert walk(names, 0, 2, 100) == 2
    assert walk(names, 5, -2, 5) == 0
    assert walk(names, 0, 9, 5) == 6


def test_the_best_list_is_kept_while_worse_ones_are_accepted() -> None:
    """When it is hot the current list gets worse than the best one, which costs what is said."""
    instance = Instance.of(elastic_jobs(jobs=20, gpus=8, load=1.5, seed=1))
    segments = Segments.of(instance)
    start = sum(map(instance.earliest, range(20)))
    lists, state = Lists.of(segments.by_size(segments.areas)), ReplayState.of(segments)
    marks = Marks.of(20, 5, start), Marks.of(20, 5, start)
    cost = begin(segments, lists, state, *marks)
    draws, heat = np.random.default_rng(0).random(400 * DRAWS), np.full(400, 0.2 * cost)
    total, least = anneal(segments, lists, state, *marks, np.array([8, 40]), 20, draws, heat, cost, cost)

    assert least <= cost < total
    assert sorted(lists.best.tolist()) == sorted(lists.current.tolist()) == segments.job.tolist()
    lists.current[:] = lists.best
    assert begin(segments, lists, state, *marks) == least


def _of(*jobs: ElasticJob, gpus: int = 4) -> Segments:
    return Segments.of(Instance.of(Scheduling(gpus=gpus, jobs=jobs)))


def _job(name: str, work: float, rates: dict[int, float], release: float = 0) -> ElasticJob:
    return ElasticJob(name=name, release=release, work=work, rates=rates)


def test_segments_lead_to_the_counts_of_hulls() -> None:
    """Every segment begins where the one before ends, and the last one reaches the highest speed."""
    for seed in range(40):
        instance = Instance.of(tiny(seed))
        segments = Segments.of(instance)
        for job, modes in enumerate(instance.modes):
            own = slice(segments.first[job], segments.first[job + 1])
            counts = np.cumsum(segments.more[own])
            known = dict(modes)
            assert {*counts} <= {*known}
            assert segments.speed[own].tolist() == pytest.approx([known[count] for count in counts])
            assert np.cumsum(segments.gain[own]).tolist() == pytest.approx(segments.speed[own].tolist())
            assert (segments.job[own] == job).all()
            assert segments.fastest[job] == pytest.approx(modes[-1].rate)
        assert segments.least_gpus == segments.more.min()


def test_every_order_names_each_job_as_often_as_it_has_segments() -> None:
    """Orders by area, by time and by slopes are permutations of the segments' jobs."""
    for seed in range(20):
        segments = Segments.of(Instance.of(tiny(seed)))
        for names in (
            segments.by_size(segments.areas),
            segments.by_size(segments.times),
            segments.by_slopes(segments.work),
        ):
            assert sorted(names.tolist()) == segments.job.tolist()


def test_rigid_jobs_stand_by_area_or_by_time() -> None:
    """A job of 4 GPUs for 2 s has more area than one of a GPU for 5 s, and takes less time."""
    segments = _of(_job("long", 5, {1: 1.0}), _job("wide", 8, {4: 4.0}))
    assert segments.by_size(segments.areas).tolist() == [0, 1]
    assert segments.by_size(segments.times).tolist() == [1, 0]


def test_a_second_gpu_that_helps_little_comes_last() -> None:
    """Two jobs get their first GPUs before one of them gets a second one that gains a tenth."""
    rates = {1: 1.0, 2: 1.1}
    segments = _of(_job("a", 4, rates), _job("b", 5, rates))
    assert segments.by_size(segments.areas).tolist() == [0, 1, 0, 1]


def test_slopes_rank_segments() -> None:
    """What a GPU gains is weighed with what the job's work is worth."""
    segments = _of(_job("a", 4, {1: 1.0, 2: 1.5}), _job("b", 4, {1: 1.0, 2: 1.9}))
    assert segments.by_slopes(np.array([1.0, 0.6])).tolist() == [0, 1, 1, 0]
    assert segments.by_slopes(np.array([2.1, 1.0])).tolist() == [0, 0, 1, 1]


def test_the_order_of_completion_is_an_order_of_size() -> None:
    """Of rigid jobs the one that completes first stands first, whatever its size."""
    jobs = [_job(str(work), work, {1: 1.0}) for work in (3, 1, 2)]
    assert _of(*jobs).by_completion((5.0, 9.0, 7.0)).tolist() == [0, 2, 1]


def test_areas_and_times() -> None:
    """A job's area is that on its most efficient count, its time that on the fastest."""
    segments = _of(_job("a", 12, {1: 1.0, 2: 3.0, 4: 4.0}))
    assert (segments.areas.tolist(), segments.times.tolist()) == ([8.0], [3.0])
    assert segments.relative_efficiency.tolist() == pytest.approx([1, 1 / 3])


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


def test_any_list_makes_a_schedule() -> None:
    """By any order of names, or any sizes of what is left, the judge finds the value said and nothing wrong."""
    for seed in range(60):
        problem, random = tiny(seed), Random(seed)
        instance = Instance.of(problem)
        segments = Segments.of(instance)
        names = random.sample(segments.job.tolist(), len(segments.job))
        sizes = [random.uniform(1, 2) for _ in problem.jobs]
        for made in (serve_list(instance, segments, names), serve_by_rest(instance, segments, sizes)):
            assert problem.violations(made.solution) == []
            assert problem.objective(made.solution) == pytest.approx(instance.mean_jct(made.total), rel=1e-9)


def _rigid(seed: int) -> Scheduling:
    drawn = elastic_jobs(jobs=40, gpus=8, load=1.5, seed=seed)
    rigid = tuple(job.model_copy(update={"rates": {job.demand: job.rates[job.demand]}}) for job in drawn.jobs)
    return drawn.model_copy(update={"jobs": rigid})


def test_rigid_jobs_by_what_is_left_are_the_policies() -> None:
    """By remaining area it is shortest remaining service first, by remaining time shortest remaining time."""
    for seed in range(5):
        problem = _rigid(seed)
        instance = Instance.of(problem)
        segments = Segments.of(instance)
        for sizes, policy in ((segments.areas, srsf), (segments.times, srtf)):
            found = serve_by_rest(instance, segments, sizes.tolist())
            assert instance.mean_jct(found.total) == pytest.approx(policy(problem).objective, rel=1e-6)


def test_rigid_jobs_are_served_as_by_priorities() -> None:
    """With one count each, a list of segments is an order of priority."""
    instance = Instance.of(_rigid(3))
    names = Random(3).sample(range(40), 40)
    plan = list_schedule(instance, Priorities(tuple(names), instance.modes))
    assert serve_list(instance, Segments.of(instance), names).completions == pytest.approx(plan.completions)


def test_figure_4_by_segments() -> None:
    """Served in the order of fair completion, all segments at once, the jobs complete at 3, 8 and 5.5."""
    instance = Instance.of(figure_4())
    segments = Segments.of(instance)
    names = [job for job in (0, 2, 1) for _ in range(segments.first[job], segments.first[job + 1])]
    assert serve_list(instance, segments, names).completions == pytest.approx((3, 8, 5.5))


def test_a_segment_that_does_not_fit_is_passed_over() -> None:
    """Beside a job on 3 of 4 GPUs another gets its first GPU and not the two more that it would like."""
    wide = ElasticJob(name="a", release=0, work=6, rates={3: 3.0})
    other = ElasticJob(name="b", release=0, work=4, rates={1: 1.0, 3: 2.0})
    instance = Instance.of(Scheduling(gpus=4, jobs=[wide, other]))
    timetable = serve_list(instance, Segments.of(instance), [0, 1, 1])

    assert [(piece.job, piece.start, piece.end, piece.gpus) for piece in timetable.pieces] == [
        (0, 0.0, 2.0, 3),
        (1, 0.0, 2.0, 1),
        (1, 2.0, 3.0, 3),
    ]
    assert timetable.completions == (2.0, 3.0)


def test_a_cluster_may_be_empty_for_a_while() -> None:
    """Between two jobs far apart nothing runs."""
    instance = Instance.of(rigid((1.7e9, 1), (1.7e9 + 100, 1)))
    assert serve_list(instance, Segments.of(instance), [1, 0]).completions == (1.0, 101.0)


def test_growth_by_fewer_gpus_than_any_job_begins_with() -> None:
    """A job that begins with 2 of 3 GPUs takes the third one too."""
    job = ElasticJob(name="a", release=0, work=6, rates={2: 2.0, 3: 3.0})
    instance = Instance.of(Scheduling(gpus=3, jobs=[job]))
    assert serve_list(instance, Segments.of(instance), [0, 0]).completions == (2.0,)


def test_a_job_is_not_done_a_little_early() -> None:
    """What is left of a job when another arrives, a hundred millionth of its work, is done too."""
    instance = Instance.of(rigid((0, 1 + 1e-8), (1, 1)))
    assert serve_list(instance, Segments.of(instance), [1, 0]).completions == pytest.approx(
        (2 + 1e-8, 2), abs=1e-12
    )


def _incumbents_of(problem: Scheduling, budget: Budget | None = None) -> KnownLists:
    return KnownLists(BestSchedule(problem, Instance.of(problem), budget or Budget(), "exact"))


def test_lists_without_search_beat_the_papers() -> None:
    """On a busy cluster the first lists are better than elastic fair queuing and shortest remaining time."""
    problem = elastic_jobs(jobs=100, gpus=16, load=1.2, seed=2)
    found = _incumbents_of(problem)
    found.serve()
    policies = [float(policy(problem).objective or 0) for policy in (efq, elastic_srtf, srtf)]
    assert found.best.instance.mean_jct(found.best.total) < min(policies)


def test_the_order_by_time_is_tried_too() -> None:
    """Many short wide jobs are better served before a long narrow one, which has less area than any."""
    jobs = [ElasticJob(name=f"w{i}", release=0, work=8, rates={8: 8.0}) for i in range(5)]
    jobs.append(ElasticJob(name="long", release=0, work=7, rates={1: 1.0}))
    found = _incumbents_of(Scheduling(gpus=8, jobs=jobs))
    found.serve()
    assert found.best.total == 1 + 2 + 3 + 4 + 5 + 12


def test_in_no_time_many_jobs_get_one_list() -> None:
    """With a limit of 0 a thousand jobs are served by area alone."""
    problem = elastic_jobs(jobs=1_000, gpus=64, load=0.7, seed=1)
    found = _incumbents_of(problem, Budget(time_limit=0.0))
    found.serve()
    segments = found.segments

    naive = serve_list(found.best.instance, segments, segments.by_size(segments.areas).tolist())
    assert found.best.completions == naive.completions


def test_dual_values_make_a_list() -> None:
    """What is worth most is served first."""
    found = _incumbents_of(rigid((0, 2), (0, 2)))
    found.serve_by(np.array([1.0, 2.0]))
    assert found.best.completions == (4, 2)


def test_rounds_begin_where_the_last_one_ended() -> None:
    """Each round is no worse than the one before, goes on from lists that came between, and is longer."""
    problem = elastic_jobs(jobs=15, gpus=8, load=1.5, seed=4)
    found, again = _incumbents_of(problem), _incumbents_of(problem)
    totals = []
    for each in (found, again):
        each.serve()
        for _ in range(2):
            each.search()
            each.serve_by(np.ones(15))
            totals.append(each.best.total)

    assert totals[:2] == totals[2:]
    assert totals[1] <= totals[0] < _first(problem)


def _first(problem: Scheduling) -> float:
    found = _incumbents_of(problem)
    found.serve()
    return found.best.total


def test_a_callback_may_end_the_search() -> None:
    """Better lists are told while the search runs, and it stops when that is enough."""
    problem = elastic_jobs(jobs=40, gpus=8, load=1.5, seed=2)
    heard: list[float] = []

    def stop(result: object) -> bool:
        heard.append(getattr(result, "objective", 0.0))
        return len(heard) == 4

    found = _incumbents_of(problem, Budget(on_incumbent=stop))
    found.serve()
    found.search()
    assert len(heard) == 4
    assert heard == sorted(heard, reverse=True)


def test_in_seconds_no_kernel_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kernel that is not loaded annealing waits for a longer limit; local search does not."""
    asked: list[tuple[str, str]] = []

    def is_ready(name: str, kernel: str, left: float | None) -> bool:
        asked.append((name, kernel))
        return left is None

    monkeypatch.setattr(module, "is_ready", is_ready)
    problem = elastic_jobs(jobs=6, gpus=8, load=1.5, seed=4)
    assert _incumbents_of(problem).is_ready
    found = _incumbents_of(problem, Budget(time_limit=5.0))
    assert not found.is_ready
    assert asked == [("formulations.scheduling.moving", "anneal")] * 2
    found.descend()
    assert found.best.completions is not None
