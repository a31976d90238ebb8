"""Sia: configurations of all jobs at once, every minute; nodes by kind, placing, and estimates."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.problems.configuration import Configuration, ConfigurationSolution, Shape
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Action, Decider, Start, State, Wake, simulate
from gsopt.testing import check_policy
from heuristics import configuration
from heuristics.policies import sia
from heuristics.policies.sia.configuring import JobHistory
from heuristics.policies.sia.estimates import Batches, Estimated
from heuristics.policies.sia.nodes import NodePool, PoolNode
from heuristics.policies.sia.placing import place_jobs
from instances.scenarios import sia as authors_scenario
from tests.effort import cases
from tests.gsopt.simulation.adaptive import learning
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios, tree_scenarios
from tests.gsopt.simulation.scripts import doing, workload
from tests.heuristics.policies.shared import counts, pieces, traces

MENU = ((1, 1.0), (2, 1.8), (4, 3.0), (8, 5.0))


def job(name: str, duration: float = 600, **fields: Any) -> Job:
    """Return an elastic job."""
    return Job(**{"name": name, "release_date": 0, "duration": duration, "gpus": 1, "menu": MENU, **fields})


def nodes(*gpus: int, kinds: str = "") -> Cluster:
    """Return machines of so many GPUs, with a letter for the type of each."""
    types = kinds or " " * len(gpus)
    machines = [
        Machine(name=f"m{place}", gpus=count, gpu_type=kind.strip())
        for place, (count, kind) in enumerate(zip(gpus, types, strict=True))
    ]
    return Cluster(racks=[Rack(name="rack", machines=machines)])


def test_a_job_doubles_at_most() -> None:
    """A job alone has 1, 2, 4 and 8 GPUs, each as soon as it has lived long enough for the restart."""
    run = simulate(bundle([job("a")]), sia, cluster=nodes(4, 4), record=True)
    assert counts(run, "a") == [(0, 1), (60, 2), (180, 4), (240, 8)]
    fast = simulate(bundle([job("a")]), sia, cluster=nodes(4, 4), record=True, growth=None, interval=30)
    assert counts(fast, "a") == [(0, 8)]


def test_a_job_has_no_more_than_the_most() -> None:
    """A job alone stays at two GPUs where these are the most."""
    run = simulate(bundle([job("a")]), sia, cluster=nodes(4, 4), record=True, most_gpus=2)
    assert counts(run, "a") == [(0, 1), (60, 2)]


def test_power_and_penalty_count() -> None:
    """Four jobs on four GPUs: all run on one where it costs three times as much to wait, else some on more."""
    sizes = [("a", 200), ("b", 900), ("c", 500), ("d", 500)]
    jobs = bundle(Job(name=name, release_date=0, duration=d, gpus=1, menu=MENU[:3]) for name, d in sizes)
    given: list[dict[str, Any]] = [{}, {"power": -2}, {"penalty": 3}]
    times = [simulate(jobs, sia, cluster=4, bound=False, **options).completion_times for options in given]
    assert len(set(times)) == 3
    assert [each[0] for each in times if each[0] >= 200] == [200]


def test_decisions_are_at_multiples_of_the_interval() -> None:
    """A job waits for the next minute, and what it leaves is given away at a minute."""
    jobs = bundle([job("a", 50, release_date=7), job("b", 50, release_date=61)])
    assert simulate(jobs, sia, cluster=1, clock_start=0).completion_times == (110.0, 170.0)
    paused = [job("abc"[place], 30, release_date=date) for place, date in enumerate((7, 130, 170))]
    assert simulate(bundle(paused), sia, cluster=2, clock_start=0).start_times == (60.0, 180.0, 180.0)


def test_restarts_are_weighed() -> None:
    """With longer restarts a job that is young stays as it is; age is counted from the release."""
    run = simulate(bundle([job("a")]), sia, cluster=4, record=True, restart_time=59.0)
    first = simulate(bundle([job("a", model="imagenet")]), sia, cluster=4, record=True, restart_times={})
    assert counts(run, "a")[:2] == [(0, 1), (120, 2)]
    assert counts(first, "a")[:2] == [(0, 1), (60, 2)]


def test_models_have_seconds_of_their_own() -> None:
    """Below the seconds of a restart nothing is taken off, so a job of which these are many grows at once."""
    run = simulate(bundle([job("a", model="bert")]), sia, cluster=4, record=True)
    other = simulate(bundle([job("a")]), sia, cluster=4, record=True)
    assert counts(other, "a")[:3] == [(0, 1), (60, 2), (180, 4)]
    assert counts(run, "a")[:3] == [(0, 1), (60, 2)]


def test_who_is_restarting_keeps_what_it_has() -> None:
    """While a restart takes two minutes nothing changes."""
    overhead = Overhead(start=130)
    run = simulate(bundle([job("a"), job("b")]), sia, cluster=2, record=True, overheads=overhead)
    assert counts(run, "a")[0] == (0, 1)
    alone = simulate(bundle([job("a")]), sia, cluster=2, record=True, overheads=overhead)
    assert counts(alone, "a")[:2] == [(0, 1), (180, 2)]


def test_rigid_jobs_have_what_they_demand() -> None:
    """A rigid job of three GPUs runs on three; two of them on four GPUs run one after the other."""
    jobs = workload((0, 90, 3), (0, 90, 3))
    assert simulate(jobs, sia, cluster=4).completion_times == (90.0, 210.0)


def test_a_menu_of_other_numbers_is_taken_as_it_is() -> None:
    """A job of three or six GPUs, which are no configurations, may have both."""
    run = simulate(bundle([job("a", gpus=3, menu=[(3, 1.0), (6, 1.9)])]), sia, cluster=nodes(4, 4), record=True)
    assert counts(run, "a") == [(0, 3), (60, 6)]


def test_fast_gpus_go_to_whom_they_help() -> None:
    """Of two jobs of fixed size the one runs on the fast type that gains more by it."""
    jobs = [
        job(name, gpus=2, menu=(), gpu_type="x", modes=[Mode(name="on y", menu=[(2, speed)], gpu_type="y")])
        for name, speed in (("little", 0.9), ("much", 0.25))
    ]
    run = simulate(bundle(jobs), sia, cluster=nodes(2, 2, kinds="yx"), record=True)
    first = {each.job: each.placement for each in pieces(run) if each.start == 0}
    assert first == {"little": (0, 1), "much": (2, 3)}


def test_types_are_not_mixed() -> None:
    """A job has GPUs of one type, of which it takes the faster one; one that needs both is refused."""
    speed = Speed(gpu_types={"y": 3.0})
    run = simulate(bundle([job("a", 60)]), sia, cluster=nodes(2, 2, kinds="yx"), speed=speed, record=True)
    assert pieces(run)[0].placement == (2,)
    wide = Job(name="wide", release_date=0, duration=60, gpus=3)
    with pytest.raises(Unsupported, match="job 'wide' runs on no number of GPUs of one kind"):
        simulate(bundle([wide]), sia, cluster=nodes(2, 2, kinds="yx"), speed=speed)


def test_another_method_decides_too() -> None:
    """The greedy heuristic takes the place of dynamic programming by name."""
    steep, flat = [(1, 1.0), (2, 1.9), (4, 3.8)], [(1, 1.0), (2, 1.05), (4, 1.103)]
    jobs = bundle([job("a", 300, menu=steep), job("b", 300, menu=flat)])
    solvers = ("exact", "greedy", configuration.greedy)
    exact, by_name, by_itself = (
        simulate(jobs, sia, cluster=4, solver=each).completion_times for each in solvers
    )
    assert by_name == by_itself
    assert by_name != exact


def test_speeds_may_differ_by_any_factor() -> None:
    """A job that is a billion times as fast on two GPUs runs there, and its goodput on four is capped."""
    steep = job("a", 1e-3, gpus=2, menu=[(1, 1e-9), (2, 1.0), (4, 1e6)])
    run = simulate(bundle([steep]), sia, cluster=4, record=True)
    assert counts(run, "a") == [(0, 1), (60, 2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 0}, "power: 0: must be from -10 to 10, not 0"),
        ({"penalty": 1}, "penalty: 1: must be above 1"),
        ({"growth": 1}, "growth: 1: must be above 1, or None"),
        ({"most_gpus": 0}, "most_gpus: 0: must be a whole number, at least 1"),
        ({"interval": 0}, "interval: 0: must be a finite number of seconds"),
        ({"restart_time": -1}, "restart_time: -1: must be a finite number of seconds"),
        ({"restart_times": 30}, "restart_times: 30: must be seconds by model"),
        ({"restart_times": {"bert": inf}}, r"restart_times\['bert'\]: inf: must be a finite number of seconds"),
        ({"solver": "none"}, "solver: 'none': must be one of exact, milp, greedy"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    """Each option is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        simulate(bundle([job("a")]), sia, cluster=1, **options)


