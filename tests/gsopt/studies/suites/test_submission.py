"""What others found is checked, and its entry is printed if it is better than what is known."""

from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import gsopt
from gsopt.core.errors import Contradiction, InvalidSolution
from gsopt.core.files import to_json, write
from gsopt.core.problem import About, Problem
from gsopt.evaluation import catalogue
from gsopt.problems.reclaiming import ReclaimingSolution
from gsopt.schedule.foreign import read_schedule
from gsopt.simulation import replay
from gsopt.studies.suites import submit
from heuristics.policies import marginal, srsf
from instances.reclaiming import figure_5
from instances.scenarios import best, whole
from instances.suites import with_about
from tests.docs.scripts import DOCS
from tests.heuristics.policies.shared import traces
from tests.refusals import assert_refused

BEST = ReclaimingSolution(servers=("s1", "s2"))
WORSE = ReclaimingSolution(servers=("s1", "s3"))  # preempts two jobs
DAY = date(2027, 1, 2)
_BY: dict[str, Any] = {"by": "A. Person", "today": DAY}

#: A certificate for the trace of Crux.
CERTIFICATE = DOCS / "_static" / "certificates" / "crux.json"


def facts(file: Path) -> dict[str, str]:
    """Return what every entry says of its file and of the program that checked it."""
    return {"digest": sha256(file.read_bytes()).hexdigest(), "version": version("gsopt")}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Problem[Any]:
    """Return the paper's example, whose optimum is 1, as an instance with the value 2."""
    about = About(source="Aryl", objective=2.0, bound=0.0, found_by="luck", since=date(2026, 11, 20))
    problem = with_about(figure_5(), about.model_dump())
    monkeypatch.setattr(catalogue, "load", lambda _: problem)
    monkeypatch.setattr(catalogue, "best_solution", lambda _: WORSE)
    return problem


def test_a_better_solution_of_an_instance_has_an_entry(known: Problem[Any], tmp_path: Path) -> None:
    """The entry is the instance's own statement with the better value, and the digest of the file."""
    write(BEST, tmp_path / "best.json")
    found = submit(known.name, tmp_path / "best.json", **_BY)
    assert found.note == "value 2 -> 1"
    about = {"source": "Aryl", "objective": 1.0, "bound": 0.0, "found_by": "A. Person", "since": "2027-01-02"}
    assert found.entry == {"instance": known.name, "about": about, **facts(tmp_path / "best.json")}
    assert About.model_validate_json(to_json(About.model_validate(about, strict=False))).objective == 1


def test_an_equal_or_worse_solution_has_none(known: Problem[Any], tmp_path: Path) -> None:
    """One line says that the best known value is at least as good."""
    for solution in (WORSE, ReclaimingSolution(servers=("s1", "s5"))):
        write(solution, tmp_path / "a.json")
        found = submit(known.name, tmp_path / "a.json", **_BY)
        value = known.objective(solution)
        assert value >= 2
        assert found.note == f"value {value} is not better than the best known value 2"
        assert found.entry is None


def test_a_solution_that_breaks_a_rule_is_refused(known: Problem[Any], tmp_path: Path) -> None:
    """One line names the file and the rule, and a solution that beats a proven bound is a contradiction."""
    write(ReclaimingSolution(servers=("s1",)), tmp_path / "a.json")
    with pytest.raises(InvalidSolution, match=r"a\.json: .* 1 are returned, the demand is 2"):
        submit(known.name, tmp_path / "a.json", **_BY)


