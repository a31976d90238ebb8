"""Parts of GPUs in placement: the judge, against values worked out by hand."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gsopt.core.files import write
from gsopt.problems import Placement
from gsopt.problems.placement import Placed, PlacedPart, PlacementSolution, Resources, Server, Workers
from gsopt.problems.reader import read_problem, read_solution
from gsopt.testing import check_judge


def two_types(**fields: Any) -> Placement:
    """Return a T4 server, one of whose two GPUs has 700 thousandths left, a V100 server, and three lines."""
    return Placement(
        **{
            "minimize": "unallocated",
            "servers": (
                Server(name="t", capacity=Resources(gpu=2, cpu=8), gpu_type="T4", shared=(300,)),
                Server(name="v", capacity=Resources(gpu=2, cpu=8), gpu_type="V100"),
            ),
            "workers": (
                Workers(job="a", count=3, demand=Resources(cpu=1), gpu_part=350),
                Workers(job="b", demand=Resources(gpu=1), gpu_types=("V100", "A100")),
                Workers(job="c", demand=Resources(cpu=9)),
            ),
            **fields,
        }
    )


SHARED = PlacementSolution(
    placed=[Placed("v", 1, 1)], parts=[PlacedPart("t", 0, 0, 2), PlacedPart("v", 0, 0, 1)]
)


def test_unallocated_gpus_by_hand() -> None:
    """Of 3,700 free thousandths, three parts of 350 and a GPU leave 1,650; one worker may stay out."""
    problem = two_types()
    assert problem.violations(SHARED) == []
    assert problem.objective(SHARED) == 3_700 - 3 * 350 - 1_000
    assert problem.objective(PlacementSolution(placed=[])) == 3_700
    assert problem.measures(SHARED)["unplaced_workers"] == 1
    assert problem.measures(SHARED)["free_gpus"] == 1  # of t
    overfull = SHARED.model_copy(update={"parts": (PlacedPart("t", 0, 0, 3),)})
    other_type = SHARED.model_copy(update={"placed": (Placed("t", 1, 1),)})
    assert check_judge(problem, SHARED, [overfull, other_type]) == (2, 2)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a GPU is overfull": ({"parts": [("t", 0, 0, 3)]}, "t: 1050 thousandths of GPU 0 are placed, 700 are free"),
    "no whole GPU is left": (
        {"placed": [("v", 1, 1)], "parts": [("v", 0, 0, 1), ("v", 1, 0, 1)]},
        "v: 1 gpu and parts of 2 more are placed, 2 are free",
    ),
    "too many workers": ({"parts": [("v", 0, 0, 2), ("v", 1, 0, 2)]}, "workers[0] of job a: 4 of 3 are placed"),
    "the type does not suit": (
        {"placed": [("t", 1, 1)]},
        "workers[1] of job b: t has GPUs of type 'T4'",
    ),
    "a part without its GPU": (
        {"placed": [("t", 0, 1)]},
        "placed[0]: line 0 needs part of a GPU, which must be named in parts",
    ),
    "a whole GPU among the parts": ({"parts": [("v", 0, 1, 1)]}, "parts[0]: line 1 needs no part of a GPU"),
    "no such GPU": ({"parts": [("t", 2, 0, 1)]}, "parts[0]: 2 is not a GPU of t with a free part"),
    "no such server": ({"parts": [("x", 0, 0, 1)]}, "parts[0]: 'x' is not a server of the instance"),
    "no such line": ({"parts": [("t", 0, 7, 1)]}, "parts[0]: 7 is not a line of workers"),
    "nobody": ({"parts": [("t", 0, 0, 0)]}, "parts[0]: 0 workers are placed, must be at least 1"),
    "the CPU counts for parts": ({"parts": [("s", 0, 0, 3)]}, "s: 3 cpu are placed, 2 are free"),
}


@pytest.mark.parametrize(("fields", "rule"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rules_are_named(fields: dict[str, Any], rule: str) -> None:
    """Every rule that a solution breaks is named, with the amounts."""
    problem = two_types()
    if rule.startswith("s:"):
        small = Server(name="s", capacity=Resources(gpu=2, cpu=2))
        problem = two_types(
            servers=(small,), workers=(Workers(job="a", count=3, demand=Resources(cpu=1), gpu_part=300),)
        )
    solution = PlacementSolution(**{"placed": [], **fields})

    assert problem.violations(solution) == [rule]


def test_all_workers_are_placed_unless_gpus_are_what_counts() -> None:
    """Where servers are minimized, a worker with a part of a GPU must be placed as any other."""
    problem = two_types(minimize="servers", workers=(Workers(job="a", demand=Resources(), gpu_part=1),))
    assert problem.violations(PlacementSolution(placed=[])) == ["workers[0] of job a: 0 of 1 are placed"]
    assert problem.objective(PlacementSolution(placed=[], parts=[PlacedPart("v", 1, 0, 1)])) == 2  # t is in use


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "part and whole GPUs": (
        {"workers": (Workers(job="a", demand=Resources(gpu=2), gpu_part=5),)},
        "workers[0].gpu_part: 5: must be 0 for workers that need whole GPUs, here 2",
    ),
    "parts where GPUs are counted": (
        {"minimize": "fragmentation"},
        "workers[0].gpu_part: 350: must be 0 where whole GPUs are counted, to minimize fragmentation",
    ),
    "more shared GPUs than there are": (
        {"servers": (Server(name="t", capacity=Resources(gpu=2), used=Resources(gpu=1), shared=(1, 2)),)},
        "servers[0].shared: '2 GPUs': must be at most the 1 GPUs that `used` leaves",
    ),
}


@pytest.mark.parametrize(("fields", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(fields: dict[str, Any], rule: str) -> None:
    """Data that break a rule are refused with the field, the value and the rule."""
    with pytest.raises(ValidationError, match=re.escape(rule)):
        two_types(**fields)


@pytest.mark.parametrize("part", [-1, 1000, 0.5])
def test_a_part_is_less_than_a_gpu(part: Any) -> None:
    """A part is a whole number of thousandths below 1,000."""
    with pytest.raises(ValidationError):
        Workers(job="a", demand=Resources(), gpu_part=part)


def test_a_worker_too_large_for_what_is_left_is_named() -> None:
    """A part has to fit on a single GPU, of an accepted type."""
    full = Server(name="t", capacity=Resources(gpu=1), shared=(400,))
    large = Workers(job="a", demand=Resources(), gpu_part=601)
    problem = Placement(servers=(full,), workers=(large,))
    needs = "0 GPU, 0 CPU, 0 memory, 601 thousandths of a GPU"
    assert problem.misfit == f"workers[0] of job a ({needs}) fits on no server"
    assert problem.model_copy(update={"workers": (large.model_copy(update={"gpu_part": 600}),)}).misfit == ""


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    """Problems and solutions with parts are read as they were written; others have no new fields."""
    problem = two_types(name="problem")
    write(problem, tmp_path / "problem.json")
    write(SHARED, tmp_path / "solution.json")

    assert read_problem(tmp_path / "problem.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == SHARED
    plain = Placement(
        servers=(Server(name="s", capacity=Resources(gpu=1)),),
        workers=(Workers(job="a", demand=Resources(gpu=1)),),
    )
    assert not {"shared", "gpu_type", "gpu_part", "gpu_types"} & {
        *plain.model_dump()["servers"][0],
        *plain.model_dump()["workers"][0],
    }
    assert PlacementSolution(placed=[]).model_dump() == {"placed": ()}
