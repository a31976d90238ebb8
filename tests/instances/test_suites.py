"""The committed files of every decision are what its generators write, and keep what is known of optima."""

from collections.abc import Callable, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from gsopt.core.files import write
from gsopt.core.problem import Problem
from instances import load, names
from instances.allocation import suites as allocation
from instances.reclaiming import figure_5
from instances.scheduling import elastic_jobs
from instances.suites import FOLDER, changed, proven, regenerate, renamed, with_about, with_kept_proof
from tests.unwrap import unwrap

DAY, LATER = date(2026, 11, 20), date(2026, 11, 22)

PROOF = {"objective": 1.0, "bound": 1.0, "proved_by": "hand", "since": DAY}


class Suite(NamedTuple):
    """The committed instances of a decision."""

    committed: Callable[[], Sequence[Problem[Any]]]
    tiny: Callable[[], Sequence[Problem[Any]]] | None  # those that enumeration proves
    largest_file: int

    @classmethod
    def of(cls, word: str, tiny: str | None, largest_file: int) -> "Suite":
        """Return the suite of a decision, whose module makes what is tiny under a name."""
        module = import_module(f"instances.{word}.suites")
        return cls(module.committed, getattr(module, tiny) if tiny else None, largest_file)


#: What makes the instances that enumeration proves, if there are any, and the size of the largest file.
SUITES = {
    "admission": Suite.of("admission", "small", 110_000),
    "allocation": Suite.of("allocation", "tiny", 200_000),
    "batching": Suite.of("batching", "small", 200_000),
    "colocation": Suite.of("colocation", "small", 200_000),
    "configuration": Suite.of("configuration", "small", 200_000),
    "consolidation": Suite.of("consolidation", "small", 100_000),
    "goodput": Suite.of("goodput", "small", 100_000),
    "placement": Suite.of("placement", "small", 100_000),
    "reclaiming": Suite.of("reclaiming", "tiny", 100_000),
    "scheduling": Suite.of("scheduling", None, 10_000),
    "sequencing": Suite.of("sequencing", "small", 30_000),
    "shares": Suite.of("shares", None, 30_000),
    "sharing": Suite.of("sharing", None, 10_000),
    "waiting": Suite.of("waiting", None, 10_000),
}


#: Decisions whose proven bounds are floats that may miss the value by a little.
FLOATS = {"scheduling", "shares", "sharing"}


@pytest.fixture(params=SUITES)
def word(request: pytest.FixtureRequest) -> str:
    """Return each decision in turn."""
    return str(request.param)


def test_regenerating_changes_no_byte(word: str, tmp_path: Path) -> None:
    """The committed files, and no others, are written again byte by byte, with what they say of optima."""
    copytree(FOLDER / word, tmp_path / word, ignore=lambda _, files: [f for f in files if f.endswith(".py")])

    paths = regenerate(SUITES[word].committed(), tmp_path)

    assert sorted(path.relative_to(tmp_path).with_suffix("").as_posix() for path in paths) == names(f"{word}/")
    for path in paths:
        assert path.read_bytes() == (FOLDER / path.relative_to(tmp_path)).read_bytes(), path.name


@pytest.mark.parametrize("word", [word for word, suite in SUITES.items() if suite.tiny])
def test_tiny_files_are_written_from_nothing(word: str, tmp_path: Path) -> None:
    """Into an empty folder every tiny instance is written as it is, its optimum found by enumeration today."""
    tiny = unwrap(SUITES[word].tiny)

    for path in regenerate(tiny(), tmp_path, prove=proven, today=DAY):
        name = path.relative_to(tmp_path).with_suffix("").as_posix()
        assert load(path) == with_about(load(name), {"since": DAY}), name


def test_large_files_are_written_from_nothing_without_an_optimum(word: str, tmp_path: Path) -> None:
    """Into an empty folder the same data are written, and nothing is claimed of them."""
    for path in regenerate(SUITES[word].committed(), tmp_path):
        written = load(path)
        assert written.about is None or written.about.objective is None
        committed = load(written.name)
        assert written.model_copy(update={"about": None}) == committed.model_copy(update={"about": None})