def test_a_value_beyond_a_proven_bound_is_a_contradiction(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A solution that beats a proven optimum is not entered: one of the two is wrong."""
    proven = with_about(figure_5(), {"objective": 2.0, "bound": 2.0, "proved_by": "a"})
    monkeypatch.setattr(catalogue, "load", lambda _: proven)
    monkeypatch.setattr(catalogue, "best_solution", lambda _: WORSE)
    write(BEST, tmp_path / "a.json")
    with pytest.raises(Contradiction, match="value 1 is better than the bound 2 on file"):
        submit(proven.name, tmp_path / "a.json", **_BY)


def test_a_certificate_proves_a_bound_for_scheduling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A bound on the mean JCT is entered if it is better than the known one, and refused if it is forbidden."""
    name = "scheduling/medium/j20-g16"
    problem = gsopt.load(name)
    file = tmp_path / "a.json"
    write(gsopt.certify(problem.scenario, evaluations=5), file)  # type: ignore[attr-defined]
    assert "is not better than the best known bound" in submit(name, file, **_BY).note

    weaker = with_about(problem, {"bound": 1.0})
    monkeypatch.setattr(catalogue, "load", lambda _: weaker)
    found = submit(name, file, **_BY)
    assert found.entry is not None
    assert 1 < found.entry["about"]["bound"] <= weaker.about.objective  # type: ignore[union-attr]

    monkeypatch.setattr(catalogue, "load", lambda _: with_about(problem, {"objective": 2.0, "bound": 1.0}))
    with pytest.raises(Contradiction, match="forbids the value 2 on file"):
        submit(name, file, **_BY)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, float]:
    """Return a schedule of the first jobs of a workload, and its value; the table is of these jobs alone."""
    given = best.scenario("philly-1", traces())
    fewer = given.workload.model_copy(update={"jobs": given.workload.jobs[:6]})
    given = given.model_copy(update={"workload": fewer})
    monkeypatch.setattr(best, "scenario", lambda *_: given)
    run = replay(given, marginal, round_length=60, record=True)
    assert run.schedule is not None
    (tmp_path / "few.csv").write_text(run.schedule.to_csv())
    return tmp_path / "few.csv", run.metrics.mean_jct


def known_as(monkeypatch: pytest.MonkeyPatch, value: float, bound: float) -> best.BestSchedule:
    """Let the table of workloads state this value and bound, and return its row."""
    row = best.BestSchedule(name="philly-1", mean_jct=value, bound=bound, found_by="luck", since=DAY)
    monkeypatch.setattr(best, "best_schedules", lambda: (row,))
    return row


def test_a_better_schedule_of_a_workload_has_an_entry(
    monkeypatch: pytest.MonkeyPatch, few: tuple[Path, float]
) -> None:
    """The entry is a line of the list with the value that the judge found; the bound stays."""
    file, value = few
    known_as(monkeypatch, value, 1.0)
    found = submit("scenarios/philly-1", file, path=traces(), **_BY)
    assert (found.entry, found.note) == (None, f"value {value} is not better than the best known value {value}")

    row = known_as(monkeypatch, value + 1, 1.0)
    found = submit("scenarios/philly-1", file, path=traces(), **_BY)
    update = {"mean_jct": value, "found_by": "A. Person", "since": DAY, **facts(file)}
    assert found.entry == row.model_copy(update=update).model_dump(mode="json")
    assert best.BestSchedule.model_validate(found.entry, strict=False).digest == facts(file)["digest"]

    known_as(monkeypatch, value + 1, value + 0.5)
    with pytest.raises(Contradiction, match=r"scenarios/philly-1: the value .* is better than the bound"):
        submit("scenarios/philly-1", file, path=traces(), **_BY)


def test_a_schedule_changes_at_whole_minutes(few: tuple[Path, float]) -> None:
    """Workloads whose bound is for rounds take no schedule off the minute."""
    file, _ = few
    file.write_text(read_schedule(file).timed(lambda time: time + 1).to_csv())
    assert_refused("multiples of 60", submit, "scenarios/philly-1", file, path=traces(), **_BY)


def test_a_better_bound_on_a_workload_has_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate for rounds of a minute raises a workload's bound, and one for other rounds does not."""
    file = CERTIFICATE.with_name("philly-2.json")
    known = best.best_schedules()
    monkeypatch.setattr(
        best, "best_schedules", lambda: tuple(row.model_copy(update={"bound": 1.0}) for row in known)
    )

    entry = submit("scenarios/philly-2", file, path=traces(), **_BY).entry
    assert entry is not None
    row = next(row for row in known if row.name == "philly-2")
    assert entry["mean_jct"] == row.mean_jct
    assert 0.99 * row.bound < entry["bound"] <= row.mean_jct

    monkeypatch.setattr(best, "ROUND", 30)
    assert_refused(
        "round_length: 60.0: must be 30 or None", submit, "scenarios/philly-2", file, path=traces(), **_BY
    )


