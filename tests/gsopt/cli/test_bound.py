"""``gsopt bound`` and ``gsopt verify``: a bound goes into a file, and comes out of it proven."""

import json
from pathlib import Path

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.files import write
from instances.workloads import poisson
from tests.commands import gsopt, refused


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Return the file of a workload."""
    write(poisson(jobs=30, gpus=8, seed=1), tmp_path / "jobs.json")
    return tmp_path / "jobs.json"


def test_a_bound_is_certified_and_verified(jobs: Path, tmp_path: Path) -> None:
    """The certificate proves what the first command says, in the words of the second."""
    path = tmp_path / "jobs.cert.json"
    given = ("--gpus", "8", "--capacity-changes", "2h=6")
    made = gsopt("bound", jobs, *given, "--evaluations", "20", "--out", path)
    checked = gsopt("verify", path, jobs, *given)

    assert (made.returncode, checked.returncode) == (Exit.SOLUTION, Exit.SOLUTION)
    mean = made.stdout.removeprefix(f"{path}: 30 jobs, mean JCT of at least ").removesuffix(" s\n")
    assert float(mean.replace(",", "")) > 0
    assert checked.stdout == (
        f"verified: no schedule of these 30 jobs on at most 8 GPUs has a mean JCT below {mean} s\n"
    )


def test_what_does_not_fit_is_refused(jobs: Path, tmp_path: Path) -> None:
    """Another cluster, a changed claim, and a file that is no certificate are refused in one line."""
    path = tmp_path / "jobs.cert.json"
    gsopt("bound", jobs, "--gpus", "8", "--evaluations", "1", "-o", path)

    assert f"{path}: digest: " in refused("verify", path, jobs, "--gpus", "9")
    path.write_text(json.dumps({**json.loads(path.read_text()), "total_jct": "1/3"}))
    assert f"{path}: total_jct: '1/3': must be " in refused("verify", path, jobs, "--gpus", "8")
    assert f"{jobs}: " in refused("verify", jobs, jobs, "--gpus", "8")
    assert "cannot be written" in refused("bound", jobs, "--gpus", "8", "-o", tmp_path / "no" / "a.json")
    assert "gangs: -1: must be at least 0" in refused("bound", jobs, "--gpus", "8", "--gangs=-1", "-o", path)
    shared = gsopt("bound", jobs, "--cluster", "1x1x8", "--setting", "share_limit=2", "-o", path)
    assert shared.returncode == Exit.BAD_INPUT
    assert shared.stderr.endswith("gsopt: share_limit: 2: must be 1 for a certificate\n")
