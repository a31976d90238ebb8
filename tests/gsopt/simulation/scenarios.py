"""Random scenarios for the tests: hypothesis strategies that shrink to few jobs and round numbers."""

from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from gsopt.core.numbers.clock import Clock
from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.scenario.training import Training

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


@st.composite
def _speeds(draw: st.DrawFn, cluster: Cluster) -> Speed:
    """Draw slowdowns, of some of the GPU types of a cluster and of their mixture too."""
    types = sorted({machine.gpu_type for machine in cluster.machines} - {""})
    slower = {name: draw(st.sampled_from([1.0, 1.5, 3.0])) for name in types if draw(st.booleans())}
    return SPEED.model_copy(update={"gpu_types": slower, "mixed": draw(st.sampled_from([1.0, 1.0, 1.25]))})


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
def _capacity_changes(draw: st.DrawFn, gpus: int, *, least: int = 1) -> tuple[CapacityChange, ...]:
    """Draw no changes, or some of which the last one brings all GPUs back."""
    if draw(st.booleans()):
        return ()
    times = sorted(draw(st.sets(st.integers(0, 20), min_size=2, max_size=3)))
    sizes = [draw(st.integers(least, gpus)) for _ in times[1:]] + [gpus]
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


#: When everything is there again.
_ALL_BACK = 60.0

_PHASES = st.lists(
    st.tuples(st.sampled_from([0.25, 0.3, 0.5, 0.875]), st.sampled_from([1.0, 1.5, 3.0])), max_size=2
)


@st.composite
def _rich_jobs(draw: st.DrawFn, cluster: Cluster, most: int = 7) -> Workload:
    """Draw jobs with menus, modes, phases, trainings, types and memory; each fits the cluster somehow."""
    jobs = []
    kinds = sorted({machine.gpu_type for machine in cluster.machines if machine.gpu_type})
    for index in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from(["", "", *kinds]))
        memory = draw(st.sampled_from([None, 0, 4, 6, 10]))
        room = cluster.room(kind, memory or 0)
        if not room:
            kind, memory, room = "", None, cluster.gpus
        demand = draw(st.integers(1, room))
        counts = draw(st.sets(st.integers(1, cluster.gpus), max_size=2)) - {demand}
        menu = ((demand, 1.0), *((k, (k / demand) ** 0.5) for k in sorted(counts)))
        mode = Mode(
            name="halves",
            menu=[(count, draw(st.sampled_from([0.5, 0.75, 1.25]))) for count in {1, demand}],
            memory=draw(st.sampled_from([None, 2])),
            steps=2,
            gpu_type=draw(st.sampled_from([None, None, "", *kinds])),
        )
        training = draw(st.sampled_from([None, Training(epoch=3, samples=10), Training(epoch=7, samples=0.5)]))
        if training is not None:
            mode = mode.model_copy(update={"samples": draw(st.sampled_from([None, 4.0, 12.5]))})
        modes = (mode,) if draw(st.booleans()) else ()
        ends = dict(draw(_PHASES)) | {1.0: 1.0}
        slower = {"halves": 2.0} if modes and draw(st.booleans()) else {}
        phases = [Phase(until=end, slowdown=ends[end], modes=slower) for end in sorted(ends)]
        jobs.append(
            Job(
                name=f"job {index}",
                release_date=draw(_TIMES),
                duration=draw(_DURATIONS),
                gpus=demand,
                menu=menu if len(menu) > 1 else (),
                model=draw(st.sampled_from(_MODELS)),
                memory=memory,
                gpu_type=kind,
                modes=modes,
                phases=tuple(phases) if len(phases) > 1 else (),
                training=training,
                checkpoints=draw(st.sampled_from([True, True, False])),
            )
        )
    return bundle(jobs)


@st.composite
def _machines_meant(draw: st.DrawFn, types: Mapping[str, str]) -> dict[str, Any]:
    """Draw a number of machines, of some that are named, of a type, or of all."""
    kind = draw(st.sampled_from(["", "", *sorted(set(types.values()))]))
    if kind:
        meant = [name for name, each in types.items() if each == kind]
        return {"gpu_type": kind, "servers": draw(st.integers(1, len(meant)))}
    among = draw(st.sets(st.sampled_from(sorted(types))))
    return {"among": sorted(among), "servers": draw(st.integers(1, len(among) or len(types)))}


