"""Exported models are read and solved by a solver that knows nothing of gsopt."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import highspy
import pytest

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.numbers.tolerances import FEASIBILITY
from gsopt.core.problem import Problem
from gsopt.evaluation.catalogue import exact_methods, load, names
from gsopt.evaluation.export import export_model
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.problems.reader import problem_types
from gsopt.problems.reclaiming import Job, Reclaiming, Server
from gsopt.solvers.formulation import Formulation
from tests.unwrap import unwrap

FORMULATIONS = [
    (word, name)
    for word in problem_types()
    for name, method in exact_methods(word).items()
    if isinstance(method, Formulation)
]


_FEW = 2


def solved(path: Path) -> float:
    """Read a model file and give its optimum."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def expressed(word: str, name: str) -> list[Problem[Any]]:
    """Return a few small instances that a formulation expresses, of those with an optimum."""
    method = exact_methods(word)[name]
    found: list[Problem[Any]] = []
    alone = [name for name in names(f"{word}/") if name.count("/") == 1]
    for instance in [*names(f"{word}/small/"), *alone]:
        problem = load(instance)
        try:
            if problem.about and problem.about.objective and isinstance(method, Formulation):
                method.standard_form(problem)
                found.append(problem)
        except Unsupported:
            continue
        if len(found) == _FEW:
            break
    return found


@pytest.mark.parametrize(("word", "name"), FORMULATIONS)
def test_the_file_has_the_optimum_of_the_instance(word: str, name: str, tmp_path: Path) -> None:
    """The optimum of either file is the instance's own value: sense, constant and scale are in the file.

    A model that counts something else says so in the first line.
    """
    problems = expressed(word, name)
    assert problems
    method = exact_methods(word)[name]
    own = method.own_unit if isinstance(method, Formulation) else ""
    for number, problem in enumerate(problems):
        path = tmp_path / ("a.mps" if number % 2 else "a.lp")
        export_model(problem, path, name)
        assert (own or problem.unit) in path.read_text().partition("\n")[0]
        if not own:
            assert solved(path) == pytest.approx(unwrap(problem.about).objective, rel=FEASIBILITY), problem.name


def test_constants_are_in_the_file(tmp_path: Path) -> None:
    """A large constant and a maximized objective come through in both formats."""
    late = ElasticJob(
        name="late", min_workers=2, max_workers=4, time_at_min=5, queued=True, values=(-5.5, 3.25)
    )
    large = ElasticJob(name="large", min_workers=1, max_workers=2, values=(1e6 + 0.125,))
    problem = Allocation(capacity=9, jobs=[late, large])
    for name in ("a.mps", "a.lp"):
        export_model(problem, tmp_path / name)
        assert solved(tmp_path / name) == pytest.approx(1e6 + 3.375, rel=1e-12)


@pytest.mark.parametrize("ending", [".mps", ".lp"])
def test_names_of_strangers_break_no_file(tmp_path: Path, ending: str) -> None:
    """Whatever jobs, servers and instances are called, the file is read, and comments stay comments."""
    hostile = ["a b", "ENDATA", "*", "end", "1e5", "-x", "x" * 190, "ß\u00a0ROWS", "'\"<script>"]
    problem = Reclaiming(
        name="bounds\u00a0 free",
        demand=2,
        servers=[Server(name=name, gpus=8) for name in hostile],
        jobs=[Job(name=f"{name} job", workers={name: 4, other: 4}) for name, other in pairwise(hostile)],
    )
    path = tmp_path / f"a{ending}"
    export_model(problem, path)
    head = path.read_text(encoding="utf-8").splitlines()[:3]
    assert all(line.startswith("* " if ending == ".mps" else "\\ ") for line in head)
    assert solved(path) == 2


@pytest.mark.parametrize(
    ("instance", "name", "method", "error", "message"),
    [
        ("reclaiming/aryl-figure-5", "a.txt", None, InvalidInput, r"must end in \.mps or \.lp"),
        ("reclaiming/aryl-figure-5", "no/a.mps", None, InvalidInput, "cannot be written"),
        ("reclaiming/aryl-figure-5", "a.mps", "exact", InvalidInput, "must be one of milp, reduced"),
        ("waiting/small/one-job", "a.mps", None, Unsupported, "waiting has no integer program"),
        ("scheduling/small/fair-j4-g4", "a.mps", "resizing", Unsupported, "resizing: "),
    ],
)
def test_what_cannot_be_written_is_one_line(
    tmp_path: Path, instance: str, name: str, method: str | None, error: type[Exception], message: str
) -> None:
    """Wrong endings, folders and methods are named, and nothing is left behind."""
    with pytest.raises(error, match=message):
        export_model(load(instance), tmp_path / name, method)
    assert list(tmp_path.iterdir()) == []
