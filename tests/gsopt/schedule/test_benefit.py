"""Sharing benefits, by hand and against the pair decision."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import Unsupported
from gsopt.performance.colocation import Pair
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule import Schedule, Segment
from gsopt.schedule.benefit import sharing_benefits


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
