"""Clusters from and to files of any format."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.cluster.formats import Format, read_cluster, write_cluster
from tests.effort import cases
from tests.strategies.topology import trees

#: Number of machines, levels, and how many groups each level has, of the public models with 4 GPUs a machine.
_MODELS = {
    "dual-xclr-irregular.yaml": {"machine": 255, "rack": 29, "nvlink": 2, "pod": 2, "network": 1},
    "dual-xclr-regular.yaml": {"machine": 96, "rack": 12, "pod": 6, "nvlink": 2, "network": 1},
    "expected.slinky-dra-block.conf": {"machine": 96, "rack": 12, "pod": 6, "zone": 3, "network": 1},
    "expected.slinky-oci-sim-tree.conf": {"machine": 96, "rack": 12, "pod": 6, "network": 1},
    "large.yaml": {"machine": 96, "nvlink": 12, "rack": 12, "pod": 6, "network": 1},
    "medium.yaml": {"machine": 8, "nvlink": 4, "rack": 4, "pod": 2, "network": 1},
    "netq-topologyGraph.json": {"machine": 8, "rack": 2, "network": 1},
    "nvl72.yaml": {"machine": 72, "nvlink": 4, "rack": 4, "pod": 2, "network": 1},
    "small-tree.yaml": {"machine": 6, "nvlink": 2, "rack": 2, "network": 1},
}
_SWITCHES = "SwitchName=core Switches=r[1-2]\nSwitchName=r1 Nodes=n[1-2]\nSwitchName=r2 Nodes=n[3-4]\n"
_RENUMBERED = "machines are in another order when they are read back, and GPUs have other numbers"
_WRITTEN = [each for each in Format if each != Format.NETQ]


@pytest.fixture(params=_MODELS)
def model(request: pytest.FixtureRequest) -> Path:
    """Return a public model, or skip the test where the data are not there."""
    folder = os.environ.get("GSOPT_DATA", "")
    path = Path(folder, "cluster-snapshots", "topology-topograph", request.param)
    if not folder or not path.is_file():
        pytest.skip("GSOPT_DATA is unset or has no network topologies")
    return path


def test_public_models(model: Path, tmp_path: Path) -> None:
    """Every model has its levels and groups, and every format reads what it wrote; most hold all."""
    cluster = read_cluster(model, gpus=4)
    assert {level: len(cluster.groups[level]) for level in cluster.levels} == _MODELS[model.name]
    assert cluster.gpus == 4 * _MODELS[model.name]["machine"]
    for kind in _WRITTEN:
        write_cluster(cluster, tmp_path / "once", format=kind, notes=(notes := list[str]()))
        once = read_cluster(tmp_path / "once")
        write_cluster(once, tmp_path / "twice", format=kind)
        assert read_cluster(tmp_path / "twice") == once
        assert kind in {Format.SLURM_TREE, Format.SLURM_BLOCK} or (once == cluster and not notes)


@pytest.mark.parametrize("kind", _WRITTEN)
def test_round_trips(kind: Format, tmp_path: Path) -> None:
    """Racks of machines of several types are the same in every format, which is found from the file alone."""
    racks = [
        Rack(
            name=f"r{rack}",
            machines=[Machine(name=f"n{rack}-{index}", gpus=2 + rack, gpu_type="b2") for index in range(4)],
        )
        for rack in range(3)
    ]
    cluster = Cluster(racks=racks)
    notes: list[str] = []
    write_cluster(cluster, tmp_path / "file", format=kind, notes=notes)
    found = read_cluster(tmp_path / "file", notes=notes)
    assert notes == []
    if kind == Format.SLURM_BLOCK:  # which names no root
        assert found.network is not None
        found = Cluster(racks=[Rack(name=each.name, machines=each.machines) for each in found.network.switches])
    assert found == cluster
    assert read_cluster(tmp_path / "file", format=kind).gpus == cluster.gpus


@settings(max_examples=cases(60), deadline=None)
@given(trees())
def test_any_cluster_in_any_format(cluster: Cluster) -> None:
    """What a format holds comes back equal, what it loses is noted, and what it wrote once it writes again."""
    mixed = any(switch.machines and switch.switches for switch in cluster.switches)
    with TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for kind in _WRITTEN:
            if mixed and kind in {Format.SLURM_TREE, Format.SLURM_BLOCK}:
                with pytest.raises(InvalidInput, match=r"not both, in topology\.conf"):
                    write_cluster(cluster, path, format=kind)
                continue
            notes: list[str] = []
            write_cluster(cluster, path, format=kind, notes=notes)
            once = read_cluster(path)
            assert notes or once == cluster or kind == Format.SLURM_BLOCK
            gpus, found = ([machine.gpus for machine in each.machines] for each in (cluster, once))
            assert found == gpus or (sorted(found) == sorted(gpus) and _RENUMBERED in notes)
            write_cluster(once, path, format=kind)
            assert read_cluster(path) == once


@pytest.mark.parametrize("name", ["a.json", "a.graphml", "a.xml", "a.conf", "a.yaml", "a.YML"])
def test_the_ending_says_what_is_written(name: str, tmp_path: Path) -> None:
    """Without a format, the file's ending says it."""
    write_cluster(Cluster.uniform(racks=2, machines=2, gpus=8), tmp_path / name)
    assert read_cluster(tmp_path / name).gpus == 32


