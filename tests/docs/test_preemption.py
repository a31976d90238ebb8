"""The page of preemption rules: it follows from the stored rows, and the rows hold."""

import json
from functools import partial
from typing import Any

import pytest

import gsopt
from gsopt.core.method import Method, run
from gsopt.evaluation import catalogue
from gsopt.simulation import Policy, simulate
from gsopt.studies.spec import Study
from instances.admission import filled, latest_is_widest
from instances.workloads import two_classes
from tests.docs.scripts import DOCS, script
from tests.unwrap import unwrap

ROWS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "preemption.json").read_text("utf-8"))
RUNS: list[dict[str, Any]] = json.loads((DOCS / "_static" / "priorities.json").read_text("utf-8"))
COMMITTED = [row for row in ROWS if "options" not in row]

#: A generated instance of each kind is enough, as they take longer.
GENERATED = [row for row in ROWS if row.get("options", {"seed": 0}).get("seed", 1) == 1]


def test_the_page_follows_from_the_rows() -> None:
    """The program would write the same page again."""
    assert script("preemption").page(ROWS, RUNS) == (DOCS / "preemption.md").read_text("utf-8")


def _method(name: str) -> Method:
    if name == "workload_aware, as proposed":
        return partial(catalogue.find_method("admission", "workload_aware"), placing="once")
    return catalogue.find_method("admission", name)


@pytest.mark.parametrize("row", [*COMMITTED, *GENERATED], ids=lambda row: row["instance"])
def test_a_row_holds(row: dict[str, Any]) -> None:
    """Each method finds a way again, or none, at the same cost and with as many evicted GPUs."""
    options = row.get("options", {})
    generator = latest_is_widest if "wide" in options else filled
    problem = generator(**options) if options else gsopt.load(row["instance"])
    assert problem.headline()["pending GPUs"] == row["pending"]
    for name, (status, *figures) in row["methods"].items():
        result = run(_method(name), problem)
        assert str(result.status) == status, name
        if result.solution is None:
            assert not figures, name
            continue
        assert float(unwrap(result.objective)) == pytest.approx(figures[0]), name
        if name != "exact":  # equal optima may evict different gangs
            assert problem.measures(result.solution)["evicted_gpus"] == figures[1], name


def _policy(study: Study, label: str) -> Policy:
    """Return the policy that the study calls by a label, with its options."""
    entry = next(dict(method) for method in study.methods if method["label"] == label)
    del entry["label"]
    return partial(catalogue.find_policy(entry.pop("policy")), **entry)


@pytest.mark.parametrize("policy", ["latest first", "exact, lost work"])
def test_a_simulation_holds(policy: str) -> None:
    """The first workload runs again as the page's rows say, with work that is lost and with restarts."""
    study = Study.model_validate_json((DOCS / "studies" / "priorities.json").read_text("utf-8"))
    for entry in study.instances:
        row = next(row for row in RUNS if (row["group"], row["policy"]) == (entry["label"], policy))
        workload = two_classes(gpus=128, **row["workload"])
        physics = {"overheads": entry["overheads"]} if "overheads" in entry else {}
        found = simulate(workload, _policy(study, policy), cluster=entry["cluster"], **physics).metrics
        assert workload.gpu_hours == row["needed"]
        for figure in ("preemptions", "gpu_hours", "mean_jct", "mean_jct_highest", "mean_jct_others"):
            assert float(getattr(found, figure)) == pytest.approx(row[figure], rel=1e-12), figure


def test_no_rule_beats_the_optimum() -> None:
    """In every row, the cost of each rule is at least the optimum."""
    for row in ROWS:
        least = row["methods"]["exact"][1] if row["methods"]["exact"][0] == "optimal" else None
        found = [figures[0] for name, (_, *figures) in row["methods"].items() if name != "exact" and figures]
        assert least is None or all(value >= least * (1 - 1e-12) for value in found), row["instance"]
        assert least is not None or not found, row["instance"]


def test_every_case_table_is_on_the_page() -> None:
    """The page says of each rule how many cases of its program's tests it passes."""
    text = (DOCS / "preemption.md").read_text("utf-8")
    for path in (DOCS.parent / "tests" / "heuristics" / "admission" / "tables").glob("*.json"):
        assert f"### {path.stem}\n\nThe {len(json.loads(path.read_text())['cases'])} cases " in text
