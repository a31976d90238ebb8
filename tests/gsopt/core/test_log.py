"""Logging: through the standard library, with the facts as fields, and silent unless the program listens."""

import logging
import subprocess
import sys

import pytest

import gsopt
from gsopt.solvers.backends.process import POOL, close
from tests.gsopt.problems.test_reclaiming import figure_5
from tests.gsopt.solvers.backends.models import union_of_servers


def test_a_solve_is_logged_at_both_ends(caplog: pytest.LogCaptureFixture) -> None:
    """The beginning and the end are records of level INFO, whose fields say what the result says."""
    with caplog.at_level(logging.INFO, "gsopt"):
        result = gsopt.solve(figure_5(2))
    first, last = (record for record in caplog.records if record.levelno == logging.INFO)
    assert first.getMessage() == "exact begins on reclaiming"
    assert (
        "exact on reclaiming: optimal, value 1, bound 1, gap 0.0, stopped by finished after"
        in last.getMessage()
    )
    fields = ("instance", "method", "status", "objective", "bound", "gap", "stopped_by", "runtime")
    told = {name: value for name, value in result.as_dict().items() if name in fields}
    assert {name: vars(last)[name] for name in fields} == {"instance": "reclaiming", **told}


def test_heuristics_are_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    """A value without bound is logged as it is."""
    with caplog.at_level(logging.INFO, "gsopt"):
        gsopt.solve(figure_5(2), "greedy")
    assert "greedy on reclaiming: feasible, value 1, bound None, gap None" in caplog.messages[-1]


def test_a_solver_that_dies_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A solver's process that starts is a record of level DEBUG, one that was killed is a warning."""
    close()

    def kill(_incumbent: object) -> None:
        for pid in POOL.pids:
            subprocess.run(["kill", "-9", str(pid)], check=True)  # noqa: S607

    with caplog.at_level(logging.DEBUG, "gsopt"):
        gsopt.backends.Highs().solve(union_of_servers(20, 40, 8), on_incumbent=kill)
    started, died = (record for record in caplog.records if record.name == "gsopt.solvers.backends.process")
    assert (started.levelno, died.levelno) == (logging.DEBUG, logging.WARNING)
    assert died.getMessage() == "highspy: the solver's process ended by SIGKILL"
    assert vars(died)["worker"] == vars(started)["worker"]


def test_nothing_is_printed_unless_the_program_listens() -> None:
    """Without configuration not even warnings are shown, and the root logger is left alone."""
    code = (
        "import logging, gsopt.solvers.backends;"
        "logging.getLogger('gsopt.solvers.backends.process').warning('lost');"
        "assert not logging.getLogger().handlers; print('done')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("done\n", "")
