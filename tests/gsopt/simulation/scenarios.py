"""Random scenarios for the tests: hypothesis strategies that shrink to few jobs and round numbers."""

from collections.abc import Iterable

from hypothesis import strategies as st

from gsopt.cluster import Cluster, Machine, Rack
from gsopt.job import Job, Workload
from gsopt.scenario import CapacityChange, Overhead, Scenario
from gsopt.speed import Speed, TierPenalty

_MODELS = ["", "cnn", "transformer"]

#: Release dates that collide often, and others that do not; multiples of 1/64, so that a shift is exact in
#: floats.
_TIMES = st.integers(0, 12).map(float) | st.integers(0, 2000).map(lambda x: x / 64)
_DURATIONS = st.integers(1, 9).map(float) | st.floats(0.01, 20, allow_nan=False).map(lambda x: round(x, 3))

OVERHEADS = st.dictionaries(
    st.sampled_from(_MODELS),
    st.builds(
        Overhead,
        start=st.sampled_from([0.0, 0.5, 2.0]),
        stop=st.sampled_from([0.0, 0.25]),
        resize=st.sampled_from([0.0, 0.75]),
    ),
    max_size=2,
)

SPEED = Speed(
    tiers={"cnn": TierPenalty(machine=0.1, rack=0.5, network=2.0)},
    interference={"cnn": {"transformer": 1.5, "cnn": 1.25}, "transformer": {"cnn": 2.0}},
    default_interference=1.2,
)


def bundle(jobs: Iterable[Job]) -> Workload:
    """Make a workload of jobs."""
    return Workload(jobs=tuple(jobs))


@st.composite
def workloads(draw: st.DrawFn, gpus: int, *, elastic: bool = False, most: int = 9) -> Workload:
    """Draw a workload whose jobs fit `gpus` GPUs."""
    jobs = []
    for index in range(draw(st.integers(1, most))):
        demand = draw(st.integers(1, gpus))
        menu = [(demand, 1.0)]
        if elastic and draw(st.booleans()):
            counts = draw(st.sets(st.integers(1, gpus), max_size=3)) - {demand}
            menu += [(k, (k / demand) ** draw(st.sampled_from([0.5, 1.0]))) for k in sorted(counts)]
        jobs.append(
            Job(
                name=f"job {index}",
                release_date=draw(_TIMES),
                duration=draw(_DURATIONS),
                gpus=demand,
                menu=tuple(menu) if len(menu) > 1 else (),
                model=draw(st.sampled_from(_MODELS)),
            )
        )
    return bundle(jobs)


@st.composite
def _capacity_changes(draw: st.DrawFn, gpus: int) -> tuple[CapacityChange, ...]:
    """Draw no changes, or some of which the last one brings all GPUs back."""
    if draw(st.booleans()):
        return ()
    times = sorted(draw(st.sets(st.integers(0, 20), min_size=2, max_size=3)))
    sizes = [draw(st.integers(1, gpus)) for _ in times[1:]] + [gpus]
    return tuple(CapacityChange(time=float(t), gpus=size) for t, size in zip(times, sizes, strict=True))


@st.composite
def plain_scenarios(draw: st.DrawFn, *, elastic: bool = False, changes: bool = True) -> Scenario:
    """Draw a scenario on a plain cluster, with overheads and with a capacity that ends where it began."""
    gpus = draw(st.integers(1, 8))
    return Scenario(
        workload=draw(workloads(gpus, elastic=elastic)),
        cluster=Cluster.plain(gpus),
        overheads=draw(OVERHEADS),
        capacity_changes=draw(_capacity_changes(gpus)) if changes else (),
    )


@st.composite
def tree_scenarios(draw: st.DrawFn, *, share_limit: int = 1) -> Scenario:
    """Draw a scenario on racks of machines, with tier penalties and interference."""
    shape = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=2), min_size=1, max_size=2))
    cluster = Cluster(
        racks=tuple(
            Rack(
                name=f"rack {r}",
                machines=tuple(Machine(name=f"machine {r}.{m}", gpus=size) for m, size in enumerate(sizes)),
            )
            for r, sizes in enumerate(shape)
        )
    )
    return Scenario(
        workload=draw(workloads(cluster.gpus)),
        cluster=cluster,
        speed=SPEED,
        overheads=draw(OVERHEADS),
        share_limit=share_limit,
        capacity_changes=draw(_capacity_changes(cluster.gpus)),
    )


def shifted(scenario: Scenario, date: float, scale: float) -> Scenario:
    """Give a scenario with all seconds multiplied by a scale, and begun at a date."""
    jobs = [
        job.model_copy(
            update={"release_date": date + scale * job.release_date, "duration": scale * job.duration}
        )
        for job in scenario.workload.jobs
    ]
    changes = [
        CapacityChange(time=date + scale * change.time, gpus=change.gpus)
        for change in scenario.capacity_changes
    ]
    overheads = {
        model: Overhead(start=scale * each.start, stop=scale * each.stop, resize=scale * each.resize)
        for model, each in scenario.overheads.items()
    }
    update = {"workload": bundle(jobs), "capacity_changes": tuple(changes), "overheads": overheads}
    return scenario.model_copy(update=update)
