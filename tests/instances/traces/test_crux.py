"""The readers of Crux: its jobs, and the tree of its hosts."""

from pathlib import Path

import pytest

from gsopt.core.errors import InvalidInput
from instances.traces import crux
from instances.traces.crux import crux_cluster
from instances.traces.reading import content
from tests.instances.traces.samples import CRUX, HOSTS, written


def test_jobs_are_read(tmp_path: Path) -> None:
    """Jobs are named after their numbers; one without a duration, or with a value that is none, is dropped."""
    path = written(
        tmp_path / "crux.csv", CRUX, "4,5460.0,CLOS,8,8,0.0", "5,5460.0,CLOS,8,x,9.0", "6,1,CLOS,8,8"
    )
    reading = crux(path)
    assert [(job.name, job.release_date, job.duration, job.gpus) for job in reading.workload.jobs] == [
        ("crux-0", 0.0, 720.0, 48),
        ("crux-1", 5040.0, 120.0, 744),
        ("crux-3", 5400.0, 60.0, 16),
    ]
    assert [(issue.row, issue.reason[:30]) for issue in reading.dropped] == [
        (5, "duration: 0.0: input should be"),
        (6, "size: 'x': must be a whole num"),
        (7, "must have 6 values, not 5"),
    ]


def test_hosts_are_a_tree(tmp_path: Path) -> None:
    """Racks of one number below two pods are two racks, and only the first hosts of the tree are kept."""
    path = written(tmp_path / "topo.csv", HOSTS.strip())
    cluster = crux_cluster(path)
    assert cluster.levels == ("machine", "rack", "pod", "network")
    assert [switch.name for switch in cluster.switches] == ["G6", "P10", "P10 S14", "P10 S2", "P12", "P12 S2"]
    assert [(machine.name, machine.gpus) for machine in cluster.machines] == [(n, 8) for n in "adcb"]
    assert [group.machines for group in cluster.groups["rack"]] == [range(2), range(2, 3), range(3, 4)]
    assert [machine.name for machine in crux_cluster(path, hosts=3).machines] == ["a", "d", "c"]
    assert "P12" not in [switch.name for switch in crux_cluster(path, hosts=3).switches]


@pytest.mark.parametrize(
    ("lines", "hosts", "message"),
    [
        ("ip,DSW,PSW\na,G6,P10", None, r"^topo\.csv: header: 'ip,DSW,PSW': must hold ip,DSW,PSW,ASW$"),
        (HOSTS + "e,G6,P10", None, r"^topo\.csv: row 6: must have 4 values, not 3$"),
        (HOSTS + "e,G6,,S1", None, r"^topo\.csv: row 6: PSW: must not be empty$"),
        (HOSTS + "e,G7,P10,S1", None, r"^topo\.csv: DSW: 'G7': must be the only core switch, 'G6'$"),
        (HOSTS + "a,G6,P12,S1", None, r"^topo\.csv: network: 'a': must name one rack or machine"),
        (HOSTS, 5, r"^hosts: 5: must be between 1 and 4$"),
        (HOSTS, 0, r"^hosts: 0: must be between 1 and 4$"),
        ("ip,DSW,PSW,ASW", None, r"^topo\.csv: must have a host$"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, lines: str, hosts: int | None, message: str) -> None:
    """A table that is no tree of hosts is one line."""
    with pytest.raises(InvalidInput, match=message):
        crux_cluster(written(tmp_path / "topo.csv", lines.strip()), hosts=hosts)


def test_the_real_trace(traces: Path) -> None:
    """The file has 2,498 rows over 16 days, of which 241 have no duration; the largest job has 744 GPUs."""
    rows = content(traces / "crux_lingjun/crux.csv.gz").decode().splitlines()[1:]
    reading = crux(traces)
    jobs = reading.workload.jobs
    assert (len(rows), len(jobs), len(reading.dropped), reading.repaired) == (2498, 2257, 241, ())
    assert sum(row.endswith(",0.0") for row in rows) == 241
    assert (max(job.gpus for job in jobs), round(reading.workload.gpu_hours)) == (744, 313_061)
    assert jobs[-1].release_date == 1_375_200


def test_the_real_hosts(traces: Path) -> None:
    """The cluster has 847 hosts of eight GPUs, below 119 top-of-rack, 3 aggregation and 1 core switches."""
    cluster = crux_cluster(traces)
    groups = {level: len(cluster.groups[level]) for level in cluster.levels}
    assert groups == {"machine": 847, "rack": 119, "pod": 3, "network": 1}
    assert cluster.gpus == 6776
    assert sorted(len(group.machines) for group in cluster.groups["pod"]) == [179, 306, 362]
    assert max(len(group.machines) for group in cluster.groups["rack"]) == 8