@settings(max_examples=cases(40), deadline=None)
@given(plain=plain_scenarios(elastic=True), tree=tree_scenarios())
def test_always_legal(plain: Scenario, tree: Scenario) -> None:
    """Whatever jobs come, and GPUs go, it is legal and all is booked right, also in racks."""
    assert check_policy(sia, [plain, tree], interval=4.0) == 4


def test_adaptive_jobs_grow_by_what_they_have_measured() -> None:
    """Before it has worked a job may have one GPU; then as many as it has fitted, at most twice as many."""
    one, other = (job(name, 9, menu=[(count, 1.0) for count in (1, 2, 4)]) for name in "ab")
    run = simulate(learning(one), sia, interval=1, restart_time=0, record=True)
    assert counts(run, "a")[:3] == [(0, 1), (1, 2), (2, 4)]
    late = simulate(learning(one, overheads=Overhead(start=2.5)), sia, interval=1, restart_time=0, record=True)
    assert counts(late, "a")[:2] == [(0, 1), (3, 2)]
    assert check_policy(sia, [learning(one, other)], exact=False, interval=1) == 1


def most_gpus(problem: Configuration) -> ConfigurationSolution:
    """Solve a decision on one type; of equal values by the most GPUs, then the fewest of the first job."""
    (total,) = problem.gpus.values()
    best: list[tuple[Any, int, tuple[int | None, ...]] | None] = [(Fraction(0), 0, ())] * (total + 1)
    for job, costs in reversed(list(zip(problem.jobs, problem.costs, strict=True))):
        options: list[tuple[int | None, Any]] = [*costs.items()]
        options += [] if job.pinned else [(None, Fraction(11, 10))]
        after: list[tuple[Any, int, tuple[int | None, ...]] | None] = [None] * (total + 1)
        for left, (place, cost) in product(range(total + 1), options):
            gpus = 0 if place is None else problem.configurations[place].gpus
            before = best[left - gpus] if gpus <= left else None
            if before is not None:
                here = (before[0] + cost, before[1] - gpus, (place, *before[2]))
                known = after[left]
                after[left] = here if known is None or here[:2] < known[:2] else known
        best = after
    assert best[-1] is not None
    named = zip(problem.jobs, best[-1][2], strict=True)
    return ConfigurationSolution(configurations={job.name: place for job, place in named if place is not None})


