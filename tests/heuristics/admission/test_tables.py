"""The rules of schedulers choose the victims that the tests of these schedulers expect.

Each table in the folder `tables` states its source, and which cases of the source the decision cannot express.
"""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import heuristics.admission
from gsopt.problems.admission import Admission, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Rack

TABLES = {
    file.stem: json.loads(file.read_text())
    for file in sorted((Path(__file__).parent / "tables").glob("*.json"))
}
CASES = [(rule, case) for rule, table in TABLES.items() for case in table["cases"]]


def _problem(case: dict[str, Any]) -> Admission:
    sizes = iter(enumerate(case["machines"]))
    racks, nodes = [], {}
    for number, size in enumerate(case.get("racks", [len(case["machines"])])):
        machines = []
        for name, gpus in islice(sizes, size):
            machines.append(Machine(name=str(name), gpus=max(gpus, 1)))
            if not gpus:
                nodes[str(name)] = Node(capacity=Resources())
        racks.append(Rack(name=f"rack {number}", machines=machines))
    running = []
    for name, given in case["running"].items():
        facts = dict(given)
        part = Part(count=sum(facts["on"].values()), needs=Resources(gpu=facts.pop("gpus", 1)))
        move_cost = 1.0 if facts.pop("movable", False) else None
        running.append(Running(name=name, parts=[part], on=[facts.pop("on")], move_cost=move_cost, **facts))
    facts = dict(case["pending"])
    places = {"allowed": facts.pop("where")} if "where" in facts else {}
    part = Part(
        count=facts.pop("workers", 1), needs=Resources(gpu=facts.pop("gpus")), where="allowed" if places else ""
    )
    return Admission(
        cluster=Cluster(racks=racks),
        nodes=nodes,
        places=places,
        running=running,
        pending=[Gang(name="pending", parts=[part], **facts)],
    )


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule}: {case['name']}" for rule, case in CASES])
def test_same_victims_as_in_the_schedulers_tests(rule: str, case: dict[str, Any]) -> None:
    """A rule evicts and moves exactly the gangs that the scheduler's own test expects."""
    solution = getattr(heuristics.admission, rule)(_problem(case), **case.get("options", {})).solution
    if case["evicted"] is None:
        assert solution is None
        return
    assert solution is not None
    assert sorted(solution.evicted) == sorted(case["evicted"])
    assert {name: dict(places[0]) for name, places in solution.moved.items()} == case.get("moved", {})