def test_files_say_how_much_is_known(word: str) -> None:
    """Challenges are bracketed and all others proven, what is tiny by enumeration; one is too hard so far."""
    tiny = SUITES[word].tiny
    enumerated = {problem.name for problem in tiny()} if tiny else set()
    for name in names(f"{word}/"):
        about = unwrap(load(name).about)
        assert (about.proved_by == "brute force") == (name in enumerated), name
        if not about.proved_by:
            assert unwrap(about.bound) != unwrap(about.objective)
            assert "/challenge/" in name or name == "scheduling/medium/j20-g16", name
        elif word in FLOATS:
            assert about.objective == pytest.approx(about.bound, rel=1e-6), name
        else:
            assert about.objective == about.bound, name


@pytest.mark.parametrize("word", ["configuration", "goodput"])
def test_small_instances_differ_in_what_they_show(word: str) -> None:
    """No two small instances have the same data."""
    data = [load(name).model_dump_json(exclude={"name", "about"}) for name in names(f"{word}/small/")]
    assert len(set(data)) == len(data)


def test_files_are_small(word: str) -> None:
    """No file is larger than its decision allows."""
    assert max(path.stat().st_size for path in (FOLDER / word).rglob("*.json")) < SUITES[word].largest_file


def test_only_instances_of_which_nothing_is_known_are_solved(tmp_path: Path) -> None:
    """A proof or a bracket stands while the data stay; where there is none, or other data, it is sought."""
    proof, bracket = renamed(figure_5(), "proof"), renamed(figure_5(), "bracket")
    elsewhere = changed(figure_5(), name="reclaiming/other")
    (tmp_path / "reclaiming").mkdir()
    write(with_about(proof, PROOF), tmp_path / "reclaiming/proof.json")
    open_facts = {"objective": 7.0, "bound": 0.5, "found_by": "luck", "since": DAY}
    write(with_about(bracket, open_facts), tmp_path / "reclaiming/bracket.json")
    write(with_about(changed(elsewhere, demand=3), PROOF), tmp_path / "reclaiming/other.json")
    found = {"objective": 2.0, "bound": 2.0, "proved_by": "search"}

    paths = regenerate(
        [proof, bracket, elsewhere],
        tmp_path,
        prove=lambda problem: with_about(problem, found),
        today=LATER,
    )

    abouts = [about for path in paths if (about := load(path).about)]
    assert [about.proved_by or about.found_by for about in abouts] == ["hand", "luck", "search"]
    assert [(about.objective, about.bound) for about in abouts] == [(1.0, 1.0), (7.0, 0.5), (2.0, 2.0)]
    assert [about.since for about in abouts] == [DAY, DAY, LATER]


def test_enumeration_proves_an_optimum() -> None:
    """The optimum found by trying every choice is value and bound; that there is none is proven likewise."""
    about = unwrap(proven(figure_5()).about)
    assert (about.objective, about.bound, about.proved_by) == (1.0, 1.0, "brute force")
    stuck = next(problem for problem in allocation.small() if problem.name.endswith("cannot-start"))
    about = unwrap(proven(stuck).about)
    assert (about.objective, about.bound, about.proved_by) == (None, None, "brute force")


def test_changes_are_checked() -> None:
    """A changed problem obeys every rule, unlike a mere copy."""
    assert changed(figure_5(), demand=3).demand == 3
    with pytest.raises(ValidationError, match="at most the 6 servers"):
        changed(figure_5(), demand=7)


def test_a_proof_is_kept_while_the_data_stand(tmp_path: Path) -> None:
    """The committed proof goes over to the same data, and to no others."""
    fresh = renamed(changed(figure_5(), about=None), "example")
    path = tmp_path / "example.json"
    assert with_kept_proof(fresh, path) is fresh

    write(with_about(fresh, PROOF), path)
    kept = with_kept_proof(fresh, path)
    assert unwrap(kept.about).proved_by == "hand"
    other = changed(fresh, demand=3)
    assert with_kept_proof(other, path) is other


def test_what_was_derived_from_the_old_problem_is_derived_anew() -> None:
    """A changed problem does not carry over properties that were computed before the change."""
    problem = elastic_jobs(jobs=2, seed=1)
    names = [job.name for job in problem.workload.jobs]

    assert [job.name for job in changed(problem, jobs=problem.jobs[:1]).workload.jobs] == names[:1]
