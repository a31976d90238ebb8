"""The committed suites are what the generators make, small enough, and proven."""

from pathlib import Path

import pytest

from formulations.placement import exact
from gsopt.problems.placement import Placement
from gsopt.result import Status
from gsopt.studies.catalogue import load, names
from gsopt.testing import brute_force
from heuristics.placement import best_fit_decreasing
from instances.placement.suites import FOLDER, committed, production, proven, regenerate, small
from tests.strategies.placement import committed as standing


def test_files_are_what_the_generators_make(tmp_path: Path) -> None:
    """Writing every small instance anew gives the committed file, byte for byte."""
    large = {problem.name for problem in production()}
    for path in regenerate(tmp_path):
        name = path.relative_to(tmp_path).with_suffix("").as_posix()
        if name not in large:
            assert path.read_text() == (FOLDER / f"{name}.json").read_text(), name


def test_no_file_is_left_over() -> None:
    """Every committed file has a generator, and every generated instance a file."""
    assert sorted(problem.name for problem in committed()) == names("placement/")


def test_large_files_hold_what_the_generators_make() -> None:
    """The data of the large instances are the generator's; only the proof stands in the file alone."""
    for problem in production():
        standing = load(problem.name)
        assert standing.model_copy(update={"about": problem.about}) == problem
        assert standing.about is not None
        assert standing.about.objective == standing.about.bound is not None


def test_a_standing_proof_is_kept(tmp_path: Path) -> None:
    """Regenerating keeps the proof of a large instance that has not changed."""
    name = production()[0].name
    target = tmp_path / f"{name}.json"
    target.parent.mkdir(parents=True)
    target.write_bytes((FOLDER / f"{name}.json").read_bytes())
    regenerate(tmp_path)

    assert target.read_bytes() == (FOLDER / f"{name}.json").read_bytes()


def test_files_are_small() -> None:
    """No file is larger than 100 kB."""
    assert max(path.stat().st_size for path in (FOLDER / "placement").rglob("*.json")) < 100_000


@pytest.mark.parametrize("problem", small(), ids=lambda problem: problem.name.rpartition("/")[2])
def test_small_instances_carry_the_optimum_of_enumeration(problem: Placement) -> None:
    """A small file carries the optimum of enumeration, or none where there is no placement."""
    best = brute_force(problem)
    about = proven(problem).about

    assert about is not None
    assert about.objective == about.bound == (None if best is None else best[0])
    assert load(problem.name).about == about


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show where the optimum is not what the simplest rule gives."""
    optimum = {problem.name.rpartition("/")[2]: exact(problem) for problem in small()}

    assert best_fit_decreasing(standing("small/six-items")).objective == 3
    assert optimum["six-items"].objective == 2
    assert optimum["too-large-a-worker"].status is optimum["too-many-workers"].status is Status.INFEASIBLE
    whole = standing("small/whole-jobs")
    assert optimum["whole-jobs"].objective == 4
    assert exact(Placement(**{**dict(whole), "split_jobs": True})).objective == 3


def test_best_fit_leaves_workers_of_crowded_clusters_behind() -> None:
    """On the crowded instances best fit does not place everybody, though there is a placement."""
    for name in ("crowded-06-1500", "crowded-06-1700"):
        problem = standing(f"production/{name}")
        assert best_fit_decreasing(problem).objective is None
        assert exact(problem).status is Status.OPTIMAL