def stating(monkeypatch: pytest.MonkeyPatch, **facts: float) -> Mapping[str, Any]:
    """Let the table of traces state other values for Crux, and return its row."""
    row = whole.rows()["crux"] | facts
    monkeypatch.setattr(whole, "rows", lambda: {"crux": row})
    return row


def test_a_better_bound_on_a_trace_has_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry is the row of the trace with the bound of the certificate and its digest."""
    row = whole.rows()["crux"]
    found = submit("traces/crux", CERTIFICATE, path=traces(), **_BY)
    assert found.note == f"bound {row['bound']} is not better than the best known bound {row['bound']}"

    before = stating(monkeypatch, bound=14_000.0)
    found = submit("traces/crux", CERTIFICATE, path=traces(), **_BY)
    named = {"by": "A. Person", "date": "2027-01-02", "version": version("gsopt")}
    assert found.entry == {**before, **named, "bound": row["bound"], "certificate": row["certificate"]}

    stating(monkeypatch, value=14_100.0)
    with pytest.raises(Contradiction, match=r"the value 14100.0 is better than the bound"):
        submit("traces/crux", CERTIFICATE, path=traces(), **_BY)


def test_a_better_schedule_of_a_trace_has_an_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The judge computes its value anew, whatever found it."""
    run = replay(whole.scenario("crux", traces()), srsf, record=True)
    file = tmp_path / "crux.csv"
    assert run.schedule is not None
    file.write_text(run.schedule.to_csv())
    assert submit("traces/crux", file, path=traces(), **_BY).entry is None

    stating(monkeypatch, value=1e6)
    entry = submit("traces/crux", file, path=traces(), **_BY).entry
    assert entry is not None
    assert entry["value"] == pytest.approx(run.metrics.mean_jct, rel=1e-9)
    assert entry["value"] == entry["values"]["A. Person"]
    assert (entry["policy"], entry["schedule"]) == ("A. Person", facts(file)["digest"])

    file.write_text(run.schedule.to_csv().rpartition("\n")[0].rpartition("\n")[0])
    with pytest.raises(InvalidSolution, match=r"crux\.csv: .* does not complete"):
        submit("traces/crux", file, path=traces(), **_BY)


def test_wrong_inputs_are_refused(tmp_path: Path) -> None:
    """One line names the file, the field, its value and the rule."""
    csv = best.FOLDER / "philly-1.csv"
    assert_refused("must be one of", submit, "traces/nope", csv, path=traces(), **_BY)
    assert_refused("must be one of", submit, "scenarios/nope", csv, path=traces(), **_BY)
    assert_refused("no committed instance", submit, "reclaiming/nope", csv, **_BY)
    assert_refused("cannot be read", submit, "reclaiming/aryl-figure-5", tmp_path / "a.json", **_BY)
    assert_refused("on one line", submit, "reclaiming/aryl-figure-5", csv, by=" ")
    assert_refused("certificates are for", submit, "reclaiming/aryl-figure-5", CERTIFICATE, **_BY)
    assert_refused("jobs: 2257: must be the 30", submit, "scheduling/challenge/j30-g32", CERTIFICATE, **_BY)
    assert_refused("jobs: 2257: must be", submit, "scenarios/philly-1", CERTIFICATE, path=traces(), **_BY)
    assert_refused(
        "that of the jobs of venus", submit, "traces/venus", CERTIFICATE, path=small(tmp_path), **_BY
    )


def small(folder: Path) -> Path:
    """Return a trace in the form of Helios that is not that of Venus."""
    file = folder / "venus.csv"
    file.write_text("job_id,arrival_s,service_sec,gpu_count\n1,0.0,9.0,2\n")
    return file
