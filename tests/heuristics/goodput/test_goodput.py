"""The heuristics of goodput, and their parts."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from deap import base, tools

from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput
from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.goodput import Goodput, GoodputJob, GoodputSolution
from heuristics.goodput import genetic, greedy
from heuristics.goodput.cells import HeldCells
from heuristics.goodput.fronts import ranks, survivors
from heuristics.goodput.gangs import with_gangs
from heuristics.goodput.greedy import _State
from heuristics.goodput.search import search
from heuristics.goodput.table import Counts, Floats, SpeedupTable
from instances.goodput import running_jobs
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.heuristics.results import solved, value
from tests.processes import PATIENCE
from tests.strategies.goodput import LINEAR, job, tiny


def test_costs_are_those_of_the_judge() -> None:
    """What jobs count with any GPUs is what the judge says, and -1 stands where they do not run."""
    for seed in range(cases(50)):
        problem = tiny(seed)
        table = SpeedupTable.of(problem)
        for solution in list(problem.candidates())[:20]:
            vectors = np.array(problem.vectors(solution), dtype=np.int64).reshape(table.current.shape)
            restarts = (vectors != table.current).any(axis=1)
            counted = table.counted(table.speedup(vectors), restarts)
            judged = [
                float(problem.cost(place, sum(vector > 0), sum(vector), restarts=bool(moved)))
                for place, (vector, moved) in enumerate(zip(vectors, restarts, strict=True))
            ]
            assert np.allclose(counted, judged, rtol=1e-12), seed
            assert table.solution(vectors) == solution, seed


def test_sums_are_those_of_the_whole_array() -> None:
    """What the cells say of jobs and nodes is what the candidates say, and they give the candidates back."""
    random = np.random.default_rng(0)
    for _ in range(cases(40)):
        candidates = random.integers(0, 4, size=random.integers(1, 6, size=3)) * (random.random() < 0.8)
        cells = HeldCells.of(candidates)

        assert (cells.filled() == candidates).all()
        assert (cells.nodes_of_jobs == (candidates > 0).sum(axis=2)).all()
        assert (cells.gpus_of_jobs == candidates.sum(axis=2)).all()
        assert (cells.gpus_on_nodes == candidates.sum(axis=1)).all()


def test_the_first_cells_of_a_group_are_filled_first() -> None:
    """Cells get what they ask for until the limit of their group is reached, one after the other."""
    random = np.random.default_rng(1)
    for _ in range(cases(40)):
        cells = HeldCells.of(random.integers(0, 5, size=(2, 3, 4)))
        asked, limits = cells.gpus.copy(), random.integers(0, 8, size=6)
        cells.fill(np.arange(len(cells.at)), cells.rows, limits[cells.rows])
        for row in range(6):
            left, own = limits[row], cells.rows == row
            for wanted, got in zip(asked[own].tolist(), cells.gpus[own].tolist(), strict=True):
                assert got == min(wanted, left)
                left -= got


class Fitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    """Two goals to be maximised."""

    weights = (1.0, 1.0)


class Scored:
    """A candidate as DEAP knows it."""

    def __init__(self, place: int, score: list[float]) -> None:
        self.place, self.fitness = place, Fitness(score)


def drawn(random: np.random.Generator) -> Floats:
    """Draw scores of which some are equal in one goal or both."""
    scores: Floats = random.integers(0, 8, size=(random.integers(1, 40), 2)) / 4.0
    return scores


def test_fronts_are_those_of_deap() -> None:
    """Whatever the scores, each candidate is in the front in which DEAP has it."""
    random = np.random.default_rng(0)
    for _ in range(cases(80)):
        scores = drawn(random)
        pool = [Scored(place, score) for place, score in enumerate(scores.tolist())]
        fronts = tools.sortNondominated(pool, len(pool))
        expected = {each.place: number for number, front in enumerate(fronts) for each in front}

        assert dict(enumerate(ranks(scores).tolist())) == expected


def test_the_first_fronts_survive_and_of_the_last_who_is_alone() -> None:
    """Nobody survives a candidate of an earlier front, or one of the same that DEAP finds less crowded."""
    random = np.random.default_rng(1)
    for _ in range(cases(80)):
        scores = np.unique(drawn(random), axis=0)
        number = int(random.integers(1, len(scores) + 1))
        chosen, fronts = survivors(scores, number).tolist(), ranks(scores)

        assert len(set(chosen)) == number
        assert all(fronts[one] <= fronts[other] for one, other in pairwise(chosen))
        places: list[int] = np.flatnonzero(fronts == fronts[chosen[-1]]).tolist()
        front = [Scored(place, scores[place].tolist()) for place in places]
        tools.emo.assignCrowdingDist(front)
        alone = {each.place: each.fitness.crowding_dist for each in front}
        last = [alone[place] for place in chosen if place in alone]
        assert np.allclose(last, sorted(alone.values(), reverse=True)[: len(last)])


def gang(name: str, *rows: list[float]) -> GoodputJob:
    """Return a waiting job by its speed-ups."""
    return job(name, *rows)


def started(nodes: list[int], *jobs: GoodputJob) -> list[list[int]]:
    """Return what jobs have when gangs have started."""
    found: list[list[int]] = with_gangs(SpeedupTable.of(Goodput(nodes=nodes, jobs=jobs))).tolist()
    return found


def test_a_gang_gets_the_node_that_it_fills_best() -> None:
    """Two GPUs go to the node with two idle ones and not to the one with three."""
    assert started([3, 2], gang("a", [0.0, 1.0, 1.0])) == [[0, 2]]


def test_a_gang_that_fits_no_node_is_spread_over_the_emptiest() -> None:
    """Its GPUs are those of as few nodes as hold it, none of which has a part of another such job."""
    wide = gang("a", [0.0] * 3, [0.0] * 2 + [1.0], [0.0] + [1.0] * 3)
    assert started([1, 2, 3], wide) == [[0, 1, 3]]
    assert started([3, 3, 1], job("b", *LINEAR, current=[1, 1, 0]), wide) == [[1, 1, 0], [0, 0, 0]]


def test_others_are_left_as_they_are() -> None:
    """Who runs keeps its GPUs, and who can start on one GPU is left to the search."""
    running = job("a", *LINEAR, current=[2])
    assert started([3], running, gang("b", [1.0, 2.0]), gang("c", [0.0, 1.0])) == [[2], [0], [0]]


SEARCH: dict[str, Any] = {"population": 12, "generations": 6, "most_nodes": 16, "budget": Budget()}


def found(problem: Goodput, start: Counts | None = None, **options: Any) -> Counts:
    """Search a problem with seed 0."""
    table = SpeedupTable.of(problem)
    begin = table.current[None] if start is None else start
    return search(table, begin, np.random.default_rng(0), **{**SEARCH, **options})


def fitness(problem: Goodput, candidate: Counts) -> float:
    """Return the fitness that the judge sees."""
    return problem.measures(SpeedupTable.of(problem).solution(candidate))["fitness"]  # type: ignore[return-value]


def test_all_that_is_found_obeys_the_rules() -> None:
    """Every candidate on the front is a solution, the fittest first; in the other goal they get better."""
    for seed in range(cases(60)):
        problem = tiny(seed)
        table = SpeedupTable.of(problem)
        if not table.current.size:
            continue
        front = found(problem)
        uses = [table.speedup(each).sum() / max((each.sum(axis=0) > 0) @ problem.nodes, 1) for each in front]

        assert [problem.violations(table.solution(each)) for each in front] == [[]] * len(front)
        assert all(fitness(problem, one) >= fitness(problem, other) for one, other in pairwise(front))
        assert all(one <= other for one, other in pairwise(uses))


def test_a_search_goes_on_from_where_another_ended() -> None:
    """Begun with the front of an earlier search, one is no less fit, and without any time finds that front."""
    for seed in range(cases(8)):
        problem = running_jobs(nodes=4, jobs=8, seed=seed)
        first = found(problem)
        again = found(problem, first, generations=0)

        assert (again == first).all()
        assert fitness(problem, found(problem, first)[0]) >= fitness(problem, first[0])


def test_what_it_began_with_is_left_as_it_was() -> None:
    """The candidates that a search is given are not changed by it."""
    problem = running_jobs(nodes=4, jobs=6, seed=3)
    start = SpeedupTable.of(problem).current[None]
    before = start.copy()
    found(problem, start)

    assert (start == before).all()


def test_a_seed_repeats_the_search() -> None:
    """The same seed finds the same division, and more generations none that is worse."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    few, again, more = (genetic(problem, generations=n, population=20, seed=1) for n in (5, 5, 40))
    assert few.solution == again.solution
    assert few.objective is not None
    assert more.objective is not None
    assert more.objective <= few.objective