@st.composite
def _machine_events(draw: st.DrawFn, types: Mapping[str, str]) -> tuple[Event, ...]:
    """Draw machines, by their types, that leave, return, are lent and reclaimed; in the end all are there."""
    names = list(types)
    events: list[Event] = []
    away: set[str] = set()
    requests: list[Reclaim] = []
    returned = dict.fromkeys(names, 0.0)
    for time in sorted(draw(st.sets(st.integers(0, 48).map(lambda x: x / 2), max_size=6))):
        kind = draw(st.sampled_from(["leave", "return", "reclaim", "loan"]))
        if kind in ("reclaim", "loan"):
            fields = draw(_machines_meant(types))
            if kind == "loan":
                events.append(Loan(time=time, **fields))
                continue
            deadline = time + draw(st.sampled_from([0.25, 2.0, 5.0, 5.5]))
            requests.append(Reclaim(time=time, deadline=deadline, **fields))
            events.append(requests[-1])
        elif kind == "return" and away:
            back = draw(st.sampled_from(sorted(away)))
            events.append(Return(time=time, servers=[back]))
            away.remove(back)
            returned[back] = time
        elif kind == "leave" and len(away) < len(names):
            gone = draw(st.sets(st.sampled_from(sorted(set(names) - away)), min_size=1))
            events.append(
                Leave(time=time, servers=sorted(gone), lost_work=draw(st.sampled_from([0.0, 0.5, 9.0])))
            )
            away |= gone
    for request in requests:
        away |= {
            name for name in names if request.takes(name, types[name]) and request.deadline >= returned[name]
        }
    if back_again := sorted(away):
        events.append(Return(time=_ALL_BACK, servers=back_again))
    return tuple(events)


@st.composite
def _gpu_events(draw: st.DrawFn, gpus: int) -> tuple[Event, ...]:
    """Draw GPUs of a plain cluster that are reclaimed and come back."""
    events: list[Event] = []
    given_up = 0
    for time in sorted(draw(st.sets(st.integers(0, 24), max_size=2))):
        if given_up < gpus:
            asked = draw(st.integers(1, gpus - given_up))
            events.append(Reclaim(time=time, deadline=time + draw(st.sampled_from([0.5, 3.0])), gpus=asked))
            given_up += asked
    if given_up:
        events.append(Return(time=_ALL_BACK, gpus=given_up))
    return tuple(events)


@st.composite
def rich_scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario with everything that there is; at the end all GPUs are there."""
    if draw(st.sampled_from([False, False, False, True])):
        cluster = Cluster.plain(draw(st.integers(1, 8)))
        events = draw(_gpu_events(cluster.gpus))
        share_limit, changes = 1, () if events else draw(_capacity_changes(cluster.gpus, least=0))
    else:
        cluster = draw(_rich_clusters())
        events = draw(_machine_events({machine.name: machine.gpu_type for machine in cluster.machines}))
        share_limit, changes = draw(st.integers(1, 3)), draw(_capacity_changes(cluster.gpus, least=0))
    return Scenario(
        workload=draw(_rich_jobs(cluster)),
        cluster=cluster,
        speed=draw(_speeds(cluster)),
        overheads=draw(OVERHEADS),
        share_limit=share_limit,
        capacity_changes=changes,
        events=events,
        checkpoint_interval=draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, 0.3])),
    )


@st.composite
def _rich_clusters(draw: st.DrawFn) -> Cluster:
    """Draw racks of machines that differ in size, type and memory."""
    shape = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=2), min_size=1, max_size=2))
    return Cluster(
        racks=tuple(
            Rack(
                name=f"rack {r}",
                machines=tuple(
                    Machine(
                        name=f"machine {r}.{m}",
                        gpus=size,
                        gpu_type=draw(st.sampled_from(["", "old", "new"])),
                        memory=draw(st.sampled_from([None, 8, 16])),
                    )
                    for m, size in enumerate(sizes)
                ),
            )
            for r, sizes in enumerate(shape)
        )
    )


def shifted(scenario: Scenario, date: float, scale: float) -> Scenario:
    """Return a scenario with all seconds multiplied by a scale, and begun at a date."""
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
    events = [_shift_event(event, date, scale) for event in scenario.events]
    update = {
        "workload": bundle(jobs),
        "capacity_changes": tuple(changes),
        "overheads": overheads,
        "events": tuple(events),
        "checkpoint_interval": scale * scenario.checkpoint_interval,
    }
    return scenario.model_copy(update=update)


def later(scenario: Scenario, date: float) -> Scenario:
    """Return a scenario with all dates so much later, as decimals; they have few digits."""
    clock = Clock(-decimal(date))
    update = {
        "workload": scenario.workload.since(clock),
        "capacity_changes": tuple(
            each.model_copy(update={"time": clock.since(each.time)}) for each in scenario.capacity_changes
        ),
        "events": tuple(
            each.model_copy(
                update={
                    name: clock.since(time)
                    for name in ("time", "deadline")
                    if (time := getattr(each, name, None)) is not None
                }
            )
            for each in scenario.events
        ),
    }
    return scenario.model_copy(update=update)


def _shift_event(event: Event, date: float, scale: float) -> Event:
    update = {"time": date + scale * event.time}
    if isinstance(event, Leave):
        update["lost_work"] = scale * event.lost_work
    if isinstance(event, Reclaim):
        update["deadline"] = date + scale * event.deadline
    return event.model_copy(update=update)
