"""Scenarios of Aryl, small and made up, and at the paper's scale from the public traces."""

import gzip
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Machine
from gsopt.scenario.events import Leave, Loan, Reclaim
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from instances.scenarios import aryl
from instances.scenarios.aryl import inference_demand
from instances.scenarios.demand import InferenceDemand, made_up_demand, public_demand
from instances.scenarios.kinds import INFERENCE, INFERENCE_MODE, TRAINING, KindShares
from instances.scenarios.lending import lending
from instances.scenarios.overlaid import LOAD, made_up_workload, overlaid_workload
from instances.traces.inference import DUTY_CYCLES, INSTANCES
from instances.traces.itp import FILE
from instances.traces.reading import Reading
from tests.instances.traces.samples import packed


def small(**options: Any) -> Scenario:
    """Return two clusters of eight servers for a day."""
    return aryl(**{"days": 1, "servers": 8, "inference_servers": 8, **options})


def away(scenario: Scenario) -> tuple[str, ...]:
    """Return the machines that are away at the beginning."""
    first = scenario.events[0]
    assert isinstance(first, Leave)
    return tuple(first.servers)


def test_inference_servers_come_last() -> None:
    """The cluster has a rack of each type, and only servers of the inference cluster are ever away."""
    scenario = small()
    later = scenario.events[1:]

    assert [machine.gpu_type for machine in scenario.cluster.machines] == [TRAINING] * 8 + [INFERENCE] * 8
    assert set(away(scenario)) <= {machine.name for machine in scenario.cluster.machines[8:]}
    assert all(isinstance(event, Loan | Reclaim) and event.gpu_type == INFERENCE for event in later)
    assert scenario.speed.gpu_types == {INFERENCE: 3.0}
    assert scenario.overheads[""].stop == 63


def test_without_loaning_there_is_one_cluster() -> None:
    """Nothing happens then, and the jobs are those of the scenario with loaning."""
    alone, both = small(loaning=False), small()

    assert {machine.gpu_type for machine in alone.cluster.machines} == {TRAINING}
    assert alone.events == ()
    assert [(job.name, job.duration, job.menu) for job in alone.workload.jobs] == [
        (job.name, job.duration, job.menu) for job in both.workload.jobs
    ]


@pytest.mark.parametrize(
    ("support", "elastic", "heterogeneous", "mixed"),
    [("basic", 0.05, 0.0, 1.0), ("advanced", 0.05, 0.1, 1 / 0.7), ("ideal", 1.0, 1.0, 1.0)],
)
def test_support_says_which_jobs_are_flexible(
    support: Any, elastic: float, heterogeneous: float, mixed: float
) -> None:
    """The shares of elastic and heterogeneous jobs, and the loss of the latter, are the paper's."""
    scenario = small(support=support)
    jobs = scenario.workload.jobs

    assert sum(bool(job.menu) for job in jobs) == round(elastic * len(jobs))
    assert sum(not job.gpu_type for job in jobs) == round(heterogeneous * len(jobs))
    assert scenario.speed.mixed == mixed


def test_options_go_before_the_support() -> None:
    """Shares and loss can be given; the demand of the inference cluster is that of its own maker."""
    scenario = small(support="advanced", elastic=0.5, heterogeneous=0.2, mixed=1.0, slower=4.0)
    jobs = scenario.workload.jobs

    assert sum(bool(job.menu) for job in jobs) == round(0.5 * len(jobs))
    assert sum(not job.gpu_type for job in jobs) == round(0.2 * len(jobs))
    assert (scenario.speed.mixed, scenario.speed.gpu_types[INFERENCE]) == (1.0, 4.0)
    assert inference_demand(days=1, inference_servers=8).gpus == 64


def test_headroom_is_kept() -> None:
    """One server more is away at the beginning."""
    assert len(away(small(headroom=1))) == len(away(small())) + 1


def test_the_testbed_of_the_paper() -> None:
    """Four servers of each kind, 180 jobs for 8 hours with 10 elastic ones, none larger than 16 GPUs."""
    testbed: dict[str, Any] = {"days": 8 / 24, "servers": 4, "inference_servers": 4, "begin": 20.0}
    scenario = aryl(jobs=180, elastic=10 / 180, load=None, shortest=120, longest=7200, **testbed)
    jobs = scenario.workload.jobs

    assert (len(jobs), sum(bool(job.menu) for job in jobs)) == (180, 10)
    assert max(job.gpus for job in jobs) <= 16
    assert all(120 <= job.duration <= 7200 and job.release_date <= 8 * 3600 for job in jobs)