#: Completion times of six jobs on two nodes in the authors' simulator: with its program solved by HiGHS, and
#: with ties broken as here.
BY_HIGHS = (3821, 4037, 7084, 4016, 10258, 4910)
BY_FEWEST_CHANGES = (3767, 4037, 7999, 3831, 9506, 6994)


def test_the_authors_simulator_to_the_second() -> None:
    """Six jobs complete when they do in the authors' simulator, which only leaves ties to its solver."""
    folder = traces()
    scenario = authors_scenario(folder, number=6, nodes=2, jobs=6)
    for solver, times in ((most_gpus, BY_HIGHS), ("exact", BY_FEWEST_CHANGES))[: cases(2)]:
        run = simulate(scenario, sia, round_length=60, bound=False, solver=solver)
        assert tuple(map(round, run.jct)) == times


def unequal() -> Cluster:
    """Return two nodes of four GPUs and one of two of one type, and one with more memory."""
    sizes = [("a", 4, 16), ("b", 2, 16), ("c", 4, 16), ("d", 2, 80)]
    machines = [Machine(name=name, gpus=gpus, gpu_type="V100", memory=memory) for name, gpus, memory in sizes]
    return Cluster(racks=[Rack(name="rack", machines=machines)])


def test_kinds_are_types_with_their_memory() -> None:
    """A type of which machines have unequal memory is several kinds, named by both."""
    assert list(NodePool(unequal()).kinds) == ["V100 16", "V100 80"]