def test_what_is_told(tmp_path: Path) -> None:
    """GPUs of all machines or of each, and the names of levels, are as they are told."""
    path = tmp_path / "topology.conf"
    path.write_text(f"\ufeff{_SWITCHES}")
    assert read_cluster(path, gpus=8).gpus == 32
    told = {"n1": 1, "n2": 2, "n3": 3, "n4": 0}
    notes: list[str] = []
    assert [machine.gpus for machine in read_cluster(path, gpus=told, notes=notes).machines] == [1, 2, 3]
    assert notes == [f"{path}: line 3: n4: has no GPUs and is left out"]
    with pytest.raises(InvalidInput, match=r"topology\.conf: gpus: 'n5': must be a machine of the file"):
        read_cluster(path, gpus=told | {"n5": 8})
    assert read_cluster(path, gpus=8, levels=["leaf"]).levels == ("machine", "leaf", "network")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a cluster: JSON, GraphML, topology.conf of Slurm, or YAML of topograph"),
        (b"\x00\x01\x02\x03", "must be a cluster"),
        (b"\xff\xfe\x00", "byte 0: must be UTF-8 text"),
        (b"name,gpus\na,1\n", "must be a cluster"),
        (b"{", "must be JSON"),
        (b"{}", "plain_gpus: 0: must be a positive number"),
        (b'{"racks": [{"name": "r", "machines": [{"name": "r", "gpus": 1}]}]}', "racks: 'r': must name one"),
        (b'{"nodes": [], "links": []}', "graph: must have a node"),
        (b"<graphml/>", "must be GraphML"),
        (b"SwitchName=a Nodes=n", "gpus: 'n': has no number of GPUs in the file"),
        (b"SwitchName=a Nodes=n\n# NodeName=n Gres=gpu:2000000", "gpus: 2000000"),
        (
            b"SwitchName=a Nodes=n[1-3]\n# NodeName=n[1-3] Gres=gpu:400000",
            "must have at most 1,000,000 GPUs in all",
        ),
        (b"switches: 1", "switches: '1': must be a mapping"),
    ],
)
def test_bad_files_are_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    """Whatever is in a file, the line names it and says what is wrong."""
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as error:
        read_cluster(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bad_options_are_one_line(tmp_path: Path) -> None:
    """Formats that are none, endings that say none, and what a file says itself are refused."""
    cluster = Cluster.uniform(machines=1, gpus=8)
    path = tmp_path / "a.json"
    write_cluster(cluster, path)
    with pytest.raises(InvalidInput, match="format: 'dot': must be one of gsopt, node-link"):
        read_cluster(path, format="dot")
    with pytest.raises(InvalidInput, match="levels: 'rack': must be a list of names"):
        read_cluster(path, levels="rack")
    with pytest.raises(InvalidInput, match=r"a\.json: gpus: 8: must not be told, as the file says it"):
        read_cluster(path, gpus=8)
    with pytest.raises(InvalidInput, match=r"a\.dot: must end in \.json, \.graphml"):
        write_cluster(cluster, tmp_path / "a.dot")
    with pytest.raises(InvalidInput, match="format: netq: must be one of gsopt"):
        write_cluster(cluster, path, format="netq")
    with pytest.raises(InvalidInput, match=r"a\.conf: cluster: 8 plain GPUs: has no switches"):
        write_cluster(Cluster.plain(8), tmp_path / "a.conf")
    assert not (tmp_path / "a.conf").exists()
