"""Wires, all-reduces and what of them the computation hides."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.numbers.tolerances import SUM
from gsopt.performance.communication import (
    DALLY_WIRES,
    Collective,
    Dimension,
    Layer,
    Wire,
    Wiring,
    exposed,
    flat_ring,
    gigabits,
    gigabytes,
    halving,
    hierarchical,
    layout,
    penalty,
    read_layers,
    tier_penalty,
    wires_of,
)
from gsopt.scenario.cluster import Cluster, Link, Machine, Switch, Tier
from gsopt.scenario.cluster.machine import Island
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed
from tests.gsopt.performance.communication.layers import layers_of
from tests.refusals import refused

# Units of bandwidths


def test_messages() -> None:
    """Bytes pass once at decimal rates, every hop takes its latency, and Dally's wires give Table I."""
    assert gigabits(900) == 112.5e9
    assert gigabytes(250) == 250e9
    assert gigabytes(250, binary=True) == 268_435_456_000
    assert Wire(bandwidth=2e9, latency=0.25).send(3e9, 2) == 2.0
    assert Wire(bandwidth=1e9, latency=1e-9).send(2.9, 1, whole=True) == 3e-9
    assert Wire(bandwidth=1e10, latency=0.1e-9).send(3, 7, whole=True) == 1e-9
    assert Wire(bandwidth=1e18).send(1, 2, whole=True) == 0
    assert Dimension(units=1, wire=Wire(bandwidth=1)).hops == 0
    with pytest.raises(InvalidInput, match=r"^units: 0: must be at least 1$"):
        Wire(bandwidth=1).hops(0)
    steps = {level: 14 * wire.hops(8) * wire.latency for level, wire in DALLY_WIRES.items()}
    assert [round(steps[level] * 1e6, 2) for level in ("machine", "rack", "network")] == [0.87, 8.96, 249.2]


# Hops and messages


@pytest.mark.parametrize("distance", range(-9, 10))
def test_hops_by_wiring(distance: int) -> None:
    """Of 8 units a ring needs the shorter way, full wiring one hop and a switch two; nobody sends to itself."""
    away = min(distance % 8, -distance % 8)
    wires = {wiring: Wire(bandwidth=1, wiring=wiring) for wiring in Wiring}
    assert wires[Wiring.RING].hops(8, distance) == away
    assert wires[Wiring.RING].hops(8, distance, one_way=True) == distance % 8
    assert wires[Wiring.FULL].hops(8, distance) == min(away, 1)
    assert wires[Wiring.SWITCH].hops(8, distance) == 2 * min(away, 1)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no bandwidth": ({"bandwidth": 0.0}, "greater than 0"),
    "a negative latency": ({"bandwidth": 1.0, "latency": -1e-9}, "greater than or equal to 0"),
    "another wiring": ({"bandwidth": 1.0, "wiring": "torus"}, "'ring', 'fully connected' or 'switch'"),
}