def test_configurations_are_those_of_the_largest_nodes() -> None:
    """Smaller nodes of a kind hold parts only."""
    listed = [(shape.type, shape.nodes, shape.gpus) for shape in NodePool(unequal()).all_shapes()]
    first = [("V100 16", *each) for each in ((1, 1), (1, 2), (1, 4), (2, 8))]
    assert listed == [*first, ("V100 80", 1, 1), ("V100 80", 1, 2)]


def test_a_plain_cluster_is_one_node() -> None:
    """Its GPUs have no numbers, and all of them are the largest configuration."""
    pool = NodePool(Cluster.plain(6))
    assert [shape.gpus for shape in pool.all_shapes()] == [1, 2, 4, 6]
    assert (pool.is_plain, pool.example(Shape(type="gpu", gpus=2))) == (True, ())
    assert pool.shape("gpu", 7) is None


@pytest.mark.parametrize(
    ("gpus", "nodes"),
    [(1, 1), (4, 1), (5, 2), (10, 3)],
)
def test_any_number_is_a_shape_on_few_nodes(gpus: int, nodes: int) -> None:
    """A number of GPUs that is no configuration stands on as few nodes of the largest size as hold it."""
    pool = NodePool(unequal())
    assert pool.shape("V100 16", gpus) == Shape(type="V100 16", nodes=nodes, gpus=gpus)
    assert pool.shape("V100 16", 11) is None


def test_examples_take_the_largest_nodes_first() -> None:
    """GPUs of a configuration stand as close together as they can."""
    pool = NodePool(unequal())
    assert pool.example(Shape(type="V100 16", nodes=2, gpus=8)) == (0, 1, 2, 3, 6, 7, 8, 9)
    assert pool.example(Shape(type="V100 80", gpus=1)) == (10,)


def test_machines_that_have_left_do_not_count() -> None:
    """Nodes and GPUs are those that are there."""
    seen = []

    def watching(state: State) -> Iterable[Action]:
        available = NodePool(state.cluster).available(state)
        places = {kind: [node.place for node in some] for kind, some in available.nodes.items()}
        seen.append((float(state.now), available.gpus, places))
        yield from (Start(job) for job in state.arrived)

    simulate(workload((0, 9, 1)), doing(watching), cluster=unequal(), events=[Leave(time=3, servers=["c"])])
    assert seen[0] == (0.0, {"V100 16": 10, "V100 80": 2}, {"V100 16": [0, 1, 2], "V100 80": [3]})
    assert (3.0, {"V100 16": 6, "V100 80": 2}, {"V100 16": [0, 1], "V100 80": [3]}) in seen


def numbered(*sizes: int) -> list[PoolNode]:
    """Return nodes whose GPUs are numbered from 0."""
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    return [PoolNode(place, tuple(range(end - sizes[place], end))) for place, end in enumerate(ends)]


