"""Figures and their benefit: what is computed of completions."""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from gsopt.core.errors import Contradiction, Unsupported
from gsopt.performance.colocation import Pair
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Phase, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.benefit import sharing_benefits
from gsopt.schedule.figures import FIGURES, Record, figure_of, percentile
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from heuristics.policies import fifo
from tests.gsopt.simulation.adaptive import APPLICATION
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle


def record(**changes: Any) -> Record:
    """Return a record of two jobs, released at 0 and 1, of 4 and 1 s; the second is done first."""
    told: dict[str, Any] = {
        "release_dates": (0, 1),
        "durations": (4, 1),
        "completion_times": (Fraction(6), Fraction(2)),
        "queueing": (Fraction(2), Fraction(0)),
        "communication": (Fraction(1), Fraction(0)),
        "epochs": (Fraction(3), Fraction(2)),
        "fairness": (Fraction(3, 2), Fraction(1)),
        "gps_fairness": (Fraction(3), Fraction(2)),
        "demands": (9, 8),
        "deadlines": (7, 1),
        "priorities": (1, 5),
        "gpu_seconds": Fraction(9),
        "shared_gpu_seconds": Fraction(3),
        "lost_gpu_seconds": Fraction(2),
        "used": Fraction(9),
        "there": Fraction(12),
        "preemptions": 1,
        "resizes": 3,
        "bound": Fraction(3),
    }
    return Record(**{**told, **changes})


def test_figures_by_hand() -> None:
    """Every figure of two jobs is as computed by hand, and the table has them all."""
    expected = {
        "jobs": 2,
        "completed": 2,
        "mean_jct": 3.5,
        "median_jct": 3.5,
        "p95_jct": 6,
        "p99_jct": 6,
        "makespan": 6,
        "mean_queueing": 1,
        "median_queueing": 1,
        "p95_queueing": 2,
        "p99_queueing": 2,
        "mean_execution": 2.5,
        "mean_jct_small": 1,
        "mean_jct_large": 6,
        "mean_jct_highest": 1,
        "mean_jct_others": 6,
        "mean_queueing_small": 0,
        "mean_queueing_large": 2,
        "mean_communication": 0.5,
        "mean_epochs": 2.5,
        "mean_slowdown": 1,  # both are shorter than 10 s
        "deadlines_kept": 0.5,
        "utilisation": 0.75,
        "sharing": 1 / 3,
        "unfair_fraction": 0.5,
        "worst_fairness": 1.5,
        "gps_unfair_fraction": 1.0,
        "gps_worst_fairness": 3,
        "preemptions": 1,
        "preemptions_per_job": 0.5,
        "resizes": 3,
        "gpu_hours": 9 / 3600,
        "lost_gpu_hours": 2 / 3600,
        "lower_bound": 3,
        "gap": 1 / 6,
    }
    assert record().as_dict() == expected


def test_slowdown_is_bounded_on_both_sides() -> None:
    """A duration counts as 10 s at least, and no job is slowed down by less than 1."""
    longer = {"durations": (4, 20), "completion_times": (Fraction(30), Fraction(11))}
    assert record(**longer).mean_slowdown == (Fraction(30, 10) + 1) / 2
    assert record(**longer, release_dates=(0, -39)).mean_slowdown == (Fraction(30, 10) + Fraction(50, 20)) / 2


def test_the_median_is_of_the_completed_jobs() -> None:
    """Of three job completion times, and times without GPUs, it is the one in the middle."""
    times = {"release_dates": (0, 0, 0, 0), "completion_times": (9.0, None, 1.0, 2.0), "durations": (1,) * 4}
    assert record(**times, bound=None).median_jct == 2
    assert record(**times, bound=None, queueing=(5.0, 0.0, 1.0)).median_queueing == 1


def test_percentiles_are_values_that_so_many_do_not_exceed() -> None:
    """Of the numbers from 1 to 100 the 95th is exceeded by five and the 99th by one."""
    hundred = tuple(map(float, range(1, 101)))
    many = record(release_dates=(0,) * 100, completion_times=hundred, queueing=hundred[::-1], bound=None)

    assert (many.p95_jct, many.p99_jct, many.p95_queueing, many.p99_queueing) == (95, 99, 95, 99)


@given(some.lists(some.floats(0.1, 1e6), min_size=1), some.floats(0, 100))
@example([1, 2, 3], 0)
def test_percentiles_are_the_smallest_values_that_do(values: list[float], percent: float) -> None:
    """At least the share of the values is no larger, and no smaller value has that property."""
    found = percentile(values, percent)
    at_most = sum(value <= found for value in values)
    assert found in values
    assert at_most * 100 >= percent * len(values) - 1e-6
    below = [value for value in values if value < found]
    assert not below or sum(value <= max(below) for value in values) * 100 < percent * len(values) + 1e-6