def test_jobs_and_demand_come_of_the_public_traces(tmp_path: Path) -> None:
    """A folder of all traces gives the jobs and the demand, and its files are those that are read."""
    for place, data in [
        (FILE, packed(cluster01_csv="job_id,submission_time,duration,num_gpu\na,0,600,1\nb,1000000,600,2\n")),
        (INSTANCES, b"instance_sn,gpu_request\ni1,5\n"),
        (DUTY_CYCLES, packed(duty_csv="value,timestamp_anon\n1,0\n9,40000\n")),
    ]:
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_bytes(gzip.compress(data))

    scenario = small(path=tmp_path, inference_servers=4)
    assert [job.name for job in scenario.workload.jobs] == ["a-b"]
    assert {event.event for event in scenario.events} == {"leave", "loan", "reclaim"}
    assert inference_demand(tmp_path, days=2, inference_servers=4).peak == pytest.approx(0.95, abs=0.02)


def test_a_curve_has_the_facts_of_the_paper() -> None:
    """Mean, peak and the ratio of peak to trough of a day are those of Aryl, but for rounding to GPUs."""
    demand = made_up_demand()

    assert len(demand.busy) == 15 * 288
    assert demand.mean == pytest.approx(0.65, abs=1e-3)
    assert demand.peak == pytest.approx(0.95, abs=2e-3)
    assert demand.peak_to_trough == pytest.approx(2.2, abs=0.02)


def test_the_public_curve_has_the_facts_of_the_paper(traces: Path) -> None:
    """The curve of the public traces has them too, and never falls below the day's trough."""
    demand = public_demand(traces)

    assert demand.mean == pytest.approx(0.65, abs=1e-3)
    assert demand.peak_to_trough == pytest.approx(2.2, abs=0.02)
    assert 0.94 < demand.peak <= 0.95
    assert min(demand.busy) >= 0.9 * demand.peak / 2.2 * demand.gpus


def test_other_facts_are_met() -> None:
    """Any mean between trough and peak can be asked for."""
    demand = made_up_demand(days=3, gpus=100_000, mean=0.35, peak=0.8, peak_to_trough=4)

    assert demand.mean == pytest.approx(0.35, abs=1e-4)
    assert demand.peak == pytest.approx(0.8, abs=2e-3)  # between two steps of the level


def test_a_later_beginning_cuts_the_curve() -> None:
    """A curve that begins hours later is the rest of the same days."""
    whole = made_up_demand(days=1, seed=3)

    assert made_up_demand(days=0.5, begin=12, seed=3).busy == whole.busy[144:]


def test_the_most_of_a_time() -> None:
    """The largest value of the steps that a time touches counts, and the last one holds on."""
    demand = InferenceDemand(step=300, busy=(3, 9, 4), gpus=10)
    times = [(0, 300), (0, 301), (299, 600), (600, 900), (5000, 6000)]

    assert [demand.most(begin, end) for begin, end in times] == [3, 9, 9, 4, 4]


JOBS = made_up_workload(days=3, gpus=256, seed=2).jobs


def given(*, training: int = 256, inference: int = 256, seed: int = 0, **shares: Any) -> tuple[Job, ...]:
    """Return the jobs with kinds."""
    return KindShares(**shares).given(JOBS, training=training, inference=inference, seed=seed)


def elastic(jobs: tuple[Job, ...]) -> set[str]:
    """Return the names of the jobs with a menu."""
    return {job.name for job in jobs if job.menu}


def undemanding(jobs: tuple[Job, ...]) -> set[str]:
    """Return the names of the jobs that run on either cluster."""
    return {job.name for job in jobs if job.modes}


def test_shares_are_exact_and_nested() -> None:
    """So many of the jobs are of a kind, and more of them hold the fewer."""
    some, more = given(elastic=0.25, either=0.2), given(elastic=0.5, either=0.4)

    assert len(undemanding(more)) == round(0.4 * len(JOBS))
    assert elastic(some) < elastic(more)
    assert undemanding(some) < undemanding(more)
    assert sum(not job.gpu_type for job in given(heterogeneous=0.3)) == round(0.3 * len(JOBS))
    assert sum(job.checkpoints for job in given(checkpoints=0.6)) == round(0.6 * len(JOBS))


def test_large_jobs_are_the_first_to_be_elastic() -> None:
    """A small share of elastic jobs is drawn among those with four GPUs or more."""
    drawn = elastic(given(elastic=0.05))

    assert drawn <= {job.name for job in JOBS if job.gpus >= 4}
    assert len(drawn) == round(0.05 * len(JOBS))


