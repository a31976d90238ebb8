"""Results held against each other."""

from pathlib import Path

import pytest

from gsopt.core.errors import Contradiction
from gsopt.studies import Results, results
from tests.gsopt.studies.samples import fill, found, row, study

_LEAST = {"sense": "minimize"}
_MOST = {"sense": "maximize"}


def test_the_gap_is_to_the_best_bound_of_the_study(tmp_path: Path) -> None:
    """A heuristic's gap is measured against the bound that another method proved on the same instance."""
    grid = study(instances=["reclaiming/small"], methods=["exact", "smallest_job_first"])
    fill(tmp_path, grid)
    rows = results(tmp_path).rows
    optimum = {row.instance_key: row.figures["objective"] for row in rows if str(row.labels.method) == "exact"}
    assert {row.figures["proven_bound"] for row in rows if row.instance_key == rows[0].instance_key} == {
        optimum[rows[0].instance_key]
    }
    gaps = [row.figures["gap"] for row in rows if str(row.labels.method) != "exact"]
    assert max(gap for gap in gaps if gap is not None) > 0
    for each in rows:
        best = optimum[each.instance_key]
        if best:
            assert each.figures["gap"] == pytest.approx((each.figures["objective"] - best) / best)


@pytest.mark.parametrize(("sense", "bound"), [(_LEAST, 3), (_MOST, 1)])
def test_a_value_better_than_a_bound_is_refused(sense: dict[str, str], bound: int) -> None:
    """A value and a bound that cannot both be right raise on one instance, and on two do not."""
    value = row({"objective": 2, "bound": None, **sense})
    proof = row({"objective": None, "bound": bound, **sense}, method="liar")
    elsewhere = row({"objective": None, "bound": bound, **sense}, method="liar", instance="suite/2")
    with pytest.raises(Contradiction, match=r"suite/1: greedy found 2, better than the bound . proven by liar"):
        found(value, proof).refuse_contradictions()
    found(value, elsewhere).refuse_contradictions()


def test_a_contradiction_within_a_cell_is_refused() -> None:
    """A cell that found a contradiction by itself raises it, other failures do not."""
    found(row({}, error="InvalidInput", message="no")).refuse_contradictions()
    with pytest.raises(Contradiction, match="suite/1: greedy: below the bound"):
        found(row({}, error="Contradiction", message="below the bound")).refuse_contradictions()


def test_results_are_a_sequence_a_frame_and_a_table(tmp_path: Path) -> None:
    """A frame has a line per cell with options and figures; the print is the default table."""
    fill(tmp_path, study())
    done = results(tmp_path)
    frame = done.to_frame()
    assert list(frame["method"]) == ["greedy", "exact"]
    assert list(frame["objective"]) == [1, 1]
    assert (len(done), done.missing, done[0].labels.method.base) == (2, 0, "greedy")
    assert "exact" in str(done)
    assert "exact" in done._repr_html_()
    assert isinstance(done, Results)