def test_a_record_without_completions_has_no_means() -> None:
    """Where nothing completes there is no mean, no bound on one, and no gap; what was counted stays."""
    none = dict.fromkeys(("queueing", "communication", "epochs", "fairness", "gps_fairness"), ())
    found = record(completion_times=(None, None), there=0, bound=None, **none).held_against(3, 0).as_dict()
    numbers = {key for key, value in found.items() if value is not None}
    counts = {"jobs", "completed", "preemptions", "resizes"}
    assert numbers == {*counts, "deadlines_kept", "sharing", "gpu_hours", "lost_gpu_hours"}
    assert (found["jobs"], found["completed"]) == (2, 0)


def test_sizes_are_told_by_the_demand_of_the_completed_jobs() -> None:
    """A job that does not complete counts in no mean, and without demands nothing is large or small."""
    times = {"release_dates": (0, 0, 0), "durations": (1,) * 3, "completion_times": (None, 4.0, 2.0)}
    some = record(**times, queueing=(3.0, 1.0), demands=(1, 16, 64), bound=None)
    unknown = record(**times, queueing=(3.0, 1.0), demands=(), bound=None)

    assert (some.mean_jct_large, some.mean_queueing_large) == (3, 2)
    assert (some.mean_jct_small, some.mean_queueing_small) == (None, None)
    assert (unknown.mean_jct_small, unknown.mean_jct_large) == (None, None)


def test_priorities_count_only_if_they_differ() -> None:
    """The highest priority is that of all jobs, and a mean is over the completed ones that have it."""
    times = {"release_dates": (0, 0, 0), "durations": (1,) * 3, "completion_times": (None, 4.0, 2.0)}
    found = [record(**times, priorities=given, bound=None) for given in [(3, 1, 2), (0, 2, 2), (1, 1, 1), ()]]
    means = [(each.mean_jct_highest, each.mean_jct_others) for each in found]
    assert means == [(None, 3), (3, None), (None, None), (None, None)]


def test_only_deadlines_that_there_are_count() -> None:
    """A job without a deadline is neither in time nor late, and one that never completes is late."""
    times = {"release_dates": (0, 0, 0), "durations": (1,) * 3, "completion_times": (None, 4.0, 2.0)}
    found = [record(**times, deadlines=due).deadlines_kept for due in [(5, None, 2.0), (None,) * 3, ()]]
    assert found == [0.5, None, None]


def test_nothing_is_shared_where_nothing_is_held() -> None:
    """Without GPU time in use there is no share of it."""
    assert record(gpu_seconds=Fraction(0), shared_gpu_seconds=Fraction(0)).sharing is None


def test_a_bound_says_nothing_of_some_of_the_jobs() -> None:
    """While a job is not complete the mean is over others than the bound."""
    done = {"completion_times": (None, Fraction(2)), "queueing": (0,), "fairness": (1,), "gps_fairness": (2,)}
    some = record(bound=None, **done).held_against(1, 0)
    assert (some.completed, some.mean_jct, some.lower_bound, some.gap) == (1, 1, None, None)


def test_a_bound_is_held_against_the_mean() -> None:
    """A bound above the mean is the mean where rounding explains it, and else a contradiction."""
    assert record(bound=None).held_against(Fraction(7, 4), 0).gap == 1
    assert record(bound=None).held_against(Fraction(36, 10), 0.2).bound == Fraction(7, 2)
    with pytest.raises(Contradiction, match=r"the schedule found 3.5, better than the bound 3.6"):
        record(bound=None).held_against(Fraction(36, 10), 0.05)


def test_no_two_figures_share_a_name() -> None:
    """Keys and labels are unique, so that no table has two columns for one figure."""
    for names in ([each.key for each in FIGURES], [each.label for each in FIGURES]):
        assert max(Counter(names).values()) == 1
    assert all(figure_of(each.key) is each for each in FIGURES)


def test_deadlines_are_kept_on_any_clock() -> None:
    """A job that completes at its deadline keeps it and one that does later does not, whatever the date."""
    for date, due in [(0.0, 0.3), (1_700_000_000.1, 1_700_000_000.4)]:
        jobs = [Job(name=name, release_date=date, duration=0.3, gpus=1, deadline=due) for name in "ab"]
        scenario = Scenario(workload=bundle(jobs), cluster=Cluster.plain(1))
        run = replay(scenario, fifo, record=True)
        assert run.metrics.deadlines_kept == judge(schedule_of(run), scenario).deadlines_kept == 0.5
        assert run.metrics.deadlines == (due, due)


def scenario(*jobs: tuple[str, float, float, int], gpus: int = 2, **physics: Any) -> Scenario:
    """Make jobs by name, release date, duration and GPUs on one machine, three times as slow beside another."""
    made = [Job(name=n, release_date=r, duration=d, gpus=g, model=n) for n, r, d, g in jobs]
    given = {"speed": Speed(default_interference=3.0), "share_limit": 2, **physics}
    return Scenario(workload=Workload(jobs=made), cluster=Cluster.uniform(machines=1, gpus=gpus), **given)


