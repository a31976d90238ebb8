"""A cluster in lines of text."""

from gsopt.scenario.cluster import Cluster, Link, Machine, Switch
from gsopt.scenario.cluster.formats import outline


def _network(count: int, odd: int = -1) -> Cluster:
    """Return pods of two machines, one of them with other machines."""
    link = Link(bandwidth=50e9, latency=2e-6)
    pods = [
        Switch(
            name=f"pod {number}",
            level="pod",
            machines=[
                Machine(
                    name=f"m{number}.{index}", gpus=8, gpu_type="H100" if number == odd else "", uplink=link
                )
                for index in range(2)
            ],
            uplink=Link(bandwidth=100e9 if number == odd else 25e9),
        )
        for number in range(count)
    ]
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


def test_islands_and_gpu_links() -> None:
    """What is inside machines is told."""
    machine = Machine.model_validate(
        {"name": "m", "gpus": 4, "islands": [2, 2], "gpu_link": {"bandwidth": 1.25e11}}
    )
    lines = outline(Cluster(network=Switch(name="s", level="network", machines=[machine]))).splitlines()
    assert lines[3:5] == ["gpu           4          1  1 Tb/s", "island        2          2  -"]
    assert lines[-1] == "  machine m: 4 GPUs in 2 islands"


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


def test_plain_clusters() -> None:
    """There is no tree to tell of."""
    assert outline(Cluster.plain(64)) == "64 GPUs without a network"
