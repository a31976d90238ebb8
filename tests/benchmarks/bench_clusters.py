"""Speed of reading ten thousand machines, against a plain networkx tree of as many nodes in the same run."""

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.cluster.formats import Format, draw, outline, read_cluster, write_cluster
from tests.benchmarks.measures import least_seconds, once, report

pytestmark = pytest.mark.slow

RACKS, MACHINES = 500, 20

#: How many times as long reading, checking and numbering the machines may take as adding them to a graph.
MOST = {
    Format.GSOPT: 25,
    Format.NODE_LINK: 60,
    Format.GRAPHML: 110,
    Format.SLURM_TREE: 40,
    Format.SLURM_BLOCK: 40,
    Format.TOPOGRAPH: 40,
}


def _plain_tree() -> nx.Graph:
    tree = nx.Graph()
    for rack in range(RACKS):
        tree.add_edge("core", f"rack {rack}")
        for machine in range(MACHINES):
            tree.add_edge(f"rack {rack}", f"machine {rack}.{machine}")
    return tree


@pytest.mark.parametrize("kind", MOST)
def test_ten_thousand_machines_are_read_and_numbered(benchmark: Any, kind: Format, tmp_path: Path) -> None:
    """Reading a file and finding a tier in it take less than so many times what a plain tree takes."""
    write_cluster(Cluster.uniform(racks=RACKS, machines=MACHINES, gpus=8), tmp_path / "file", format=kind)

    def read() -> str:
        return read_cluster(tmp_path / "file").tier([0, 100])

    ratio = once(benchmark, lambda: least_seconds(read) / least_seconds(_plain_tree))
    report(f"{kind}: {least_seconds(read):.2f} s, {ratio:.0f} times a plain tree")
    assert ratio < MOST[kind]


def test_telling_is_faster_than_reading(benchmark: Any, tmp_path: Path) -> None:
    """The outline of ten thousand machines takes less than reading them from our JSON."""
    cluster = Cluster.uniform(racks=RACKS, machines=MACHINES, gpus=8)
    write_cluster(cluster, tmp_path / "a.json")
    told = once(benchmark, lambda: least_seconds(lambda: outline(cluster)))
    assert told < least_seconds(lambda: read_cluster(tmp_path / "a.json"))


def test_pictures_grow_no_faster_than_clusters(benchmark: Any) -> None:
    """Drawing 1,024 GPUs takes less than eight times what drawing 128 takes."""

    def drawing(racks: int) -> float:
        cluster = Cluster.uniform(racks=racks, machines=8, gpus=8)
        return least_seconds(lambda: draw(cluster, {"a": range(0, cluster.gpus, 2)}))

    assert once(benchmark, lambda: drawing(16) / drawing(2)) < 8