@pytest.mark.parametrize(("values", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_wires_are_refused(values: dict[str, Any], rule: str) -> None:
    """Bandwidths are above 0, latencies at least 0, and wirings have one of three names."""
    with pytest.raises(ValidationError, match=rule):
        Wire(**values)


# All-reduces, by hand and step by step


BANDWIDTHS = st.floats(1.0, 1e12)
LATENCIES = st.just(0.0) | st.floats(1e-12, 1.0)
SIZES = st.just(0.0) | st.floats(1e-9, 1e12)
WIRES = st.builds(Wire, bandwidth=BANDWIDTHS, latency=LATENCIES, wiring=st.sampled_from(list(Wiring)))
DIMENSIONS = st.builds(Dimension, units=st.integers(1, 64), wire=WIRES)


def close(value: float, expected: float | Fraction) -> bool:
    """Check whether two times are the same but for the rounding of sums."""
    return abs(Fraction(value) - Fraction(expected)) <= SUM * abs(Fraction(expected))


def test_reductions_by_hand() -> None:
    """A ring of 8 GPUs, cut to ns or not; inner dimensions of a hierarchy divide the bytes of outer ones."""
    ring = Dimension(units=8, wire=Wire(bandwidth=gigabytes(25, binary=True), latency=500e-9))
    expected = 14 * (2 * Fraction(500, 10**9) + Fraction(12_500_000, 25 * 2**30))
    assert close(flat_ring(100e6, ring), expected)
    assert abs(float(expected) * 1e3 - 6.533258) < 1e-6
    assert close(flat_ring(100e6, ring, whole=True), Fraction(14 * 466_661, 10**9))
    inside = Dimension(units=4, wire=Wire(bandwidth=4e9, latency=1e-3, wiring=Wiring.RING))
    between = Dimension(units=2, wire=Wire(bandwidth=1e9, latency=1e-2))
    assert close(hierarchical(8e9, [inside, between]), Fraction("6.046") - 3 + Fraction("2.0"))
    assert hierarchical(1e9, []) == Collective.of([]).seconds(1e9) == 0
    inside = Dimension(units=8, wire=Wire(bandwidth=1e9, latency=1.0, wiring=Wiring.RING))
    between = Dimension(units=2, wire=Wire(bandwidth=1.0, latency=10.0))
    both = Collective.of([inside, between])
    assert both.latency == 14 * 1 + 2 * 2 * 10
    assert both.per_byte == 14 / 8e9 + 2 / 16


@given(size=SIZES, dimension=DIMENSIONS)
def test_a_ring_passes_every_part_around_twice(size: float, dimension: Dimension) -> None:
    """A ring is as long as its steps, of which each unit needs p - 1 to add up and p - 1 to tell."""
    steps = [dimension.wire.send(size / dimension.units, dimension.hops) for _ in range(dimension.units - 1)]
    assert close(flat_ring(size, dimension), sum(map(Fraction, steps * 2)))


@given(size=SIZES, dimensions=st.lists(DIMENSIONS, max_size=4))
def test_a_hierarchy_is_a_latency_and_a_time_per_byte(size: float, dimensions: list[Dimension]) -> None:
    """The collective of dimensions takes as long as the hierarchy that it stands for."""
    assert close(Collective.of(dimensions).seconds(size), hierarchical(size, dimensions))


@given(size=SIZES, dimension=DIMENSIONS)
def test_a_ring_is_a_hierarchy_of_one_dimension(size: float, dimension: Dimension) -> None:
    """One dimension is a flat ring, and dimensions of a single unit add nothing."""
    alone = Dimension(units=1, wire=dimension.wire)
    assert hierarchical(size, [alone, dimension, alone]) == flat_ring(size, dimension)


@given(size=SIZES, dimension=DIMENSIONS)
def test_cutting_takes_less_than_a_nanosecond_of_each_step(size: float, dimension: Dimension) -> None:
    """Whole nanoseconds are never longer, and shorter by less than one in each step."""
    lost = flat_ring(size, dimension) - flat_ring(size, dimension, whole=True)
    assert -SUM * flat_ring(size, dimension) <= lost
    assert lost <= 2 * (dimension.units - 1) * 1e-9 + SUM * flat_ring(size, dimension)


@given(size=SIZES, dimension=DIMENSIONS)
def test_halving_sends_as_much_in_fewer_steps(size: float, dimension: Dimension) -> None:
    """Halving and doubling has two steps for each doubling of the units, and the bytes of the ring."""
    steps = 2 * ceil(log2(dimension.units))
    fewer = (2 * (dimension.units - 1) - steps) * dimension.hops * Fraction(dimension.wire.latency)
    assert close(halving(size, dimension) + float(fewer), flat_ring(size, dimension))


@pytest.mark.parametrize("size", [-1.0, float("inf"), float("nan")])
def test_a_size_is_a_number_of_bytes(size: float) -> None:
    """A size that is no number of bytes is refused in one line."""
    dimension = Dimension(units=2, wire=Wire(bandwidth=1))
    for reduce in (flat_ring, halving, lambda size, each: hierarchical(size, [each])):
        with pytest.raises(InvalidInput, match=r"^size: .*: must be a number of bytes$"):
            reduce(size, dimension)


# Dimensions of GPUs on a cluster


CLUSTER = Cluster.uniform(racks=2, machines=2, gpus=4)

BALANCED = {
    "a GPU": ([3], []),
    "a machine": (range(4, 8), [(4, "machine")]),
    "two machines of a rack": ([0, 1, 5, 6], [(2, "machine"), (2, "rack")]),
    "a machine of each rack": ([0, 1, 2, 8, 9, 10], [(3, "machine"), (2, "network")]),
    "everything": (range(16), [(4, "machine"), (2, "rack"), (2, "network")]),
}


@pytest.mark.parametrize(("gpus", "expected"), BALANCED.values(), ids=BALANCED.keys())
def test_balanced_gpus_have_a_hierarchy(gpus: list[int], expected: list[tuple[int, str]]) -> None:
    """Equal numbers of GPUs and of machines make a dimension of each level that has several."""
    found = layout(CLUSTER, gpus)
    assert list(found.dimensions) == [
        Dimension(units=units, wire=DALLY_WIRES[level]) for units, level in expected
    ]
    assert found.reason == ""


UNBALANCED = {
    "3 + 1": ([0, 1, 2, 4], "rack", "the groups of level machine hold [3, 1] units"),
    "1 + 1": ([0, 4], "rack", "every machine holds one GPU"),
    "1 + 1 + 1": ([0, 4, 8], "network", "every machine holds one GPU"),
    "2 + 2 and 2": ([0, 1, 4, 5, 8, 9], "network", "the groups of level rack hold [2, 1] units"),
}


@pytest.mark.parametrize(("gpus", "tier", "reason"), UNBALANCED.values(), ids=UNBALANCED.keys())
def test_other_gpus_make_one_ring_over_the_slowest_tier(gpus: list[int], tier: str, reason: str) -> None:
    """Where there is no hierarchy, all GPUs make one ring over the outermost tier, and the layout says why."""
    found = layout(CLUSTER, gpus)
    assert list(found.dimensions) == [Dimension(units=len(gpus), wire=DALLY_WIRES[tier])]
    assert found.reason == reason


def test_layouts_by_hand() -> None:
    """7 + 1 GPUs take longer than 4 + 4; plain GPUs are one ring, and own levels have dimensions."""
    two = Cluster.uniform(machines=2, gpus=8)
    uneven, even = (layout(two, [*range(first), *range(8, 16 - first)]) for first in (7, 4))
    assert uneven.collective.seconds(1e6) > even.collective.seconds(1e6)
    assert [each.units for each in layout(Cluster.plain(64), range(8)).dimensions] == [8]
    found = layout(cluster(), range(16), wires_of(cluster()))
    assert [each.units for each in found.dimensions] == [4, 2, 2]
    assert found.collective.latency == 6 * 2 * 1 + 2 * 2 * 2 + 2 * 2 * 3


def test_bad_gpus_and_missing_wires_are_refused() -> None:
    """GPUs are there and given once, and every level that they need has wires."""
    near = {"machine": Wire(bandwidth=1)}
    assert layout(CLUSTER, range(4), near).collective.per_byte == 1.5
    with pytest.raises(InvalidInput, match=r"^gpus: \[\]: must be at least one GPU$"):
        layout(CLUSTER, [])
    with pytest.raises(InvalidInput, match=r"^wires: \['machine'\]: must hold the level rack$"):
        layout(CLUSTER, range(8), near)
    with pytest.raises(InvalidInput, match=r"^gpus: 16: must be below 16$"):
        layout(CLUSTER, [0, 16])
    with pytest.raises(InvalidInput, match=r"^gpus: -1: must be below 16$"):
        layout(CLUSTER, [-1])
    with pytest.raises(InvalidInput, match=r"^gpus: 3: must be given once$"):
        layout(CLUSTER, [3, 3])


# Wires of clusters whose links are known


NEAR, FAR, FARTHEST = (
    Link(bandwidth=rate, latency=late) for rate, late in ((8.0, 1.0), (4.0, 2.0), (2.0, 3.0))
)


def cluster() -> Cluster:
    """Return two pods of two machines of four GPUs, with links of each kind."""
    pods = [
        Switch(
            name=f"pod {pod}",
            level="pod",
            uplink=FARTHEST,
            machines=[Machine(name=f"m{pod}.{each}", gpus=4, gpu_link=NEAR, uplink=FAR) for each in range(2)],
        )
        for pod in range(2)
    ]
    return Cluster(network=Switch(name="spine", level="network", switches=pods))


def test_wires_of_levels() -> None:
    """A level has the slowest links of what stands below; without links or levels there are no wires."""
    assert wires_of(cluster(), rings=("machine",)) == {
        "machine": Wire(bandwidth=8, latency=1, wiring=Wiring.RING),
        "pod": Wire(bandwidth=4, latency=2),
        "network": Wire(bandwidth=2, latency=3),
    }
    one = Machine(name="a", gpus=4, gpu_link=Link(bandwidth=8.0, latency=5.0), uplink=FAR)
    other = Machine(name="b", gpus=4, gpu_link=Link(bandwidth=9.0, capacity=3.0), uplink=FAR)
    network = Switch(name="spine", level="network", machines=[one, other])
    assert wires_of(Cluster(network=network))["machine"] == Wire(bandwidth=3, latency=5)
    with pytest.raises(InvalidInput, match=r"^link of 'rack 0': must be known for the wires of level network$"):
        wires_of(Cluster.uniform(racks=2, machines=2, gpus=4))
    with pytest.raises(InvalidInput, match=r"^rings: 'rack': must be levels: machine, pod, network$"):
        wires_of(cluster(), rings=("rack",))


def test_islands_stand_between_gpus_and_machine() -> None:
    """GPUs lead to islands, and islands to the machine; a job on two islands has both dimensions."""
    islands = [Island(name=name, gpus=2, uplink=FAR) for name in ("left", "right")]
    machine = Machine(name="m", gpus=4, islands=islands, gpu_link=NEAR, uplink=FARTHEST)
    one = Cluster(network=Switch(name="all", level="network", machines=[machine]))
    wires = wires_of(one)
    assert [(level, wire.bandwidth) for level, wire in wires.items()] == [
        ("island", 8.0),
        ("machine", 4.0),
        ("network", 2.0),
    ]
    dimensions = [Dimension(units=2, wire=wires[level]) for level in ("island", "machine")]
    assert list(layout(one, range(4), wires).dimensions) == dimensions


def test_one_island_of_each_machine_is_no_single_gpu() -> None:
    """Four GPUs on one island of each of two machines are a hierarchy of islands and machines."""
    islands = {name: [Island(name=f"{name}{side}", gpus=4, uplink=FAR) for side in range(2)] for name in "ab"}
    machines = [
        Machine(name=name, gpus=8, islands=parts, gpu_link=NEAR, uplink=FAR) for name, parts in islands.items()
    ]
    both = Cluster(network=Switch(name="all", level="network", machines=machines))
    found = layout(both, [*range(4), *range(8, 12)], wires_of(both))
    assert ([each.units for each in found.dimensions], found.reason) == ([4, 2], "")


# Workload files of ASTRA-sim


FIRST = "conv\t-1\t10\tNONE\t0\t20\tNONE\t0\t30\tALLREDUCE\t400\t0"
SECOND = "fc -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 0"


def written(folder: Path, *lines: str) -> Path:
    """Write a workload file."""
    path = folder / "layers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_layers_are_read(tmp_path: Path) -> None:
    """Times are in nanoseconds between any blanks; fewer layers than the file says must be asked for."""
    layers = read_layers(written(tmp_path, "DATA", "2", FIRST, "", SECOND, "11"))
    assert layers == (
        Layer(forward=10e-9, input_gradient=20e-9, weight_gradient=30e-9, size=400),
        Layer(forward=1e-9, input_gradient=2e-9, weight_gradient=3e-9, size=4),
    )
    path = written(tmp_path, "DATA", "3", FIRST, SECOND)
    assert len(read_layers(path, partial=True)) == 2
    with pytest.raises(InvalidInput, match=r"line 2: 3: must be the number of layers, of which there are 2$"):
        read_layers(path)


def changed(old: str, new: str) -> list[str]:
    """Return a file of one layer with a changed word."""
    return ["DATA", "1", FIRST.replace(old, new)]


BAD_LAYERS = {
    "model parallelism": (["MODEL", "1", FIRST], "line 1: 'MODEL': must be DATA: only data parallelism"),
    "nothing": ([], "line 1: '': must be DATA"),
    "a word for a count": (["DATA", "one", FIRST], "line 2: layers: 'one': must be a whole number"),
    "no count": (["DATA", "", FIRST], "line 2: layers: '': must be a whole number"),
    "more than it says": (["DATA", "1", FIRST, SECOND], "line 2: 1: must be the number of layers, of which"),
    "no layers": (["DATA", "0"], "must hold a layer"),
    "a value too few": (changed("\t400\t0", "\t400"), "line 3: 11: must have 12 values"),
    "a negative time": (changed("20", "-20"), "line 3: input_gradient: '-20': must be a whole"),
    "a fraction": (changed("400", "4.5"), "line 3: size: '4.5': must be a whole number"),
    "too long a time": (changed("10", "9" * 19), "line 3: forward: '9999999999999999999': "),
    "another collective": (
        changed("ALLREDUCE", "ALLTOALL"),
        "line 3: weight gradient: 'ALLTOALL': must be ALLREDUCE, as in data parallelism",
    ),
}


@pytest.mark.parametrize(("lines", "message"), BAD_LAYERS.values(), ids=BAD_LAYERS.keys())
def test_what_is_no_workload_is_refused(tmp_path: Path, lines: list[str], message: str) -> None:
    """Another file, and a value that breaks a rule, are refused in one line with file, line, value and rule."""
    with refused(message, start=str(tmp_path / "layers.csv")):
        read_layers(written(tmp_path, *lines), partial=True)


def test_the_models_of_dally(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """Six models are at hand, BERT and MobileNetV3 cut off; one layer of AlexNet has most of its bytes."""
    counts = {"vgg11": 11, "alexnet": 8, "mobilenetv3": 52, "resnet18": 21, "resnet50": 54, "bert-large": 66}
    assert {model: len(layers) for model, layers in models.items()} == counts
    assert max(layer.size for layer in models["alexnet"]) == 150_994_944


# Overlap of communication with the backward pass


TIMES = st.integers(0, 50).map(float)
LAYERS = layers_of(TIMES)
COLLECTIVES = st.builds(Collective, latency=TIMES, per_byte=TIMES)


def by_hand() -> list[Layer]:
    """Two layers whose all-reduces take 5 and 7 seconds at a latency of 4 and 1 second per byte."""
    return [
        Layer(forward=1, input_gradient=2, weight_gradient=3, size=1),
        Layer(forward=10, input_gradient=4, weight_gradient=5, size=3),
    ]


def test_layers_by_hand() -> None:
    """Layers and all-reduces wait for each other, and faster computation hides less."""
    assert exposed(by_hand(), Collective(latency=4, per_byte=1)) == 3.0
    assert penalty(by_hand(), Collective(latency=4, per_byte=1)) == 3 / 25
    assert exposed(by_hand(), Collective(latency=1)) == 0
    assert exposed(by_hand(), Collective(latency=20)) == 16 + 2 * 20 - 25
    assert exposed(by_hand(), Collective(latency=4, per_byte=1), scale=0.5) == 7.5
    layers, idle = by_hand(), Layer(forward=0, input_gradient=0, weight_gradient=0, size=1)
    with pytest.raises(InvalidInput, match=r"^scale: 0: must be more than 0$"):
        exposed(layers, Collective(latency=1), scale=0)
    with pytest.raises(InvalidInput, match=r"^floor: -0.1: must be at least 0$"):
        penalty(layers, Collective(latency=1), floor=-0.1)
    with pytest.raises(InvalidInput, match=r"^layers: 0.0: must compute for some time$"):
        penalty([idle], Collective(latency=1))


@given(layers=LAYERS, collective=COLLECTIVES)
def test_the_last_all_reduces_run_without_a_pause(layers: list[Layer], collective: Collective) -> None:
    """The exposed time is the largest excess of the first k all-reduces over the computation beside them."""
    excess = [0.0]
    sending = beside = 0.0
    for layer in layers:
        sending += collective.seconds(layer.size)
        excess.append(sending - beside - layer.input_gradient)
        beside += layer.input_gradient + layer.weight_gradient
    assert exposed(layers, collective) == max(excess)


@given(layers=LAYERS, collective=COLLECTIVES, floor=st.floats(0, 10))
def test_a_floor_is_the_least_penalty(layers: list[Layer], collective: Collective, floor: float) -> None:
    """A penalty is that of the model or the floor, whichever is larger."""
    layers = [*layers, Layer(forward=1, input_gradient=1, weight_gradient=1, size=1)]
    assert penalty(layers, collective, floor=floor) == max(floor, penalty(layers, collective))


@given(layers=LAYERS, collective=COLLECTIVES, factor=st.floats(0.01, 100))
def test_what_counts_is_communication_per_computation(
    layers: list[Layer], collective: Collective, factor: float
) -> None:
    """Slower links and slower computation by one factor leave the penalty as it is."""
    layers = [*layers, Layer(forward=1, input_gradient=1, weight_gradient=1, size=1)]
    slower = Collective(latency=collective.latency * factor, per_byte=collective.per_byte * factor)
    once, again = penalty(layers, collective), penalty(layers, slower, scale=factor)
    assert abs(once - again) <= SUM * (1 + once)


# Penalties by tier


def test_penalties_of_tiers() -> None:
    """A job is slower by what its model waits at a tier; every tier needs a collective."""
    layer = Layer(forward=1, input_gradient=2, weight_gradient=3, size=10)
    times = {"machine": 0, "rack": 4, "pod": 7, "network": 10}
    made = tier_penalty([layer], {tier: Collective(latency=time) for tier, time in times.items()}, floor=0.1)
    assert made.of("pod") == 5 / 6
    job = Job(name="a", release_date=0, duration=60, gpus=2, model="mine")
    speed = Speed(tiers={"mine": made})
    assert speed.rate(job, 2, Tier.RACK) == 0.75
    assert speed.rate(job, 2, Tier.MACHINE) == 1 / 1.1
    with pytest.raises(InvalidInput, match=r"^collectives: must hold the tier rack$"):
        tier_penalty([layer], {"machine": Collective(latency=1)})


def test_resnet_50_needs_a_floor(models: Mapping[str, tuple[Layer, ...]]) -> None:
    """Its 12 % within a machine and a rack come from the floor alone, its 38 % on the network from layers."""
    collectives = {
        "machine": Collective(latency=8.7e-7, per_byte=3.5e-12),
        "rack": Collective(latency=9e-6, per_byte=5.1e-12),
        "network": Collective(latency=2.49e-4, per_byte=3e-13),
    }
    made = tier_penalty(models["resnet50"], collectives, scale=0.03395, floor=0.12)
    assert (made.machine, made.rack) == (0.12, 0.12)
    assert 0.36 < made.network < 0.39