def test_the_seed_draws_other_jobs() -> None:
    """Another seed gives others of each kind."""
    assert undemanding(given(seed=1)) != undemanding(given())


def test_without_inference_all_jobs_are_for_training() -> None:
    """Where there are no inference GPUs no job has a way to run there, and kinds are drawn as before."""
    jobs = given(inference=0, heterogeneous=0.5)

    assert {job.gpu_type for job in jobs} == {TRAINING}
    assert not undemanding(jobs)
    assert elastic(jobs) == elastic(given())


def test_a_job_of_either_cluster_has_a_mode_for_each() -> None:
    """Both modes have the same counts and speeds; one that exceeds the inference cluster has one mode."""
    for job in given(either=1.0, inference=4):
        assert job.gpu_type == TRAINING
        assert bool(job.modes) is (job.gpus <= 4)
        for mode in job.modes:
            assert (mode.name, mode.gpu_type) == (INFERENCE_MODE, INFERENCE)
            assert dict(mode.menu) == {count: job.speed(count) for count in job.counts if count <= 4}


def test_a_normalised_demand_is_as_fast_on_more_gpus() -> None:
    """Three GPUs of the inference cluster stand for one: counts and speeds are three times those."""
    for job in given(either=1.0, elastic=1.0, normalised=3, inference=24):
        for mode in job.modes:
            assert dict(mode.menu) == {3 * k: 3 * job.speed(k) for k in job.counts if 3 * k <= 24}


@pytest.mark.parametrize(
    ("options", "demand", "menu"),
    [
        ({}, 1, {1: 1, 2: 2}),
        ({}, 2, {2: 1, 4: 2}),
        ({"worker_gpus": 8}, 8, {8: 1, 16: 2}),
        ({"worker_gpus": 8}, 64, {count: count / 64 for count in range(64, 129, 8)}),
        ({"reach": "below"}, 8, {4: 0.5, 6: 0.75, 8: 1}),
        ({"reach": "below"}, 6, {4: 2 / 3, 6: 1}),
        ({"reach": "below"}, 1, {}),  # half of one worker is one
        ({"scaling": "imperfect"}, 1, {1: 1, 2: 1.8}),
        ({"scaling": "imperfect"}, 4, {4: 1, 6: 1.5, 8: 1.8}),
    ],
)
def test_menus(options: dict[str, Any], demand: int, menu: dict[int, float]) -> None:
    """Ranges, worker sizes and scaling give the counts and speeds that they say, the demand at speed 1."""
    assert dict(KindShares(**options).menu(demand, 256)) == pytest.approx(menu)


@pytest.mark.parametrize("name", ["worker_gpus", "normalised"])
def test_numbers_of_gpus_are_positive(name: str) -> None:
    """Workers have at least one GPU, and a GPU is replaced by at least one."""
    options: dict[str, Any] = {name: 0}
    with pytest.raises(InvalidInput, match=f"{name}: 0: must be at least 1"):
        KindShares(**options).check()


def test_no_count_exceeds_the_cluster() -> None:
    """A range ends where the cluster does, and what leaves one count is no range."""
    assert [count for count, _ in KindShares().menu(8, 13)] == [8, 10, 12]
    assert KindShares().menu(8, 9) == ()


def test_imperfect_scaling_leaves_out_what_is_no_faster() -> None:
    """Speeds rise along the menu, so a range of many workers ends before its speeds fall."""
    menu = KindShares(scaling="imperfect").menu(64, 256)

    assert all(low < high for (_, low), (_, high) in pairwise(menu))
    assert menu[0] == (64, 1.0)
    assert menu[-1][0] < 128


def machines(number: int) -> list[Machine]:
    """Return inference servers of 8 GPUs."""
    return [Machine(name=f"s{each}", gpus=8, gpu_type="T4") for each in range(number)]


