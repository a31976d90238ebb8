"""The committed suites are what the generators make, small enough, and proven."""

from pathlib import Path

import pytest

from gsopt.studies.catalogue import load, names
from gsopt.testing import brute_force
from instances.allocation.suites import committed, production, proven, regenerate, small


def test_files_are_what_the_generators_make(tmp_path: Path) -> None:
    """Writing every small instance and example anew gives the committed files, byte for byte."""
    import instances

    committed_folder = Path(instances.__file__).parent
    large = {problem.name for problem in production()}
    for path in regenerate(tmp_path):
        name = path.relative_to(tmp_path).with_suffix("").as_posix()
        if name not in large:
            assert path.read_text() == (committed_folder / f"{name}.json").read_text(), name


def test_no_file_is_left_over() -> None:
    """Every committed file has a generator, and every generated instance a file."""
    assert sorted(problem.name for problem in committed()) == names("allocation/")


def test_large_files_hold_what_the_generators_make() -> None:
    """The jobs of the large instances are those of the generator; only the proof stands in the file alone."""
    for problem in production():
        standing = load(problem.name)
        assert standing.model_copy(update={"about": problem.about}) == problem
        assert standing.about is not None
        assert standing.about.objective == standing.about.bound is not None


def test_a_standing_proof_is_kept(tmp_path: Path) -> None:
    """Regenerating keeps the proof of a large instance that has not changed."""
    import instances

    name = production()[0].name
    source = Path(instances.__file__).parent / f"{name}.json"
    target = tmp_path / f"{name}.json"
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    regenerate(tmp_path)
    assert target.read_bytes() == source.read_bytes()


def test_files_are_small() -> None:
    """No file is larger than 200 kB."""
    import instances

    folder = Path(instances.__file__).parent / "allocation"
    assert max(path.stat().st_size for path in folder.rglob("*.json")) < 200_000


@pytest.mark.parametrize("problem", small(), ids=lambda problem: problem.name.rpartition("/")[2])
def test_small_instances_carry_the_optimum_of_enumeration(problem: object) -> None:
    """The value and bound in every small file are those of enumeration; the one that cannot start has none."""
    name = getattr(problem, "name", "")
    standing = load(name)
    best = brute_force(standing)
    assert standing.about is not None
    assert (standing.about.objective is None) == (best is None) == name.endswith("cannot-start")
    assert best is None or standing.about.objective == float(best[0])


def test_an_infeasible_instance_is_left_without_a_proof() -> None:
    """Without a solution there is no value to write."""
    stuck = next(problem for problem in small() if problem.name.endswith("cannot-start"))
    assert proven(stuck) == stuck
