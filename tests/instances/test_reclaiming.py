"""The generators of reclaiming, replayed traces, and the suites."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, get_args

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.files import write
from gsopt.core.problem import About
from gsopt.problems.reader import read_problem
from gsopt.problems.reclaiming import Reclaiming
from gsopt.scenario.job import Job, Workload
from gsopt.testing import brute_force
from instances import load, names
from instances.reclaiming import churn, figure_5, from_data, random_hypergraph, server_uniform
from instances.reclaiming.best_fit import BestFit
from instances.reclaiming.layout import crowd, eight_gpu_servers, named
from instances.reclaiming.replay import ServerReplay
from instances.reclaiming.snapshots import snapshots
from instances.reclaiming.workers import Mode, draw_worker_size, split
from instances.traces.reading import Reading
from tests.effort import cases
from tests.unwrap import unwrap

MODES = get_args(Mode)


def component_sizes(problem: Reclaiming) -> list[int]:
    """Return the number of servers of every component of the server-job graph, largest first."""
    graph = nx.Graph()
    graph.add_nodes_from(server.name for server in problem.servers)
    for job in problem.jobs:
        nx.add_path(graph, list(job.workers))
    return sorted(map(len, nx.connected_components(graph)), reverse=True)


def largest_span(problem: Reclaiming) -> int:
    """Return the number of servers of the job that is on most of them."""
    return max(len(job.workers) for job in problem.jobs)


@settings(deadline=None, max_examples=cases(60))
@given(
    st.integers(1, 40),
    st.floats(0.05, 1),
    st.sampled_from(MODES),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_the_utilisation_is_reached(
    servers: int, utilisation: float, mode: Mode, elastic_share: float, weighted: bool, seed: int
) -> None:
    """The last job makes the cluster as full as asked; without it the cluster would not be."""
    problem = churn(
        servers=servers,
        demand=servers,
        utilisation=utilisation,
        mode=mode,
        elastic_share=elastic_share,
        weighted=weighted,
        seed=seed,
    )
    used = sum(job.gpus for job in problem.jobs)

    assert utilisation * 8 * servers - 1e-6 <= used <= 8 * servers
    assert used - problem.jobs[-1].gpus < utilisation * 8 * servers + 1e-6


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(3))
def test_a_cluster_of_production_size(mode: Mode, seed: int) -> None:
    """At 520 servers about 550 jobs use 93 to 97 % of the GPUs."""
    problem = churn(mode=mode, seed=seed)

    assert 450 <= len(problem.jobs) <= 720
    assert 0.93 <= sum(job.gpus for job in problem.jobs) / 4160 <= 0.97


def test_components_by_mode() -> None:
    """Packed jobs leave small components, scattered ones a giant component, mixed ones something between."""
    sizes = {mode: [component_sizes(churn(mode=mode, seed=seed)) for seed in range(5)] for mode in MODES}

    assert all(found[0] == 8 and 260 <= len(found) <= 340 for found in sizes["packed"])
    assert 40 <= median(found[0] for found in sizes["mixed"]) <= 140
    assert 240 <= median(found[0] for found in sizes["worker"]) <= 360
    assert max(largest_span(churn(mode="worker", seed=seed)) for seed in range(5)) >= 25


def test_packed_jobs_fill_servers() -> None:
    """In mode packed a job larger than a server has whole servers, a smaller one is on one server."""
    for job in churn(seed=5).jobs:
        assert len(job.workers) == -(-job.gpus // 8)
        assert job.gpus <= 8 or set(job.workers.values()) == {8}


def test_sizes_keep_their_proportions() -> None:
    """Waiting keeps large jobs from being crowded out: sizes come in the proportions they are drawn in."""
    jobs = [job for seed in range(10) for job in churn(seed=seed).jobs]
    expected = {1: 0.38, 2: 0.14, 4: 0.14, 8: 0.18, 16: 0.09, 32: 0.05, 64: 0.02}

    shares = {gpus: sum(job.gpus == gpus for job in jobs) / len(jobs) for gpus in expected}

    assert sum(shares.values()) == pytest.approx(1)
    assert shares == pytest.approx(expected, abs=0.03)


def test_costs_and_flexible_workers_do_not_move_jobs() -> None:
    """The placement is the same for every choice of costs and elasticity."""
    plain = churn(servers=60, mode="worker", seed=3)
    rich = churn(servers=60, mode="worker", weighted=True, elastic_share=0.5, elasticity="fungible", seed=3)

    def placement(problem: Reclaiming) -> list[dict[str, int]]:
        return [{s.name: job.gpus_on(s.name) for s in problem.servers} for job in problem.jobs]

    assert placement(plain) == placement(rich)


def test_half_of_an_elastic_job_is_flexible() -> None:
    """Every job of 4 GPUs or more has as many base GPUs as flexible ones when all are elastic."""
    problem = churn(servers=100, mode="worker", elastic_share=1.0, elasticity="fungible", seed=2)

    assert problem.elasticity == "fungible"
    for job in problem.jobs:
        flexible = sum(job.flexible.values())
        assert flexible == (job.gpus // 2 if job.gpus >= 4 else 0)


def test_elastic_share() -> None:
    """About the share asked for of the jobs with 4 GPUs or more is elastic, and none without."""
    large = [job for job in churn(elastic_share=0.4, seed=1).jobs if job.gpus >= 4]

    assert abs(sum(bool(job.flexible) for job in large) / len(large) - 0.4) < 0.1
    assert not any(job.flexible for job in churn(seed=1).jobs)


def test_costs() -> None:
    """Every cost is 1 without weights; with weights 40 % are, and the others are whole, up to 1000."""
    costs = [job.cost for job in churn(weighted=True, seed=1).jobs]

    assert {job.cost for job in churn(seed=1).jobs} == {1}
    assert all(cost.is_integer() and 1 <= cost <= 1000 for cost in costs)
    assert abs(costs.count(1) / len(costs) - 0.4) < 0.1


@pytest.mark.parametrize(("demand", "preemptions"), list(enumerate([0, 1, 1, 2, 3, 3, 4])))
def test_preemptions_for_every_demand(demand: int, preemptions: int) -> None:
    """The fewest preemptions for 0 to 6 servers are those that can be checked by hand."""
    optimum = unwrap(brute_force(figure_5().model_copy(update={"demand": demand})))

    assert optimum[0] == preemptions


def test_only_the_first_two_servers_preempt_one_job() -> None:
    """Of all pairs only s1 and s2 preempt a single job."""
    problem = figure_5()

    best = [pick.servers for pick in problem.candidates() if problem.objective(pick) == 1]

    assert best == [("s1", "s2")]


@settings(deadline=None, max_examples=cases(60))
@given(st.data(), st.integers(1, 12), st.integers(0, 40), st.integers(0, 10**6))
def test_every_job_spans_the_same_number_of_servers(
    data: st.DataObject, servers: int, jobs: int, seed: int
) -> None:
    """Every job has one GPU on each of `span` servers, and the servers hold them all."""
    span = data.draw(st.integers(1, servers))
    problem = random_hypergraph(servers=servers, jobs=jobs, span=span, demand=servers, seed=seed)

    assert (len(problem.servers), len(problem.jobs), problem.demand) == (servers, jobs, servers)
    assert all(list(job.workers.values()) == [1] * span for job in problem.jobs)
    assert all(server.gpus >= 8 for server in problem.servers)


@settings(deadline=None, max_examples=cases(60))
@given(st.data(), st.integers(1, 12), st.integers(0, 20), st.integers(0, 10**6))
def test_every_server_hosts_the_same_number_of_jobs(
    data: st.DataObject, servers: int, jobs: int, seed: int
) -> None:
    """Every server hosts `degree` jobs, and every job of the instance is hosted."""
    degree = data.draw(st.integers(0, jobs))
    problem = server_uniform(servers=servers, jobs=jobs, degree=degree, demand=servers, seed=seed)
    hosted = [sum(server.name in job.workers for job in problem.jobs) for server in problem.servers]

    assert hosted == [degree] * servers
    assert len(problem.jobs) <= jobs
    assert len({job.name for job in problem.jobs}) == len(problem.jobs)


def test_servers_are_numbered_from_one() -> None:
    """Names count from s1, and every server has eight GPUs."""
    assert [(server.name, server.gpus) for server in eight_gpu_servers(3)] == [("s1", 8), ("s2", 8), ("s3", 8)]


def test_placements_are_named_in_the_order_of_numbers() -> None:
    """Names follow the numbers of the servers, not the order of placement."""
    assert list(named({9: 1, 2: 8}).items()) == [("s3", 8), ("s10", 1)]


def test_crowd_is_the_fullest_server() -> None:
    """GPUs of all placements on one server are added; nothing placed is 0."""
    assert crowd([{0: 4, 1: 2}, {1: 3}, {2: 1}]) == 5
    assert crowd([]) == 0


Jobs = list[tuple[list[int], int]]

#: Jobs by their workers, and after each a number that picks a job to release, or none.
HISTORIES: st.SearchStrategy[Jobs] = st.lists(
    st.tuples(st.lists(st.integers(1, 8), min_size=1, max_size=6), st.integers(0, 9)), max_size=30
)


def plain_best_fit(free: list[int], workers: list[int]) -> dict[int, int] | None:
    """Place workers one by one on the fullest server that holds them."""
    free = list(free)
    placement: dict[int, int] = {}
    for gpus in workers:
        fitting = [server for server, left in enumerate(free) if left >= gpus]
        if not fitting:
            return None
        server = min(fitting, key=lambda server: (free[server], server))
        free[server] -= gpus
        placement[server] = placement.get(server, 0) + gpus
    return placement


@settings(deadline=None, max_examples=cases(200))
@given(st.integers(1, 6), HISTORIES)
def test_placements_are_those_of_a_plain_search(servers: int, history: Jobs) -> None:
    """Through arrivals and departures every placement is the best fit, and free GPUs are kept exactly."""
    cluster = BestFit(servers)
    running: list[dict[int, int]] = []
    for workers, chosen in history:
        expected = plain_best_fit(cluster.free, workers)
        placement = cluster.place(workers)
        assert placement == expected
        if placement is not None:
            running.append(placement)
        if chosen < len(running):
            cluster.release(running.pop(chosen))
        used = [sum(placement.get(server, 0) for placement in running) for server in range(servers)]
        assert cluster.free == [8 - gpus for gpus in used]
        assert cluster.free_gpus == sum(cluster.free)


def test_a_job_that_does_not_fit_leaves_no_trace() -> None:
    """When the last worker does not fit, the first ones are taken back."""
    cluster = BestFit(2)

    assert cluster.place([8, 4, 8]) is None
    assert cluster.free == [8, 8]
    assert cluster.place([8, 8]) == {0: 8, 1: 8}


@pytest.mark.parametrize(
    ("workers", "placement"),
    [
        ([3], {2: 3}),
        ([4], {1: 4}),
        ([2, 2], {2: 2, 1: 2}),
        ([5], {0: 5}),
        ([8], {0: 8}),
        ([3, 3], {2: 3, 1: 3}),
    ],
)
def test_the_fullest_server_that_fits_is_taken(workers: list[int], placement: dict[int, int]) -> None:
    """With 8, 4 and 3 GPUs free, a worker goes where it leaves the fewest."""
    cluster = BestFit(3)
    cluster.place([5, 4])
    cluster.release({0: 5, 1: 4})
    for server, gpus in [(1, 4), (2, 5)]:
        cluster.release({server: -gpus})

    assert cluster.place(workers) == placement


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 8))
def test_a_split_keeps_every_gpu(gpus: int, size: int) -> None:
    """The workers add up to the job, all have the size but perhaps a smaller last one."""
    workers = split(gpus, size)

    assert sum(workers) == gpus
    assert all(worker == size for worker in workers[:-1])
    assert 1 <= workers[-1] <= size


@pytest.mark.parametrize(
    ("mode", "sizes"),
    [("packed", {8}), ("mixed", {1, 2, 4, 8}), ("worker", {1, 2, 4, 8})],
)
def test_worker_sizes_of_a_large_job(mode: Mode, sizes: set[int]) -> None:
    """A large job has workers of 8 GPUs when packed, and of every size otherwise."""
    random = Random(0)

    assert {draw_worker_size(64, mode, random) for _ in range(200)} == sizes


@pytest.mark.parametrize("mode", get_args(Mode))
def test_no_worker_is_larger_than_its_job(mode: Mode) -> None:
    """A worker never has more GPUs than its job."""
    random = Random(0)

    assert all(draw_worker_size(gpus, mode, random) <= gpus for gpus in range(1, 9) for _ in range(20))


def test_a_mixed_workload_packs_four_jobs_of_five() -> None:
    """In mode mixed, 80 % of the jobs are packed, and a quarter of the others happen to be."""
    random = Random(0)
    packed = sum(draw_worker_size(8, "mixed", random) == 8 for _ in range(10_000))

    assert abs(packed - 8500) < 200


ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 15), st.sampled_from([1, 2, 4, 6, 8, 12, 16, 24, 40])),
    max_size=30,
)


def workload(rows: list[tuple[int, int, int]]) -> Workload:
    """Return a workload from release dates, durations and GPUs."""
    return Workload(
        jobs=tuple(
            Job(name=f"j{number}", release_date=release, duration=duration, gpus=gpus)
            for number, (release, duration, gpus) in enumerate(rows)
        )
    )


def plain_replay(jobs: Sequence[Job], servers: int, until: int) -> tuple[dict[str, dict[int, int]], int]:
    """Step through whole seconds: departures, then the whole queue in order, then arrivals."""
    cluster = BestFit(servers)
    running: dict[str, tuple[float, dict[int, int]]] = {}
    queue: list[Job] = []

    def start(candidates: list[Job], now: int) -> list[Job]:
        left = []
        for job in candidates:
            placement = cluster.place(split(job.gpus, min(job.gpus, 8)))
            if placement is None:
                left.append(job)
            else:
                running[job.name] = now + job.duration, placement
        return left

    for now in range(until + 1):
        ended = [name for name, (end, _) in running.items() if end == now]
        for name in ended:
            cluster.release(running.pop(name)[1])
        if ended:
            queue = start(queue, now)
        for job in jobs:
            if job.release_date == now and job.gpus <= 8 * servers:
                queue += start([job], now)
    return {name: placement for name, (_, placement) in running.items()}, len(queue)


@settings(deadline=None, max_examples=cases(200))
@given(ROWS, st.integers(1, 4), st.lists(st.integers(0, 60), min_size=1, max_size=4))
def test_the_replay_is_that_of_a_plain_simulation(
    rows: list[tuple[int, int, int]], servers: int, times: list[int]
) -> None:
    """At every time the same jobs run on the same servers, and as many wait."""
    jobs = workload(rows)
    replay = ServerReplay(jobs, servers)
    for time in sorted(times):
        replay.advance(time)
        assert (replay.running, replay.waiting) == plain_replay(jobs.jobs, servers, time)


@settings(deadline=None, max_examples=cases(60))
@given(ROWS, st.integers(1, 4), st.sampled_from(get_args(Mode)), st.integers(0, 99))
def test_every_job_runs_or_is_left_out(
    rows: list[tuple[int, int, int]], servers: int, mode: Mode, seed: int
) -> None:
    """In the end nothing runs or waits, and exactly the jobs larger than the cluster were left out."""
    jobs = workload(rows)
    replay = ServerReplay(jobs, servers, mode, seed)
    replay.advance(10_000)

    assert (replay.running, replay.waiting) == ({}, 0)
    assert set(replay.left_out) == {job.name for job in jobs.jobs if job.gpus > 8 * servers}


def test_a_large_job_takes_whole_servers_first() -> None:
    """A job of 20 GPUs has two whole servers, and its last 4 GPUs go where they fit best."""
    replay = ServerReplay(workload([(0, 9, 3), (1, 9, 20)]), servers=4)
    replay.advance(1)

    assert replay.running == {"j0": {0: 3}, "j1": {1: 8, 2: 8, 0: 4}}


def test_a_later_job_passes_one_that_does_not_fit() -> None:
    """A job of a whole server waits, a smaller one submitted later starts; the first follows when it fits."""
    replay = ServerReplay(workload([(0, 10, 4), (1, 10, 8), (2, 3, 4)]), servers=1)

    replay.advance(2)
    assert (list(replay.running), replay.waiting) == (["j0", "j2"], 1)
    replay.advance(10)
    assert (list(replay.running), replay.waiting) == (["j1"], 0)


def test_waiting_jobs_start_in_the_order_of_their_arrival() -> None:
    """When room for one job appears, the job that came first gets it, whatever its size."""
    replay = ServerReplay(workload([(0, 10, 8), (1, 9, 6), (2, 9, 8), (3, 9, 2), (4, 9, 1)]), servers=1)
    replay.advance(10)

    assert list(replay.running) == ["j1", "j3"]
    assert replay.waiting == 2


TEN = Workload(
    name="ten",
    source="made up",
    jobs=tuple(Job(name=f"j{number}", release_date=10 * number, duration=25, gpus=4) for number in range(10)),
)


def test_snapshots_at_given_times() -> None:
    """Snapshots come by time, each with the jobs that run then and its place in the series."""
    taken = snapshots(TEN, servers=4, demand=1, times=[200, 30])

    assert [problem.name for problem in taken] == ["ten-1", "ten-2"]
    assert [[job.name for job in problem.jobs] for problem in taken] == [["j1", "j2", "j3"], []]
    for problem, time in zip(taken, (30, 200), strict=True):
        where = f"replayed on 4 servers by best fit, mode packed, at {time} s"
        queue = "0 jobs waiting, 0 larger than the cluster left out"
        assert problem.about == About(source=f"made up; {where}; {queue}", seed=0)


def test_snapshots_are_evenly_spaced() -> None:
    """Without times, snapshots divide the time between first and last release date evenly."""
    expected = snapshots(TEN, servers=4, demand=1, times=[30, 60])

    assert snapshots(TEN, servers=4, demand=1, count=2) == expected


def test_jobs_that_are_too_large_are_counted() -> None:
    """A job larger than the cluster is left out, and the source says so."""
    jobs = (*TEN.jobs, Job(name="large", release_date=5, duration=9, gpus=64))
    (taken,) = snapshots(Workload(jobs=jobs), servers=1, demand=1, times=[30])

    assert unwrap(taken.about).source.endswith("1 jobs waiting, 1 larger than the cluster left out")
    assert taken.name == "snapshot-1"


@settings(deadline=None, max_examples=cases(40, least=14))
@given(st.integers(1, 30), st.sampled_from(["packed", "mixed", "worker"]), st.integers(0, 99))
def test_jobs_keep_their_gpus(servers: int, mode: Any, seed: int) -> None:
    """Every running job has all its GPUs, and the same seed gives the same instances."""
    gpus = [1, 2, 4, 8, 12, 16, 24, 64]
    jobs = tuple(
        Job(name=f"j{number}", release_date=number, duration=20, gpus=gpus[number * 5 % 8])
        for number in range(60)
    )
    taken = snapshots(Workload(jobs=jobs), servers=servers, demand=1, count=4, mode=mode, seed=seed)

    wanted = {job.name: job.gpus for job in jobs}
    assert all(job.gpus == wanted[job.name] for problem in taken for job in problem.jobs)
    again = snapshots(Workload(jobs=jobs), servers=servers, demand=1, count=4, mode=mode, seed=seed)
    assert taken == again


def test_an_empty_workload_needs_times() -> None:
    """A workload without jobs has no first release date to space snapshots from."""
    with pytest.raises(InvalidInput, match="workload: empty: must have jobs, or times must be given"):
        snapshots(Workload(name="empty", jobs=()))
    assert snapshots(Workload(jobs=()), times=[0])[0].jobs == ()


def test_the_real_traces_fit_520_servers(whole_philly: Reading, whole_itp: Reading) -> None:
    """Both traces run on 520 servers with no job left out, and keep some of the cluster busy."""
    for workload in (whole_philly.workload, whole_itp.workload):
        for problem in snapshots(workload):
            assert unwrap(problem.about).source.endswith("0 larger than the cluster left out")
            assert problem.jobs


def test_instances_from_the_real_traces(traces: Path, tmp_path: Path) -> None:
    """There are twelve valid instances of busy clusters, under names of their own."""
    problems = list(from_data(traces))

    assert len({problem.name for problem in problems}) == 12
    for problem in problems:
        used, held = problem.used_gpus.total(), 8 * len(problem.servers)
        assert 0.5 <= used / held <= 1, problem.name
        assert problem.demand > 0
        write(problem, tmp_path / "a.json")
        assert read_problem(tmp_path / "a.json") == problem


TINY = ["reclaiming/aryl-figure-5", *names("reclaiming/small/")]


def optimum(name: str) -> float:
    """Return the optimum that a file carries."""
    return float(unwrap(unwrap(load(name).about).objective))


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show that each variant of the problem changes the optimum."""
    objective = {name.rpartition("/")[2]: optimum(name) for name in TINY}

    assert objective["fungible"] < objective["tagged"]
    assert objective["fungible-weighted"] < objective["tagged-weighted"]
    assert objective["collateral-fungible"] < objective["collateral-tagged"]
    assert objective["demand-0"] == objective["no-jobs"] == 0
    assert objective["weighted-fractions"] == 0.75


def test_the_production_suite() -> None:
    """Three modes and four demands at 520 servers."""
    expected = [
        f"reclaiming/production/{mode}-{demand}"
        for mode in ("mixed", "packed", "worker")
        for demand in ("020", "060", "150", "300")
    ]

    assert expected == names("reclaiming/production/")
    for name in expected:
        problem = load(name)
        assert isinstance(problem, Reclaiming)
        assert (len(problem.servers), problem.demand) == (520, int(name[-3:]))
