"""Pictures of clusters."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gsopt.core.drawing import COLOURS, save
from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats import draw

_SMALL = Cluster.uniform(racks=2, machines=2, gpus=4)


def _blocks(axes: Any) -> list[tuple[float, float, str]]:
    """Return width, height and colour of every block of a job."""
    drawn = axes.collections[-1]
    sizes = [path.get_extents().size for path in drawn.get_paths()]
    return [
        (width, height, to_hex(shade))
        for (width, height), shade in zip(sizes, drawn.get_facecolor(), strict=True)
    ]


def _legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_held_gpu_is_covered() -> None:
    """The blocks of a job cover its GPUs in its colour; neighbours in a machine make one block."""
    axes = draw(_SMALL, {"a": [0, 1, 2, 4], "b": [3], "none": []})
    first, second = (colour.lower() for colour in COLOURS[:2])
    assert sorted(_blocks(axes)) == sorted([(3, 1, first), (1, 1, first), (1, 1, second)])
    assert _legend(axes) == ["a: 4 GPUs, rack", "b: 1 GPU", "idle: 11 GPUs"]
    texts = [text.get_text() for text in axes.texts]
    assert (texts.count("a"), texts.count("b"), texts.count("rack 0"), texts.count("machine 1.1")) == (
        2,
        1,
        1,
        1,
    )


def test_jobs_that_share_gpus_share_cells() -> None:
    """The cell of a GPU is divided among those that hold it."""
    axes = draw(_SMALL, {"a": [0, 1], "b": [1], "c": [1]})
    assert sum(width * height for width, height, _ in _blocks(axes)) == pytest.approx(2)
    assert sorted(round(height, 3) for _, height, _ in _blocks(axes)) == [0.333, 0.333, 0.333, 1]


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


def test_plain_clusters_and_given_axes() -> None:
    """GPUs without machines are drawn in rows; given axes are drawn on."""
    axes = Figure().subplots()
    assert draw(Cluster.plain(10), {"a": range(10)}, axes=axes) is axes
    assert sum(width * height for width, height, _ in _blocks(axes)) == 10
    assert _legend(axes) == ["a: 10 GPUs", "idle: 0 GPUs"]
    assert _legend(draw(Cluster.plain(10))) == ["idle: 10 GPUs"]


def test_bad_arguments() -> None:
    """GPUs that are not there and colours that mean nothing are refused."""
    with pytest.raises(InvalidInput, match=r"placements\.a\[1\]: 16: must be a GPU from 0 to 15"):
        draw(_SMALL, {"a": [0, 16]})
    with pytest.raises(InvalidInput, match=r"placements\.a\[0\]: 0\.5: must be a GPU"):
        draw(_SMALL, {"a": [0.5]})  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="colour: 'red': must be job or tier"):
        draw(_SMALL, colour="red")
