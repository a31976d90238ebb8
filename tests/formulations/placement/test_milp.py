"""The assignment model."""

import pytest

from formulations.placement import milp
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.solvers.backends import CpSat
from gsopt.testing import check_formulation
from tests.strategies.placement import committed


def test_the_small_suite() -> None:
    """On every committed small instance the optimum of enumeration is proven."""
    problems = [load(name) for name in names("placement/small/")]
    assert check_formulation(milp, problems, backends=[CpSat()]) == len(problems)


def test_one_column_per_line_and_server() -> None:
    """Three lines on four servers are twelve columns and one for every server."""
    form = milp.standard_form(committed("small/six-items"))

    assert len(form.columns) == 3 * 4 + 4
    assert form.integral_objective


def test_the_model_has_groups_only_for_preferences() -> None:
    """Groups and sharing have columns where preferences are minimized, whole jobs where they are not split."""
    named = {name: milp.standard_form(committed(f"small/{name}")).columns for name in NAMES}
    kinds = {name: {column.partition("[")[0] for column in columns} for name, columns in named.items()}

    assert kinds == {
        "six-items": {"x", "y"},
        "preferences": {"x", "y", "m", "f"},
        "whole-jobs": {"x", "y", "h"},
        "preferences-whole-jobs": {"x", "y", "f", "h"},
    }


NAMES = ("six-items", "preferences", "whole-jobs", "preferences-whole-jobs")


def test_amounts_too_fine_are_refused() -> None:
    """Bytes that have no common divisor are refused, because no solver can be trusted with them."""
    problem = Placement(
        servers=(Server(name="s", count=2, capacity=Resources(gpu=1, memory=999_999_937)),),
        workers=tuple(
            Workers(job=str(memory), demand=Resources(memory=memory)) for memory in (700_001, 900_007)
        ),
    )
    with pytest.raises(Unsupported, match="milp: amounts up to 1,600,008 are too fine"):
        milp(problem)


def test_nothing_to_place_is_solved() -> None:
    """Without workers the servers in use are counted."""
    result = milp(committed("small/no-workers"))

    assert (result.status, result.objective) == (Status.OPTIMAL, 1)