def test_other_gpus_may_be_free_before_the_partner_is_done() -> None:
    """Beside a job of 10 s the new one takes 3 s; it would wait for 1 s for another GPU, and be done at 2 s."""
    given = scenario(("a", 0, 10, 1), ("b", 0, 1, 1), ("c", 0, 1, 1))
    ran = Schedule((Segment("a", 0, 12, 1, (0,)), Segment("b", 0, 1, 1, (1,)), Segment("c", 0, 3, 1, (0,))))

    assert sharing_benefits(ran, given) == {"c": pytest.approx(2 / 3)}


def test_whoever_comes_later_does_not_count() -> None:
    """The new job is alone with its partner, even if a third comes to it; time before its start counts."""
    given = scenario(("a", 0, 10, 1), ("b", 1, 2, 2), ("c", 3, 1, 1))
    ran = Schedule((Segment("a", 0, 16, 1, (0,)), Segment("b", 2, 8, 2, (0, 1)), Segment("c", 3, 6, 1, (1,))))
    found = sharing_benefits(ran, given)

    assert found["b"] == pytest.approx((10 + 2 - 1) / (8 - 1))
    assert found.keys() == {"b", "c"}


def test_who_starts_on_free_gpus_has_none() -> None:
    """Nothing is shared, also where a partner ends at the start but for rounding."""
    given = scenario(("a", 0, 0.1, 1), ("b", 0, 0.2, 1), ("c", 0, 1, 2))
    ran = Schedule(
        (
            Segment("a", 0, 0.1, 1, (0,)),
            Segment("b", 0, 0.2, 1, (1,)),
            Segment("c", 0.2 - 2**-55, 1.2, 2, (0, 1)),
        )
    )

    assert sharing_benefits(ran, given) == {}


def test_of_two_jobs_it_is_that_of_the_pair() -> None:
    """On one GPU waiting is for the partner, so that both completion times are those of the pair decision."""
    random = Random(1)
    for _ in range(100):
        long, short, late = random.randint(2, 50), random.randint(1, 50), random.randint(0, 1)
        slowdowns = {"a": {"b": random.randint(10, 40) / 10}, "b": {"a": random.randint(10, 40) / 10}}
        given = scenario(("a", 0, long, 1), ("b", late, short, 1), gpus=1, speed=Speed(interference=slowdowns))
        pair = Pair(
            long - late, short, *(Fraction(str(slowdowns[one][two])) for one, two in (("a", "b"), ("b", "a")))
        )
        ran = Schedule((Segment("a", 0, 999, 1, (0,)), Segment("b", late, 999, 1, (0,))))

        assert sharing_benefits(ran, given)["b"] == pytest.approx(
            float((long - late + short) / pair.completions()[1])
        )


@pytest.mark.parametrize(
    ("segments", "physics", "line"),
    [
        ([Segment("a", 0, 1, 1, (0,)), Segment("a", 2, 11, 1, (0,))], {}, "interrupted or moved"),
        ([Segment("a", 0, 10, 1)], {}, "without named GPUs"),
        ([Segment("a", 0, 10, 1, (0,))], {"overheads": {"": Overhead(start=1)}}, "overheads"),
        (
            [Segment("a", 0, 10, 1, (0,))],
            {"speed": Speed(tiers={"a": TierPenalty(machine=0, rack=0, network=1)})},
            "network penalties",
        ),
        ([Segment("a", 0, 10, 1, (0,))], {"speed": Speed(mixed=2)}, "slower GPU types"),
    ],
)
def test_what_partners_do_not_explain_is_refused(
    segments: list[Segment], physics: dict[str, Any], line: str
) -> None:
    """A schedule or scenario in which more than partners sets the speed is named."""
    with pytest.raises(Unsupported, match=line):
        sharing_benefits(Schedule(tuple(segments)), scenario(("a", 0, 10, 1), **physics))


@pytest.mark.parametrize(
    "change",
    [
        {"menu": [(1, 1.0), (2, 1.8)]},
        {"phases": [Phase(until=1, slowdown=2)]},
        {"model": "cnn", "batch_size": 4},
    ],
)
def test_jobs_that_more_than_partners_slow_are_refused(change: dict[str, Any]) -> None:
    """Elastic and adaptive jobs and jobs with phases have no sharing benefit, and the line names the job."""
    jobs = [Job(name="a", release_date=0, duration=10, gpus=1)]
    jobs += [Job(name="b", release_date=0, duration=10, gpus=1, **change)]
    cluster = Cluster.uniform(machines=1, gpus=2)
    given = Scenario.of(Workload(jobs=jobs), cluster, share_limit=2, applications={"cnn": APPLICATION})
    ran = Schedule(tuple(Segment(name, 0, 10, gpus, (0, 1)[:gpus]) for name, gpus in (("a", 1), ("b", 2))))
    with pytest.raises(Unsupported, match="elastic or adaptive or have phases, such as 'b'"):
        sharing_benefits(ran, given)