def test_what_is_needed_is_there_in_time() -> None:
    """At every step, with all requests met at their deadlines, as many machines are kept as demand fills."""
    demand = made_up_demand(days=2, gpus=320, seed=5)
    events = lending(demand, machines(40), interval=600, headroom=1)
    changes = [
        (event.time, len(event.servers))
        if isinstance(event, Leave)
        else (event.deadline, event.servers or 0)
        if isinstance(event, Reclaim)
        else (event.time, -(event.servers if isinstance(event, Loan) else 0))
        for event in events
    ]
    times = [place * demand.step for place in range(len(demand.busy))]
    kept = [sum(change for when, change in changes if when <= time) for time in times]
    needed = [-(-busy // 8) + 1 for busy in demand.busy]

    assert all(40 >= away >= least for away, least in zip(kept, needed, strict=True))
    assert max(away - least for away, least in zip(kept, needed, strict=True)) < 5


def test_an_interval_has_one_event() -> None:
    """Machines are lent or asked back at an interval's beginning, and requests end with the interval."""
    events = lending(made_up_demand(days=1, gpus=320), machines(40))

    assert all(early.time < late.time for early, late in pairwise(events))
    assert all(event.deadline == event.time + 300 for event in events if isinstance(event, Reclaim))
    assert {event.event for event in events} == {"leave", "loan", "reclaim"}


def test_all_machines_can_be_lent() -> None:
    """Without demand nothing is away, and nothing happens."""
    assert lending(InferenceDemand(300, (0, 0), 16), machines(2)) == ()


DAY = 86_400


#: A job a day for twenty days, of 1, 2 and 8 GPUs in turn.
TRACE = Workload(
    source="a made-up trace",
    jobs=[
        Job(name=f"j{day}", release_date=day * DAY, duration=1000 + day, gpus=(1, 2, 8)[day % 3])
        for day in range(20)
    ],
)


def test_windows_lie_over_each_other() -> None:
    """Jobs of both windows begin at second 0 of their own, and one of both is there twice."""
    workload = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=None, first_days=(4, 6))

    assert [(job.name, job.release_date / DAY, job.duration, job.gpus) for job in workload.jobs] == [
        ("a-j4", 0, 1004, 2),
        ("b-j6", 0, 1006, 1),
        ("a-j5", 1, 1005, 8),
        ("b-j7", 1, 1007, 2),
        ("a-j6", 2, 1006, 1),
        ("b-j8", 2, 1008, 8),
    ]


def test_jobs_larger_than_half_of_the_cluster_are_left_out() -> None:
    """On 15 GPUs no job has 8, and a sample has as many jobs as asked for."""
    workload = overlaid_workload(TRACE, days=9, gpus=15, jobs=7, first_days=(0, 9))

    assert len(workload.jobs) == 7
    assert {job.gpus for job in workload.jobs} == {1, 2}


def test_durations_are_stretched_to_the_load() -> None:
    """All durations grow by one factor, to the GPU time that the load is of what is there."""
    recorded = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=None, first_days=(4, 6))
    stretched = overlaid_workload(TRACE, days=3, gpus=16, jobs=99, load=0.5, first_days=(4, 6))
    pairs = zip(stretched.jobs, recorded.jobs, strict=True)
    factors = [long.duration / short.duration for long, short in pairs]

    assert stretched.gpu_hours == pytest.approx(0.5 * 16 * 3 * 24)
    assert factors == pytest.approx([factors[0]] * len(factors))
    assert "to load 0.5 of 16 GPUs" in stretched.source


def test_the_paper_s_size_comes_of_the_real_trace(whole_itp: Reading) -> None:
    """The default windows have about the jobs, GPU time per job, and durations of Aryl's trace."""
    workload = overlaid_workload(whole_itp.workload, load=None)
    per_job = workload.gpu_hours * 3600 / len(workload.jobs)

    assert abs(len(workload.jobs) - 50_390) < 300
    assert workload.jobs[-1].release_date <= 15 * DAY
    assert per_job == pytest.approx(0.72 * 3544 * 15 * DAY / 50_390, rel=0.1)  # by the paper's Table 5
    assert fmean(job.duration for job in workload.jobs) == pytest.approx(16_610 - 3_072, rel=0.15)


def test_made_up_workloads_have_the_size_and_the_load() -> None:
    """As many jobs per GPU and day as in the paper arrive within the days, the same for the same seed."""
    workload = made_up_workload(days=2, gpus=64, seed=4)

    assert len(workload.jobs) == round(50_390 / (15 * 443) * 2 * 8)
    assert all(0 <= job.release_date <= 2 * DAY for job in workload.jobs)
    assert max(job.gpus for job in workload.jobs) <= 32
    assert workload.gpu_hours == pytest.approx(LOAD * 64 * 48)
    assert workload == made_up_workload(days=2, gpus=64, seed=4)
    assert workload != made_up_workload(days=2, gpus=64, seed=5)


def test_durations_are_limited_before_they_are_stretched() -> None:
    """Without a load, no duration is outside of its limits."""
    workload = made_up_workload(days=1, gpus=64, load=None, shortest=900, longest=7200)
    durations = [job.duration for job in workload.jobs]

    assert (min(durations), max(durations)) == (900, 7200)