def test_no_generation_leaves_what_runs() -> None:
    """Without generations jobs keep what they have."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    solution = solved(genetic(problem, generations=0))
    assert solution.gpus == {each.name: each.current for each in problem.jobs if each.current}


def test_repair_favours_the_jobs_listed_first() -> None:
    """Of jobs that hold more than they may the first keeps its nodes, and a limit takes what is beyond it."""
    wide = [job(name, *LINEAR, current=[1, 1]) for name in "ab"]
    result = genetic(Goodput(nodes=[2, 2], jobs=wide), generations=0)
    assert result.solution is not None
    assert result.solution.gpus == {"a": (1, 1)}
    limited = [job("a", *LINEAR, current=[3, 0], max_gpus=2)]
    result = genetic(Goodput(nodes=[3, 3], jobs=limited), generations=0)
    assert result.solution is not None
    assert result.solution.gpus == {"a": (2, 0)}


def test_a_faster_job_on_more_nodes_is_not_allowed_either() -> None:
    """What limits the nodes of a job limits the search also where more of them are twice as fast."""
    problem = Goodput(nodes=[1, 1], jobs=[job("a", [1.0, 2.0], [2.0])])
    solutions = [genetic(problem, most_nodes=most, generations=20).solution for most in (1, 2)]
    assert [each and sum(each.gpus["a"]) for each in solutions] == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 1}, "population: 1: must be at least 2"),
        ({"generations": -1}, "generations: -1: must be at least 0"),
        ({"most_nodes": 0}, "most_nodes: 0: must be at least 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Each option is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        genetic(running_jobs(nodes=2, jobs=3), **options)


def test_no_generation_begins_without_time() -> None:
    """Without any second for it the search gives what no generation gives; with enough, what all give."""
    problem = running_jobs(nodes=4, jobs=6, seed=1)
    first, last = (genetic(problem, generations=number).solution for number in (0, 5))
    assert first != last
    assert genetic(problem, generations=5, budget=Budget(time_limit=0)).solution == first
    assert genetic(problem, generations=5, budget=Budget(time_limit=PATIENCE)).solution == last


def test_idle_gpus_go_where_they_gain_most() -> None:
    """The job with the steeper speed-up has the GPUs that the other one gains less by."""
    flat, steep = job("flat", [1.0, 1.1, 1.2]), job("steep", [1.0, 2.0, 3.0])
    solution = solved(greedy(Goodput(nodes=[4], jobs=[flat, steep])))
    assert solution.gpus == {"flat": (1,), "steep": (3,)}


def test_a_new_job_takes_a_gpu_of_another_one() -> None:
    """Where no GPU is idle a job that has many gives one."""
    jobs = [job("old", *LINEAR, current=[3], age=36_000.0), job("new", *LINEAR, age=36_000.0)]
    solution = solved(greedy(Goodput(nodes=[3], jobs=jobs)))
    assert solution.gpus == {"old": (2,), "new": (1,)}


def test_what_breaks_a_rule_is_given_up() -> None:
    """A job that has more than it may begins without GPUs."""
    solution = solved(greedy(Goodput(nodes=[3], jobs=[job("a", *LINEAR, current=[3], max_gpus=2)])))
    assert solution.gpus == {"a": (2,)}


def test_it_is_never_worse_than_what_runs() -> None:
    """Where all may keep what they have the mean does not rise."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        kept = GoodputSolution(gpus={each.name: each.current for each in problem.jobs if each.current})
        if not problem.violations(kept):
            found = value(greedy(problem))
            assert found <= problem.objective(kept), seed


def test_who_changes_is_computed_anew() -> None:
    """After each change what every job would count is what it would be if all were computed again."""
    for seed in range(cases(50)):
        state = _State(SpeedupTable.of(tiny(seed)))
        going = True
        while going and state.vectors.size:
            going = state.change()
            after, now = state.after.copy(), state.now.copy()
            for number in range(len(now)):
                state._update(number)  # noqa: SLF001 - what is tested
            assert (state.after == after).all(), seed
            assert (state.now == now).all(), seed


METHODS: dict[str, Method] = {"greedy": greedy, "genetic": partial(genetic, population=8, generations=4)}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_no_rule_is_broken_and_no_optimum_beaten(method: Method) -> None:
    """On instances with hard numbers heuristics break no rule and beat no optimum."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        found = method(problem).objective
        assert found is not None, seed
        assert found >= oracle.optimum(problem), seed


def test_the_best_of_little_time_stands_first() -> None:
    """Whoever has little time begins with the greedy one."""
    assert list(heuristics("goodput")) == ["greedy", "genetic"]
