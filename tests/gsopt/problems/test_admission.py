"""The judge of admission, against values worked out by hand and an evaluation of its own."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.files import to_json, write
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Node, Part, Running
from gsopt.problems.placement import Resources
from gsopt.problems.reader import read_problem, read_solution
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.testing import brute_force, check_judge
from tests.effort import cases
from tests.exactness.admission import draw, value
from tests.gsopt.problems.checks import refusal

FOUR, EIGHT = Resources(gpu=4), Resources(gpu=8)


def run(name: str, on: Mapping[str, int], needs: Resources = FOUR, **fields: Any) -> Running:
    """Return a running gang of like workers."""
    return Running(name=name, parts=[Part(count=sum(on.values()), needs=needs)], on=[on], **fields)


def two_racks(**changes: Any) -> Admission:
    """Return two racks of two machines, two of them partly in use, and a gang that needs a whole rack."""
    fields: dict[str, Any] = {
        "cluster": Cluster.uniform(racks=2, machines=2, gpus=8),
        "running": [
            run("a", {"machine 0.0": 1}, cost=3.0),
            run("b", {"machine 1.0": 1, "machine 1.1": 1}, cost=2.5, move_cost=0.25),
            run("high", {"machine 1.1": 1}, priority=1, move_cost=1.0),
            run("kept", {"machine 1.0": 1}, protected=True, move_cost=4.0),
        ],
        "pending": [Gang(name="new", parts=[Part(count=2, needs=EIGHT)], within="rack", priority=1)],
    }
    return Admission(**{**fields, **changes})


RACK_0 = {"new": ({"machine 0.0": 1, "machine 0.1": 1},)}
RACK_1 = {"new": ({"machine 1.0": 1, "machine 1.1": 1},)}


def chosen(**fields: Any) -> AdmissionSolution:
    """Return a solution that places the new gang in the first rack, unless it states another place."""
    return AdmissionSolution(**{"placed": RACK_0, **fields})


def test_values_by_hand() -> None:
    """Evictions and moves cost what the gangs say, as decimals."""
    problem = two_racks()
    cleared = {
        "b": ({"machine 0.1": 2},),
        "high": ({"machine 0.0": 1},),
    }
    assert problem.violations(chosen(evicted=["a"])) == []
    assert problem.objective(chosen(evicted=["a"])) == 3
    moving = chosen(moved={**cleared, "kept": ({"machine 0.0": 1},)}, evicted=["a"], placed=RACK_1)
    assert problem.violations(moving) == []
    assert problem.objective(moving) == Fraction("8.25")
    assert brute_force(problem) == (3, chosen(evicted=("a",)))


def test_ties_go_to_fewer_gangs() -> None:
    """Each gang adds less than all of them together need for the smallest difference of costs."""
    problem = two_racks(second_objective="gangs")
    assert problem.tie == Fraction(1, 20)
    assert problem.objective(chosen(evicted=["a"])) == 3 + Fraction(1, 20)
    assert problem.step == Fraction(1, 20)
    assert two_racks(
        second_objective="gangs", running=[run("a", {"machine 0.0": 1}, cost=0.0)]
    ).tie == Fraction(1, 2)


def test_measures_and_unit() -> None:
    """Evicted and moved gangs are counted with their GPUs; without moves, equal costs count evictions."""
    problem = two_racks()
    solution = chosen(evicted=["a"], moved={"b": ({"machine 1.0": 2},)})
    assert problem.measures(solution) == {
        "evicted_gangs": 1,
        "evicted_gpus": 4,
        "moved_gangs": 1,
        "moved_gpus": 8,
    }
    assert problem.unit == "cost"
    assert two_racks(running=[run("a", {"machine 0.0": 1})]).unit == "evictions"
    assert problem.headline() == {"machines": 4, "gangs": 4, "pending GPUs": 16}


#: Solutions that break one rule each, and what is said about them.
BROKEN: Mapping[str, tuple[AdmissionSolution, str]] = {
    "unknown eviction": (chosen(evicted=["a", "x"]), "evicted: 'x' is no running gang"),
    "twice": (chosen(evicted=["a", "a"]), "evicted: 'a' is listed 2 times"),
    "protected": (chosen(evicted=["a", "kept"]), "evicted: 'kept' is protected"),
    "priority": (
        chosen(evicted=["a", "high"]),
        "evicted: 'high' has priority 1, not below the 1 of the pending gangs",
    ),
    "unknown move": (chosen(evicted=["a"], moved={"x": ()}), "moved: 'x' is no running gang"),
    "immovable": (chosen(moved={"a": ({"machine 1.0": 1},)}), "moved: 'a' must not be moved"),
    "moved and evicted": (
        chosen(evicted=["a", "b"], moved={"b": ({"machine 1.0": 2},)}),
        "moved: 'b' is evicted",
    ),
    "not placed": (chosen(evicted=["a"], placed={}), "placed: 'new' is missing"),
    "unknown gang": (
        chosen(evicted=["a"], placed={**RACK_0, "x": ()}),
        "placed: 'x' is no pending gang",
    ),
    "no parts": (chosen(evicted=["a"], placed={"new": ()}), "placed: 'new' has places for 0 parts, not 1"),
    "unknown machine": (
        chosen(evicted=["a"], placed={"new": ({"x": 2},)}),
        "placed: 'new' is on 'x', which is no machine of the cluster",
    ),
    "too few workers": (
        chosen(evicted=["a"], placed={"new": ({"machine 0.0": 1},)}),
        "placed: 'new' has 1 workers of a part, not 2",
    ),
    "two racks": (
        chosen(evicted=["a", "b"], placed={"new": ({"machine 0.1": 1, "machine 1.0": 1},)}),
        "placed: 'new' is on 'rack 0' and 'rack 1', not within one rack",
    ),
    "no room": (chosen(), "machine 'machine 0.0' has 8 gpu for gangs, they need 12"),
    "moved to no room": (
        chosen(evicted=["a"], moved={"b": ({"machine 1.0": 1, "machine 0.1": 1},)}),
        "machine 'machine 0.1' has 8 gpu for gangs, they need 12",
    ),
}


@pytest.mark.parametrize(("solution", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rules_are_named(solution: AdmissionSolution, message: str) -> None:
    """Each broken rule is one sentence."""
    assert two_racks().violations(solution) == [message]


def test_eligible_machines_and_slices_are_checked() -> None:
    """Workers run on machines of their type, with enough memory, among the chosen ones, and in whole slices."""
    machines = [
        Machine(name="m0", gpus=8, gpu_type="A", memory=80),
        Machine(name="m1", gpus=8, gpu_type="A", memory=40),
        Machine(name="m2", gpus=8, gpu_type="A"),
        Machine(name="m3", gpus=8, gpu_type="B", memory=80),
        Machine(name="m4", gpus=8, gpu_type="A"),
        Machine(name="m5", gpus=8, gpu_type="A"),
    ]
    part = Part(count=4, needs=FOUR, gpu_type="A", memory=60, where="most", slice=2, slice_within="rack")
    problem = Admission(
        cluster=Cluster(racks=[Rack(name="k0", machines=machines[:3]), Rack(name="k1", machines=machines[3:])]),
        nodes={"m5": Node(closed=True)},
        places={"most": ["m0", "m1", "m2", "m3", "m5"]},
        running=[],
        pending=[Gang(name="new", parts=[part])],
    )
    assert problem.eligible(part) == {0, 2}

    def faults(**workers: int) -> list[str]:
        return problem.violations(AdmissionSolution(placed={"new": (workers,)}))

    assert faults(m0=2, m2=2) == []
    for wrong in ("m1", "m3", "m4", "m5"):
        assert f"placed: 'new' is on {wrong!r}, where it may not run" in faults(m0=2, **{wrong: 2})
    assert faults(m0=1, m2=2, m3=1) == [
        "placed: 'new' is on 'm3', where it may not run",
        "placed: 'new' has 3 workers on 'k0', not whole slices of 2",
    ]


def test_a_gang_may_take_what_it_gives_up() -> None:
    """A moved gang stops first, so it may keep some of its machines, and others may swap theirs."""
    problem = Admission(
        cluster=Cluster.uniform(machines=3, gpus=8),
        running=[
            run("a", {"machine 0.0": 1, "machine 0.1": 1}, Resources(gpu=5), move_cost=1.0),
            run("b", {"machine 0.2": 1}, Resources(gpu=8), move_cost=1.0),
        ],
        pending=[Gang(name="new", parts=[Part(needs=Resources(gpu=3))])],
    )
    solution = AdmissionSolution(
        moved={"a": ({"machine 0.0": 1, "machine 0.2": 1},), "b": ({"machine 0.1": 1},)},
        placed={"new": ({"machine 0.2": 1},)},
    )
    assert problem.violations(solution) == []


def test_obstacles_are_named() -> None:
    """A gang that fits nowhere even if all that may stop does is named with what is missing."""
    assert two_racks().obstacle == ""
    three = Gang(name="new", parts=[Part(count=3, needs=EIGHT)], within="rack", priority=1)
    assert two_racks(pending=[three]).obstacle == (
        "'new' needs 3 workers (8 gpu) within one rack, and at most 2 fit even if all that may stop does"
    )
    typed = Gang(name="new", parts=[Part(needs=EIGHT, gpu_type="T4")])
    assert two_racks(pending=[typed]).obstacle == "'new' needs 1 worker (8 gpu), and no machine is eligible"
    held = [run("kept", {"machine 0.0": 1}, protected=True), run("b", {"machine 1.0": 1}, priority=5)]
    sliced = Part(count=4, needs=EIGHT, slice=2, slice_within="rack")
    assert two_racks(running=held, pending=[Gang(name="new", parts=[sliced])]).obstacle == (
        "'new' needs 4 workers (8 gpu) in slices of 2 within a rack, "
        "and at most 0 fit even if all that may stop does"
    )


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    """A problem and a solution that are written and read again are the same, and defaults are left out."""
    problem, solution = two_racks(name="racks"), chosen(evicted=("a",))
    write(problem, tmp_path / "problem.json")
    write(solution, tmp_path / "solution.json")

    assert read_problem(tmp_path / "problem.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == solution
    assert "slice" not in to_json(problem)


def test_queues_and_starts_change_no_value(tmp_path: Path) -> None:
    """They are written only if they are known, and neither values nor violations depend on them."""
    problem = two_racks()
    gangs = [gang.model_copy(update={"queue": "q", "started": 7.0}) for gang in problem.running]
    known = two_racks(name="known", running=gangs)
    write(known, tmp_path / "problem.json")

    assert read_problem(tmp_path / "problem.json") == known
    assert "queue" not in to_json(problem)
    assert "started" not in to_json(problem)
    for solution in (chosen(evicted=("a",)), chosen(evicted=("b",)), chosen()):
        assert known.objective(solution) == problem.objective(solution)
        assert known.violations(solution) == problem.violations(solution)


#: Parts of a file that are replaced, and the line in which the file is refused.
REFUSED = [
    ('"within": "rack"', '"within": "pod"', "pending[0].within: 'pod': must be one of machine, rack, network"),
    ('"machine 1.1": 1', '"machine 9": 1', "running[1].on: 'machine 9': must name a machine of the cluster"),
    (
        '{"machine 0.0": 1}',
        '{"machine 0.0": 2}',
        "running[0].on[0]: 2: must add up to the 1 workers of the part",
    ),
    (
        '"cost": 3.0',
        '"cost": -1.0',
        "running[0].cost: -1.0: input should be greater than or equal to 0",
    ),
    ('"name": "high"', '"name": "a"', "running[2].name: 'a': must differ from every other name"),
]


@pytest.mark.parametrize(("old", "new", "line"), REFUSED)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    """The line names field, value and rule."""
    assert refusal(tmp_path, to_json(two_racks()), old, new) == line


def test_bad_data_are_refused() -> None:
    """Rules across fields are checked."""
    island = Machine(name="m", gpus=8, islands=[Island(name="i", gpus=8)])
    needs = Part(needs=FOUR)
    for message, make in (
        ("must ask for some resource", lambda: Part(needs=Resources())),
        ("must divide the 3 workers", lambda: Part(count=3, needs=FOUR, slice=2, slice_within="rack")),
        ("exactly if there are slices", lambda: Part(count=2, needs=FOUR, slice=2)),
        ("exactly if there are slices", lambda: Part(count=2, needs=FOUR, slice_within="rack")),
        ("one entry for each of the 1 parts", lambda: Running(name="a", parts=[needs], on=[])),
        ("must be 0, with racks", lambda: two_racks(cluster=Cluster.plain(8))),
        ("must name a machine", lambda: two_racks(nodes={"x": Node()})),
        ("must name a machine", lambda: two_racks(places={"p": ["x"]})),
        (
            "must name one of the places",
            lambda: two_racks(pending=[Gang(name="n", parts=[Part(needs=FOUR, where="x")])]),
        ),
        ("must be at most the capacity", lambda: two_racks(nodes={"machine 0.0": Node(used=Resources(gpu=9))})),
        ("must be at most the 8 gpu of", lambda: two_racks(running=[run("a", {"machine 0.0": 3})])),
        (
            "must not be wider than the machine",
            lambda: two_racks(
                pending=[
                    Gang(
                        name="n",
                        parts=[Part(needs=FOUR, slice=1, slice_within="rack")],
                        within="machine",
                    )
                ]
            ),
        ),
        (
            "must be one of machine, rack",
            lambda: Admission(
                cluster=Cluster(racks=[Rack(name="k", machines=[island])]),
                running=[],
                pending=[Gang(name="n", parts=[needs], within="island")],
            ),
        ),
    ):
        with pytest.raises(ValidationError, match=message):
            make()


def test_the_judge_agrees_with_the_definitions() -> None:
    """A solution that is changed at random is judged as by the definitions."""
    random = Random(1)
    caught = valid = seed = 0
    while caught < cases(2_000):
        problem = draw(Random(f"judge {seed}"))
        seed += 1
        best = brute_force(problem)
        if best is None:
            continue
        for _ in range(20):
            mutant = _mutant(problem, best[1], random)
            right = value(problem, mutant)
            assert check_judge(problem, best[1], [mutant]) == (int(right is None), 1), problem.name
            assert right is None or problem.objective(mutant) == right, problem.name
            caught += right is None
            valid += right is not None
    assert valid > caught / 50


def _mutant(problem: Admission, solution: AdmissionSolution, random: Random) -> AdmissionSolution:
    """Change one thing in a solution."""
    evicted, moved, placed = list(solution.evicted), dict(solution.moved), dict(solution.placed)
    names = [gang.name for gang in problem.running]
    kind = random.choice(("evict", "spare", "double", "move", "unmove", "drop", "shift", "shift", "more"))
    if kind == "evict" and names:
        evicted.append(random.choice(names))
    elif kind == "spare" and evicted:
        evicted.remove(random.choice(evicted))
    elif kind == "double" and evicted:
        evicted.append(evicted[0])
    elif kind == "move" and names:
        gang = random.choice(problem.running)
        moved[gang.name] = gang.on
    elif kind == "unmove" and moved:
        del moved[random.choice(list(moved))]
    elif kind == "drop":
        del placed[random.choice(list(placed))]
    else:
        stands = random.choice([placed, *([moved] if moved else [])])
        gang_name = random.choice(list(stands))
        stands[gang_name] = _shifted(problem, stands[gang_name], random, more=kind == "more")
    return AdmissionSolution(evicted=evicted, moved=moved, placed=placed)


def _shifted(problem: Admission, places: Any, random: Random, *, more: bool) -> list[dict[str, int]]:
    """Put one worker on another machine, or one more worker."""
    changed = [dict(machines) for machines in places]
    here = random.choice(changed)
    if not more:
        gone = random.choice(list(here))
        here[gone] -= 1
        if not here[gone]:
            del here[gone]
    machine = random.choice(problem.cluster.machines).name
    here[machine] = here.get(machine, 0) + 1
    return changed
