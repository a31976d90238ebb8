"""What regenerating a suite keeps."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gsopt.files import write
from instances.reclaiming import figure_5
from instances.scheduling import elastic_jobs
from instances.standing import changed, renamed, with_about, with_kept_proof

PROOF = {"objective": 1.0, "bound": 1.0, "proved_by": "hand"}


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
    assert kept.about is not None
    assert kept.about.proved_by == "hand"
    other = changed(fresh, demand=3)
    assert with_kept_proof(other, path) is other


def test_what_was_derived_from_the_old_problem_is_derived_anew() -> None:
    """A changed problem does not carry over properties that were computed before the change."""
    problem = elastic_jobs(jobs=2, seed=1)
    names = [job.name for job in problem.workload.jobs]

    assert [job.name for job in changed(problem, jobs=problem.jobs[:1]).workload.jobs] == names[:1]