def shape(gpus: int, per_node: int = 4) -> Shape:
    """Return so many GPUs on as few nodes as hold them."""
    return Shape(type="gpu", nodes=-(-gpus // per_node), gpus=gpus)


def test_parts_go_to_the_fullest_node_from_the_first_on() -> None:
    """Two pairs and a single share two nodes, the largest placed first."""
    found = place_jobs(numbered(4, 4), 4, {1: shape(1), 2: shape(2), 3: shape(2)}, {})
    assert found == {2: (0, 1), 3: (2, 3), 1: (4,)}


def test_whole_nodes_come_from_the_end() -> None:
    """A node and two nodes leave the first ones to parts."""
    found = place_jobs(numbered(4, 4, 4, 4), 4, {1: shape(4), 2: shape(8), 3: shape(1)}, {})
    assert {job: {gpu // 4 for gpu in gpus} for job, gpus in found.items()} == {2: {2, 3}, 1: {1}, 3: {0}}


def test_who_keeps_its_configuration_keeps_its_gpus() -> None:
    """Jobs that stay are not moved to fill gaps."""
    held = {1: (1,), 2: (6, 7)}
    assert place_jobs(numbered(4, 4), 4, {1: shape(1), 2: shape(2), 3: shape(1)}, held) == {**held, 3: (4,)}


def test_a_node_is_cleared_where_none_is_free() -> None:
    """The node with the most free GPUs is cleared, and who stood there moves."""
    held = {1: (0, 1), 2: (4,)}
    found = place_jobs(numbered(4, 4), 4, {1: shape(2), 2: shape(1), 3: shape(4)}, held)
    assert found == {1: (0, 1), 3: (4, 5, 6, 7), 2: (2,)}


def test_restarting_jobs_move_last() -> None:
    """Where either of two jobs can make room, the one that is not fixed does."""
    held = {1: (0,), 2: (1,), 3: (2,), 4: (4, 5, 6)}
    found = place_jobs(
        numbered(4, 4), 4, {**{job: shape(1) for job in (1, 2, 3)}, 4: shape(3), 5: shape(2)}, held, {1}
    )
    assert found == {1: (0,), 4: (4, 5, 6), 3: (2,), 5: (1, 3), 2: (7,)}


def test_who_fits_nowhere_takes_what_is_left() -> None:
    """Three parts of four GPUs do not fit on two nodes of six; a whole node needs a largest one."""
    found = place_jobs(numbered(6, 6), 6, {job: shape(4, 6) for job in (1, 2, 3)}, {})
    assert found == {1: (0, 1, 2, 3), 2: (6, 7, 8, 9), 3: (4, 5, 10, 11)}
    assert place_jobs(numbered(4, 2), 4, {1: shape(4), 2: shape(2)}, {}) == {1: (0, 1, 2, 3), 2: (4, 5)}
    assert place_jobs(numbered(4, 2, 2), 4, {1: shape(8)}, {}) == {1: tuple(range(8))}


def test_remainders_of_nodes_stand_on_one_further_node() -> None:
    """Six GPUs are a whole node and a part of another one."""
    assert place_jobs(numbered(4, 4), 4, {1: shape(6), 2: shape(2)}, {}) == {1: (0, 1, 4, 5, 6, 7), 2: (2, 3)}


@pytest.mark.parametrize(("sizes", "per_node"), [((1, 2, 4, 8, 12), 4), ((1, 2, 4, 8, 16), 8)])
def test_powers_of_two_always_fit(sizes: Sequence[int], per_node: int) -> None:
    """Whatever jobs come, change and go: configurations within the GPUs are seated, on as few nodes as said."""
    random = Random(per_node)
    for _ in range(cases(400)):
        held: dict[int, tuple[int, ...]] = {}
        for turn in range(5):
            wanted: dict[int, Shape] = {}
            left = 4 * per_node
            for job in [*held, *(10 * turn + place for place in range(random.randint(0, 4)))]:
                count = len(held[job]) if job in held and random.random() < 0.6 else random.choice(sizes)
                if count <= left and random.random() < 0.8:
                    wanted[job] = shape(count, per_node)
                    left -= count
            kept = {job: gpus for job, gpus in held.items() if job in wanted and len(gpus) == wanted[job].gpus}
            held = place_jobs(numbered(*[per_node] * 4), per_node, wanted, kept)
            assert held.keys() == wanted.keys()
            assert len({gpu for gpus in held.values() for gpu in gpus}) == sum(map(len, held.values()))
            for job, gpus in held.items():
                assert (len(gpus), len({gpu // per_node for gpu in gpus})) == (
                    wanted[job].gpus,
                    wanted[job].nodes,
                )


def test_estimates_end_at_the_users_batch() -> None:
    """With the user's batch as the largest a job expects less of more GPUs than with that of its model."""
    seen: dict[str, Mapping[Shape, float]] = {}

    def watching(state: State, batches: Batches) -> Decider:
        estimates = Estimated(NodePool(state.cluster), None, 64, 30.0, {}, batches)

        def decide(state: State) -> Iterable[Action]:
            for each in state.arrived:
                estimates.enter(state, each)
                yield Start(each)
            if state.running and state.now >= 1:
                seen[batches] = estimates.goodputs(state, 0, JobHistory(has_choice=True))
            yield Wake(state.now + 1)

        return doing(decide)(state)

    scenario = learning(job("a", 9, menu=[(count, 1.0) for count in (1, 2, 4)]))
    small = scenario.workload.jobs[0].model_copy(update={"batch_size": 4})
    for batches in ("user", "model"):
        simulate(scenario.model_copy(update={"workload": bundle([small])}), watching, batches=batches)
    best = {batches: max(goodputs.values()) for batches, goodputs in seen.items()}
    assert seen["user"].keys() == seen["model"].keys()
    assert best["user"] < best["model"]
