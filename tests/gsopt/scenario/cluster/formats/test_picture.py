"""Clusters as pictures and as text."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gsopt.core.drawing import COLOURS, save
from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Link, Machine, Switch
from gsopt.scenario.cluster.formats import draw, outline
from gsopt.scenario.cluster.formats.layout import laid_out

# Pictures of clusters


_SMALL = Cluster.uniform(racks=2, machines=2, gpus=4)


def _blocks(axes: Any) -> list[tuple[float, float, str]]:
    """Return width, height and colour of every block of a job."""
    drawn = axes.collections[-1]
    blocks = zip(drawn.get_paths(), drawn.get_facecolor(), strict=True)
    return [(*path.get_extents().size, to_hex(shade)) for path, shade in blocks]


def _legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_held_gpu_is_covered() -> None:
    """The blocks of a job cover its GPUs in its colour; neighbours in a machine make one block."""
    axes = draw(_SMALL, {"a": [0, 1, 2, 4], "b": [3], "none": []})
    first, second = (colour.lower() for colour in COLOURS[:2])
    assert sorted(_blocks(axes)) == sorted([(3, 1, first), (1, 1, first), (1, 1, second)])
    assert _legend(axes) == ["a: 4 GPUs, rack", "b: 1 GPU", "idle: 11 GPUs"]
    texts = [text.get_text() for text in axes.texts]
    assert [texts.count(name) for name in ("a", "b", "rack 0", "machine 1.1")] == [2, 1, 1, 1]


def test_cells_and_names() -> None:
    """Jobs share the cells of their GPUs, in their order; machines of large clusters have no names."""
    axes = draw(_SMALL, {"a": [0, 1], "b": [1], "c": [1]})
    assert sum(width * height for width, height, _ in _blocks(axes)) == pytest.approx(2)
    assert sorted(round(height, 3) for _, height, _ in _blocks(axes)) == [0.333, 0.333, 0.333, 1]
    sizes = [len(box.cells) for _, _, box in laid_out(_MIXED).walk() if box.cells]
    assert sizes == [machine.gpus for machine in _MIXED.machines]
    few, many = (laid_out(Cluster.uniform(racks=4, machines=count, gpus=8)) for count in (4, 40))
    assert [sum(bool(box.name) for _, _, box in root.walk()) for root in (few, many)] == [21, 5]


def test_colours_of_tiers() -> None:
    """Jobs of one tier have one colour, in the order of the levels."""
    axes = draw(_SMALL, {"a": [0, 1], "b": [2, 3], "c": [4, 8], "d": [5]}, colour="tier", title="tiers")
    assert _legend(axes) == [
        "one GPU: 1 job, 1 GPU",
        "machine: 2 jobs, 4 GPUs",
        "network: 1 job, 2 GPUs",
        "idle: 9 GPUs",
    ]
    assert len({colour for _, _, colour in _blocks(axes)}) == 3
    assert axes.get_title() == "tiers"


def test_many_jobs() -> None:
    """The legend names some and counts the others; each block is labelled where it is wide enough."""
    large = Cluster.uniform(racks=16, machines=8, gpus=8)
    jobs = {f"job {number}": range(4 * number, 4 * number + 4) for number in range(200)}
    axes = draw(large, jobs)
    assert _legend(axes)[-2:] == ["... and 181 more jobs", "idle: 224 GPUs"]
    assert sum(text.get_text().startswith("job ") for text in axes.texts) == 200
    assert min(float(text.get_fontsize()) for text in axes.texts) >= 4


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """Names that would be mathematics, or hidden, are neither."""
    axes = draw(_SMALL, {"$a_{$": [0], "_b": [1], "$x$": [2, 3]}, title="$5")
    assert [text.strip().replace("\\", "") for text in _legend(axes)] == [
        "$a_{$: 1 GPU",
        "_b: 1 GPU",
        "$x$: 2 GPUs, machine",
        "idle: 12 GPUs",
    ]
    save(axes.figure, tmp_path / "a.svg")
    assert "idle: 12 GPUs" in (tmp_path / "a.svg").read_text()


def test_axes_and_arguments() -> None:
    """Plain GPUs are drawn in rows on given axes; unknown GPUs and colours are refused."""
    axes = Figure().subplots()
    assert draw(Cluster.plain(10), {"a": range(10)}, axes=axes) is axes
    assert sum(width * height for width, height, _ in _blocks(axes)) == 10
    assert _legend(axes) == ["a: 10 GPUs", "idle: 0 GPUs"]
    assert _legend(draw(Cluster.plain(10))) == ["idle: 10 GPUs"]
    with pytest.raises(InvalidInput, match=r"placements\.a\[1\]: 16: must be a GPU from 0 to 15"):
        draw(_SMALL, {"a": [0, 16]})
    with pytest.raises(InvalidInput, match=r"placements\.a\[0\]: 0\.5: must be a GPU"):
        draw(_SMALL, {"a": [0.5]})  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="colour: 'red': must be job or tier"):
        draw(_SMALL, colour="red")


# Where a picture of a cluster has its boxes


_UNEVEN = [Switch(name=f"r{n}", level="rack", machines=[Machine(name=f"n{n}", gpus=n + 1)]) for n in range(5)]
_MIXED = Cluster(
    network=Switch(name="core", level="network", machines=[Machine(name="m", gpus=11)], switches=_UNEVEN)
)


@pytest.mark.parametrize(
    "cluster",
    [
        Cluster.plain(100),
        Cluster.plain(1),
        Cluster.uniform(racks=2, machines=2, gpus=4),
        Cluster.uniform(racks=6, machines=8, gpus=8),
        _MIXED,
    ],
    ids=["plain", "one", "small", "large", "mixed"],
)
def test_nothing_overlaps(cluster: Cluster) -> None:
    """There is a cell for every GPU, no two cells touch the same place, and all are within their boxes."""
    root = laid_out(cluster)
    cells = []
    for x, y, box in root.walk():
        assert round(x + box.width, 6) <= round(root.width, 6)
        assert round(y + box.height, 6) <= round(root.height, 6)
        for right, down in box.cells:
            assert 0 <= right <= round(box.width - 1, 6)
            assert 0 <= down <= round(box.height - 1, 6)
            cells.append((x + right, y + down))
    assert len(cells) == cluster.gpus
    assert all(
        round(max(abs(one[0] - other[0]), abs(one[1] - other[1])), 6) >= 1
        for one, other in combinations(cells, 2)
    )


# A cluster in lines of text


def _network(count: int, odd: int = -1) -> Cluster:
    """Return pods of two machines, one of them with other machines."""
    link = Link(bandwidth=50e9, latency=2e-6)
    pods = []
    for number in range(count):
        kind, bandwidth = ("H100", 100e9) if number == odd else ("", 25e9)
        machines = [Machine(name=f"m{number}.{each}", gpus=8, gpu_type=kind, uplink=link) for each in range(2)]
        uplink = Link(bandwidth=bandwidth)
        pods.append(Switch(name=f"pod {number}", level="pod", machines=machines, uplink=uplink))
    return Cluster(network=Switch(name="core", level="network", switches=pods))


def test_links_and_odd_ones() -> None:
    """Bandwidths are in bits per second, from the slowest on; what differs from its neighbours is told."""
    assert outline(_network(6, odd=4)).splitlines() == [
        "96 GPUs on 12 machines",
        "",
        "level    groups  GPUs each  link up",
        "machine      12          8  400 Gb/s, 2 us",
        "pod           6         16  200 Gb/s to 800 Gb/s",
        "network       1         96  -",
        "",
        "network core: 96 GPUs",
        "  pod 0: 16 GPUs",
        "    machine m0.[0-1]: 2 machines of 8 GPUs",
        "  pod [1-3]: 3 likewise",
        "  pod 4: 16 GPUs",
        "    machine m4.[0-1]: 2 machines of 8 H100 GPUs",
        "  pod 5: 16 GPUs",
        "    machine m5.[0-1]: 2 machines of 8 GPUs",
    ]


def test_what_is_inside_machines() -> None:
    """Islands and links of GPUs are shown; a plain cluster has no tree."""
    link = {"bandwidth": 1.25e11}
    machine = Machine.model_validate({"name": "m", "gpus": 4, "islands": [2, 2], "gpu_link": link})
    lines = outline(Cluster(network=Switch(name="s", level="network", machines=[machine]))).splitlines()
    assert lines[3:5] == ["gpu           4          1  1 Tb/s", "island        2          2  -"]
    assert lines[-1] == "  machine m: 4 GPUs in 2 islands"
    assert outline(Cluster.plain(64)) == "64 GPUs without a network"
    assert outline(Cluster.plain(6400), width=10) == "6,400 G..."
    two = Cluster.uniform(machines=2, gpus=2)
    for width in (0, 3):
        with pytest.raises(InvalidInput, match=f"width: {width}: must be at least 4"):
            outline(two, width=width)
    assert outline(Cluster.plain(64), width=4) == "6..."
    whole = outline(two).splitlines()
    assert outline(two, most=0) == outline(two, most=1) == "\n".join([*whole[:-3], "... 3 more lines"])
    assert outline(two, most=2).splitlines()[-2:] == [whole[-3], "... 2 more lines"]
    assert outline(two, most=3).splitlines() == whole


def test_large_clusters_take_a_page() -> None:
    """Lines are as wide and as many as they are told to be, whatever the cluster."""
    racks = [
        {"name": f"{number} {'x' * 150}", "machines": [{"name": f"m{number}", "gpus": number + 1}]}
        for number in range(90)
    ]
    lines = outline(Cluster.model_validate({"racks": racks}), width=60, most=20).splitlines()
    assert max(map(len, lines)) == 60
    assert len(lines) == 7 + 20
    assert lines[-1] == "... 162 more lines"
    assert len(outline(Cluster.uniform(racks=500, machines=20, gpus=8)).splitlines()) == 11
