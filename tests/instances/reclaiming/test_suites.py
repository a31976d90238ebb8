"""The committed files: they are what the generators write, and their optima are right."""

from pathlib import Path
from shutil import copytree

import pytest

from gsopt.files import write
from gsopt.problem import About
from gsopt.problems.reader import read_problem
from gsopt.problems.reclaiming import Reclaiming
from gsopt.testing import brute_force
from instances import load, names
from instances.reclaiming import suites

TINY = ["reclaiming/aryl-figure-5", *names("reclaiming/small/")]


def loaded(name: str) -> Reclaiming:
    """Load an instance of reclaiming."""
    problem = load(name)
    assert isinstance(problem, Reclaiming)
    return problem


def optimum(name: str) -> float:
    """Give the optimum that a file carries."""
    about = load(name).about
    assert about is not None
    assert about.objective is not None
    return about.objective


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a folder with a copy of the committed files."""
    copytree(suites.FOLDER / "reclaiming", tmp_path / "reclaiming")
    return tmp_path


def test_regenerating_changes_no_byte(copy: Path) -> None:
    """The committed files, and no others, are written again byte by byte."""
    paths = suites.regenerate(copy)

    assert sorted(path.relative_to(copy).with_suffix("").as_posix() for path in paths) == names("reclaiming/")
    for path in paths:
        assert path.read_bytes() == (suites.FOLDER / path.relative_to(copy)).read_bytes(), path.name


def test_regenerating_from_nothing_gives_the_same_data(tmp_path: Path) -> None:
    """In an empty folder the same instances are written, the larger ones without an optimum."""
    for path in suites.regenerate(tmp_path):
        written = read_problem(path)
        committed = load(written.name)
        assert written.model_copy(update={"about": None}) == committed.model_copy(update={"about": None})


def test_a_proof_is_kept_as_long_as_the_data_stay(copy: Path) -> None:
    """A recorded optimum survives regeneration; one that belongs to other data does not."""
    path = copy / "reclaiming/production/packed-020.json"
    standing = read_problem(path)
    assert standing.about is not None
    proof = {"objective": 5.0, "bound": 4.0, "proved_by": "somebody"}
    recorded = standing.model_copy(update={"about": standing.about.model_copy(update=proof)})

    write(recorded, path)
    suites.regenerate(copy)
    assert read_problem(path) == recorded

    write(recorded.model_copy(update={"demand": 21}), path)
    suites.regenerate(copy)
    renewed = read_problem(path)
    assert isinstance(renewed, Reclaiming)
    assert renewed.demand == 20
    assert renewed.about == About(source=standing.about.source, seed=standing.about.seed)


@pytest.mark.parametrize("name", TINY)
def test_brute_force_confirms_every_small_instance(name: str) -> None:
    """The optimum that a small file carries is the one that trying every choice finds."""
    problem = loaded(name)
    found = brute_force(problem)

    assert found is not None
    assert problem.about is not None
    assert problem.about.objective == problem.about.bound == found[0]
    assert problem.about.proved_by == "brute force"
    assert 4 <= len(problem.servers) <= 9


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show that each variant of the problem changes the optimum."""
    objective = {name.rpartition("/")[2]: optimum(name) for name in TINY}

    assert objective["fungible"] < objective["tagged"]
    assert objective["fungible-weighted"] < objective["tagged-weighted"]
    assert objective["collateral-fungible"] < objective["collateral-tagged"]
    assert objective["demand-0"] == objective["no-jobs"] == 0
    assert objective["weighted-fractions"] == 0.75


def test_the_production_suite() -> None:
    """Three modes and four demands at 520 servers, in files of less than 100 kB."""
    expected = [
        f"reclaiming/production/{mode}-{demand}"
        for mode in ("mixed", "packed", "worker")
        for demand in ("020", "060", "150", "300")
    ]

    assert expected == names("reclaiming/production/")
    for name in expected:
        problem = loaded(name)
        assert (len(problem.servers), problem.demand) == (520, int(name[-3:]))
        assert (suites.FOLDER / f"{name}.json").stat().st_size < 100_000