def test_windows_without_jobs_are_refused() -> None:
    """A trace that ends before the windows begin has no workload to give, and no window begins before it."""
    with pytest.raises(InvalidInput, match="jobs: 0: must be at least 1"):
        overlaid_workload(TRACE, first_days=(40, 50))
    with pytest.raises(InvalidInput, match="first_days"):
        overlaid_workload(TRACE, first_days=(-1, 5))


def checked_kinds(**options: Any) -> None:
    """Check kinds of jobs."""
    KindShares(**options).check()


def lent(**options: int) -> None:
    """Lend two machines for which there is no demand."""
    lending(InferenceDemand(300, (0, 0), 16), machines(2), **options)


@pytest.mark.parametrize(
    ("maker", "options", "line"),
    [
        (small, {"support": "none"}, "support: 'none': must be one of basic, advanced, ideal"),
        (small, {"servers": 0}, "servers: 0: must be at least 1"),
        (small, {"inference_servers": 0}, "inference_servers: 0: must be at least 1"),
        (small, {"servers": 10**9}, "servers: 1000000000: must be at least 1 and at most 100,000"),
        (
            small,
            {"inference_servers": 10**9},
            "inference_servers: 1000000000: must be at least 1 and at most 100,000",
        ),
        (small, {"slower": 0.5}, "slower: 0.5: must be at least 1 and at most 1,000,000"),
        (small, {"overhead": -1.0}, "overhead: -1.0: must be at least 0"),
        (
            small,
            {"normalised": True, "slower": 2.5},
            "slower: 2.5: must be a whole number where demands are normal",
        ),
        (small, {"elastic": 2.0}, "elastic: 2.0: must be between 0 and 1"),
        (small, {"load": -1.0}, "load: -1.0: must be between 0.001 and 1000"),
        (small, {"mean": 0.99}, "mean: 0.99: must be between 0.4"),
        (small, {"interval": 0}, "interval: 0: must be at least 1 second"),
        (
            made_up_demand,
            {"days": 0},
            "days: 0: must be more than 0 and at most 31, as many as the traces have",
        ),
        (made_up_demand, {"gpus": 0}, "gpus: 0: must be at least 1"),
        (made_up_demand, {"begin": 25}, "begin: 25: must be an hour between 0 and 24"),
        (made_up_demand, {"peak": 1.5}, "peak: 1.5: must be more than 0 and at most 1"),
        (made_up_demand, {"peak_to_trough": 0.5}, "peak_to_trough: 0.5: must be at least 1"),
        (made_up_demand, {"mean": 0.3}, "mean: 0.3: must be between 0.4"),  # below the trough
        (checked_kinds, {"elastic": 1.5}, "elastic: 1.5: must be between 0 and 1"),
        (checked_kinds, {"either": -0.1}, "either: -0.1: must be between 0 and 1"),
        (checked_kinds, {"worker_gpus": 0}, "worker_gpus: 0: must be at least 1"),
        (checked_kinds, {"reach": "beside"}, "reach: 'beside': must be above or below"),
        (checked_kinds, {"scaling": "cubic"}, "scaling: 'cubic': must be linear or imperfect"),
        (lent, {"interval": 0}, "interval: 0: must be at least 1 second"),
        (lent, {"headroom": 3}, "headroom: 3: must be between 0 and 2"),
        (made_up_workload, {"days": 32}, "days: 32: must be more than 0 and at most 31"),
        (made_up_workload, {"gpus": 0}, "gpus: 0: must be at least 1"),
        (made_up_workload, {"jobs": 0}, "jobs: 0: must be at least 1"),
        (made_up_workload, {"jobs": 10**12}, "jobs: 1000000000000: must be at least 1 and at most 1,000,000"),
        (made_up_workload, {"longest": 0}, "longest: 0: must be between 1e-09 and 1e+12"),
        (made_up_workload, {"load": 0}, "load: 0: must be between 0.001 and 1000"),
        (
            made_up_workload,
            {"shortest": 9, "longest": 8},
            "shortest: 9: must be more than 0 and at most longest, 8 s",
        ),
    ],
)
def test_an_option_out_of_its_range_is_one_line(
    maker: Callable[..., object], options: dict[str, Any], line: str
) -> None:
    """Every option is refused by name, value and rule."""
    with pytest.raises(InvalidInput) as refused:
        maker(**options)
    assert str(refused.value).startswith(line)
