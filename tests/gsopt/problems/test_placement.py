"""The judge of placement, against values worked out by hand and an evaluation of its own."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.core.files import to_json, write
from gsopt.problems import Placement
from gsopt.problems.placement import Placed, PlacementSolution, Resources, Server, Workers
from gsopt.problems.reader import read_problem, read_solution
from gsopt.scenario.cluster import Cluster, Island, Machine, Switch
from gsopt.testing import brute_force
from tests.effort import cases
from tests.gsopt.problems.checks import refusal
from tests.strategies.placement import gpu_line, placements

EXAMPLE = """{"problem": "placement",
 "servers": [
  {"name": "s1", "pool": "training", "capacity": {"gpu": 8, "cpu": 92, "memory": 350}, "used": {"gpu": 0}}
 ],
 "workers": [{"job": "a", "count": 2, "demand": {"gpu": 4}}]}"""


def gpus(name: str, **fields: Any) -> Server:
    """Return a server with 8 GPUs."""
    return Server(**{"name": name, "capacity": Resources(gpu=8), **fields})


def workers(job: str, gpu: int, **fields: Any) -> Workers:
    """Return workers that need GPUs only."""
    return Workers(**{"job": job, "demand": Resources(gpu=gpu), **fields})


def placed(*entries: tuple[str, int, int]) -> PlacementSolution:
    """Return a solution."""
    return PlacementSolution(placed=tuple(Placed(*entry) for entry in entries))


def three_kinds(**fields: Any) -> Placement:
    """Return one training server, two inference servers, and workers of all three kinds, two of each."""
    return Placement(
        **{
            "minimize": "preferences",
            "servers": (gpus("t"), gpus("i", pool="inference", count=2)),
            "workers": (
                workers("a", 4, count=2),
                workers("b", 2, count=2, kind="base"),
                workers("b", 1, count=2, kind="flexible"),
            ),
            **fields,
        }
    )


APART = (("t", 0, 2), ("i[0]", 1, 2), ("i[1]", 2, 2))


def test_the_example_file_is_read(tmp_path: Path) -> None:
    """The file of the example holds two workers of 4 GPUs and one server, and counts servers by default."""
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE)
    problem = read_problem(path)

    assert isinstance(problem, Placement)
    assert (problem.minimize, problem.unit, problem.size) == ("servers", "servers", 1)
    assert problem.workers[0].demand.vector() == (4, 0, 0)
    assert brute_force(problem) == (1, placed(("s1", 0, 2)))


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    """A problem and a solution that are written and read again are the same."""
    problem = three_kinds(name="kinds")
    write(problem, tmp_path / "problem.json")
    write(placed(*APART), tmp_path / "solution.json")

    assert read_problem(tmp_path / "problem.json") == problem
    assert read_solution(tmp_path / "solution.json", problem) == placed(*APART)
    assert '["i[1]", 2, 2]' in to_json(placed(*APART))


def test_servers_of_one_line_have_names() -> None:
    """A line of three servers stands for name[0] to name[2], a line of one for its name."""
    problem = Placement(servers=(gpus("a"), gpus("b", count=3)), workers=())

    assert list(problem.hosts) == ["a", "b[0]", "b[1]", "b[2]"]
    assert problem.size == 4


def test_servers_in_use_count_whether_placed_now_or_before() -> None:
    """A server that was in use counts once, with and without new workers."""
    problem = Placement(
        servers=(gpus("old", count=2, used=Resources(gpu=4)), gpus("new", count=2)),
        workers=(workers("a", 4, count=2),),
    )

    assert problem.objective(placed(("old[0]", 0, 1), ("old[1]", 0, 1))) == 2
    assert problem.objective(placed(("old[0]", 0, 1), ("new[0]", 0, 1))) == 3
    assert problem.objective(placed(("new[0]", 0, 1), ("new[1]", 0, 1))) == 4


def test_fragmentation_counts_free_gpus_on_servers_in_use() -> None:
    """3 of 8 GPUs on one server leave 5 free; a server in use with 6 free GPUs adds them."""
    problem = Placement(
        minimize="fragmentation",
        servers=(gpus("a"), gpus("b", used=Resources(gpu=2)), gpus("c")),
        workers=(workers("a", 3),),
    )

    assert problem.unit == "free GPUs"
    assert problem.objective(placed(("a", 0, 1))) == 5 + 6
    assert problem.objective(placed(("b", 0, 1))) == 3


def test_no_gpu_is_misplaced_where_kinds_stand_apart() -> None:
    """Inelastic workers on training, base and flexible ones on different inference servers cost no GPU."""
    problem = three_kinds()

    assert problem.objective(placed(*APART)) == 3
    assert problem.misplaced_gpus(placed(*APART)) == Counter()


@pytest.mark.parametrize(
    ("entries", "misplaced", "used"),
    [
        ((("i[0]", 0, 2), ("i[1]", 1, 2), ("t", 2, 2)), {"inelastic": 8, "flexible": 2}, 3),
        ((("t", 0, 2), ("i[0]", 1, 2), ("i[0]", 2, 2)), {"flexible": 2}, 2),
        ((("t", 0, 1), ("i[0]", 0, 1), ("i[0]", 1, 2), ("i[1]", 2, 2)), {"inelastic": 4}, 3),
        ((("t", 0, 1), ("t", 1, 2), ("i[0]", 0, 1), ("i[1]", 2, 2)), {"inelastic": 4, "base": 4}, 3),
    ],
    ids=["pools swapped", "base and flexible share", "one inelastic worker spills", "base on training"],
)
def test_misplaced_gpus_by_kind(
    entries: tuple[tuple[str, int, int], ...], misplaced: dict[str, int], used: int
) -> None:
    """Every misplaced GPU is counted for the kind of its worker and weighs more than all servers."""
    problem = three_kinds()

    assert problem.misplaced_gpus(placed(*entries)) == misplaced
    assert problem.objective(placed(*entries)) == sum(misplaced.values()) * 4 + used


def test_work_that_stays_is_no_company_for_flexible_workers() -> None:
    """Flexible workers on an inference server that was in use are misplaced, base workers are not."""
    servers = (gpus("i", pool="inference", used=Resources(gpu=1)),)
    flexible = three_kinds(servers=servers, workers=(workers("b", 2, kind="flexible"),))
    base = three_kinds(servers=servers, workers=(workers("b", 2, kind="base"),))

    assert flexible.misplaced_gpus(placed(("i", 0, 1))) == {"flexible": 2}
    assert base.misplaced_gpus(placed(("i", 0, 1))) == {}


def test_measures() -> None:
    """The measures name servers, free GPUs and misplaced GPUs whatever is minimized."""
    measures = three_kinds(minimize="servers").measures(placed(("t", 0, 2), ("i[0]", 1, 2), ("i[0]", 2, 2)))

    assert measures == {
        "servers_in_use": 2,
        "free_gpus": 2,
        "misplaced_inelastic_gpus": 0,
        "misplaced_base_gpus": 0,
        "misplaced_flexible_gpus": 2,
    }


BROKEN = {
    "no such server": ((("x", 0, 2),), "placed[0]: 'x' is not a server of the instance"),
    "line instead of a server": ((("i", 0, 2),), "placed[0]: 'i' is not a server of the instance"),
    "no such workers": ((("t", 3, 2),), "placed[0]: 3 is not a line of workers"),
    "negative index": ((("t", -1, 2),), "placed[0]: -1 is not a line of workers"),
    "no workers": ((("t", 0, 0),), "placed[0]: 0 workers are placed, must be at least 1"),
    "one left out": ((("t", 0, 1), *APART[1:]), "workers[0] of job a: 1 of 2 are placed"),
    "one too many": ((*APART, ("i[1]", 2, 1)), "workers[2] of job b: 3 of 2 are placed"),
    "a line left out": (APART[:2], "workers[2] of job b: 0 of 2 are placed"),
    "overfull": ((("t", 0, 2), ("t", 1, 2), APART[2]), "t: 12 gpu are placed, 8 are free"),
}


@pytest.mark.parametrize(("entries", "rule"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_rules_are_named(entries: tuple[tuple[str, int, int], ...], rule: str) -> None:
    """Every rule that a solution breaks is named in one sentence."""
    assert rule in three_kinds().violations(placed(*entries))


def test_every_resource_is_checked() -> None:
    """CPU and memory overflow like GPUs, what was used before included."""
    server = Server(name="s", capacity=Resources(gpu=8, cpu=10, memory=10), used=Resources(cpu=5))
    line = Workers(job="a", count=2, demand=Resources(gpu=1, cpu=3, memory=6))
    broken = Placement(servers=(server,), workers=(line,)).violations(placed(("s", 0, 2)))

    assert broken == ["s: 6 cpu are placed, 5 are free", "s: 12 memory are placed, 10 are free"]


def test_further_resources_are_named_and_checked(tmp_path: Path) -> None:
    """Resources beside GPU, CPU and memory are read, written, judged and named like these."""
    path = tmp_path / "disks.json"
    path.write_text(
        EXAMPLE.replace('"memory": 350}', '"memory": 350, "disk": 10, "r7": 5}').replace(
            '"demand": {"gpu": 4}', '"demand": {"gpu": 4, "disk": 6}'
        )
    )
    problem = read_problem(path)
    assert isinstance(problem, Placement)
    write(problem, path)

    again = read_problem(path)
    assert isinstance(again, Placement)
    assert again == problem
    assert problem.resources == ("gpu", "cpu", "memory", "disk", "r7")
    assert (problem.demands, problem.rooms) == (((4, 0, 0, 6, 0),), ((8, 92, 350, 10, 5),))
    assert problem.misfit == ""
    assert problem.violations(placed(("s1", 0, 2))) == ["s1: 12 disk are placed, 10 are free"]


def test_amounts_are_in_the_order_of_the_names() -> None:
    """Any order of names is followed, also one in which a name comes twice."""
    needs = Resources(gpu=2, cpu=16, memory=5, disk=3)

    assert needs.vector(("gpu", "cpu", "memory", "gpu", "disk", "disk")) == (2, 16, 5, 2, 3, 3)
    assert needs.vector(("disk", "tape", "gpu", "gpu")) == (3, 0, 2, 2)
    assert needs.vector(()) == ()


def test_a_resource_that_no_server_has_fits_nowhere() -> None:
    """A worker that asks for what no server has is named with it, and so is more used than there is."""
    line = Workers(job="a", demand=Resources(gpu=1, tape=2))
    problem = Placement(servers=(gpus("s"),), workers=(line,))

    assert problem.misfit == "workers[0] of job a (1 GPU, 0 CPU, 0 memory, 2 tape) fits on no server"
    with pytest.raises(ValidationError, match="must be at most the capacity of 0"):
        Placement(servers=(gpus("s", used=Resources(tape=1)),), workers=())


@pytest.mark.parametrize("number", [0.5, 1.0, True])
def test_parts_of_workers_are_refused(number: float) -> None:
    """A placement counts whole workers: half a worker, a float and a truth value are refused."""
    with pytest.raises(ValidationError):
        placed(("t", 0, number))  # type: ignore[arg-type]


def test_computed_figures_are_no_fields() -> None:
    """What was computed of a problem is not among its fields, and is computed anew for a copy."""
    problem = three_kinds()
    assert problem.misfit == ""
    other = problem.model_copy(update={"servers": (gpus("t", used=Resources(gpu=6)),)})

    assert set(dict(problem)) == set(Placement.model_fields)
    assert Placement(**dict(problem)) == problem
    assert other.rooms == ((2, 0, 0),)
    assert other.misfit.startswith("workers[0] of job a")


def test_undivided_jobs_stay_in_one_pool() -> None:
    """Where jobs are not split a job on training and on inference servers breaks a rule."""
    problem = three_kinds(split_jobs=False)
    entries = (("t", 0, 1), ("i[0]", 0, 1), *APART[1:])

    assert problem.violations(placed(*entries)) == ["job a: runs on both training and inference servers"]
    assert three_kinds().violations(placed(*entries)) == []


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no servers": ({"servers": []}, "servers", "at least 1 item"),
    "two servers of one name": ({"servers": [gpus("s"), gpus("s")]}, "servers[1].name", "must differ"),
    "a name that a count makes": (
        {"servers": [gpus("s", count=2), gpus("s[1]")]},
        "servers[1].name",
        "must differ",
    ),
    "more used than there is": (
        {"servers": [gpus("s", used=Resources(gpu=9))]},
        "servers[0].used.gpu",
        "must be at most the capacity of 8",
    ),
    "memory used where there is none": (
        {"servers": [gpus("s", used=Resources(memory=1))]},
        "servers[0].used.memory",
        "must be at most the capacity of 0",
    ),
    "millions of servers": (
        {"servers": [gpus("a", count=1_000_000), gpus("b")]},
        "servers",
        "must be at most 1,000,000 in all",
    ),
    "millions of workers": (
        {"workers": [workers("a", 1, count=1_000_000), workers("b", 1)]},
        "workers",
        "must be at most 1,000,000 in all",
    ),
    "workers that need nothing": ({"workers": [workers("a", 0)]}, "workers[0].demand", "must request"),
    "an elastic and inelastic job": (
        {"workers": [workers("a", 1), workers("a", 1, kind="base")]},
        "workers[1].kind",
        "must suit the job's other lines",
    ),
}


@pytest.mark.parametrize(("fields", "field", "rule"), BAD.values(), ids=BAD.keys())
def test_bad_data_are_refused(fields: dict[str, Any], field: str, rule: str) -> None:
    """Data that break a rule across fields are refused, the field and the rule named."""
    with pytest.raises(ValidationError) as raised:
        three_kinds(**fields)

    assert field.split("[", maxsplit=1)[0] in str(raised.value)
    assert rule in str(raised.value)


BAD_FILES = {
    "negative GPUs": ('"gpu": 4}', '"gpu": -4}', "workers[0].demand.gpu: -4: "),
    "half a GPU": ('"gpu": 4}', '"gpu": 0.5}', "workers[0].demand.gpu: 0.5: "),
    "a number as text": ('"gpu": 4}', '"gpu": "4"}', "workers[0].demand.gpu: '4': "),
    "half of another resource": ('"gpu": 4}', '"disk": 0.5}', "workers[0].demand.disk: 0.5: "),
    "a negative amount of another resource": ('"gpu": 4}', '"disk": -1}', "workers[0].demand.disk: -1: "),
    "an unknown pool": ('"training"', '"loan"', "servers[0].pool: 'loan': "),
    "no workers in a line": ('"count": 2', '"count": 0', "workers[0].count: 0: "),
    "not finite": ('"gpu": 4}', '"gpu": NaN}', "NaN: must be a finite number"),
    "more used than there is": (
        '"used": {"gpu": 0}',
        '"used": {"gpu": 9}',
        "servers[0].used.gpu: 9: must be at",
    ),
    "no demand": (', "demand": {"gpu": 4}', "", "workers[0].demand: is required"),
    "an enormous amount": ('"gpu": 4}', '"gpu": 4000000000}', "workers[0].demand.gpu: 4000000000: "),
}


@pytest.mark.parametrize(("old", "new", "line"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    """A file that breaks a rule is refused in one line that names field, value and rule."""
    assert refusal(tmp_path, EXAMPLE, old, new).startswith(line)


def test_a_worker_larger_than_any_server_is_named() -> None:
    """The first worker that no server has room for is named, with what it needs."""
    problem = Placement(
        servers=(gpus("a", used=Resources(gpu=1)), Server(name="b", capacity=Resources(gpu=9, cpu=4))),
        workers=(workers("fits", 9), Workers(job="wide", demand=Resources(gpu=1, cpu=5)), workers("large", 10)),
    )

    assert problem.misfit == "workers[1] of job wide (1 GPU, 5 CPU, 0 memory) fits on no server"
    assert gpu_line(8, 1).misfit == ""


def test_candidates_are_all_spreads() -> None:
    """Two workers of a line on three servers can be spread in six ways, with a second worker in 18."""
    one = Placement(servers=(gpus("s", count=3),), workers=(workers("a", 1, count=2),))
    two = Placement(servers=(gpus("s", count=3),), workers=(workers("a", 1, count=2), workers("b", 1)))

    assert len(set(one.candidates())) == 6
    assert len(set(two.candidates())) == 18
    assert list(Placement(servers=(gpus("s"),), workers=()).candidates()) == [placed()]


@given(placements())
@settings(deadline=None, max_examples=cases(40, least=14))
def test_the_judge_agrees_with_a_second_evaluation(problem: Placement) -> None:
    """Rules and objective of every candidate are those of a loop over single servers, written out."""
    for candidate in list(problem.candidates())[:60]:
        feasible, value = evaluated(problem, candidate)
        assert (not problem.violations(candidate)) == feasible
        assert problem.objective(candidate) == value


def evaluated(problem: Placement, solution: PlacementSolution) -> tuple[bool, int]:
    """Evaluate a solution server by server; all its workers are placed."""
    feasible, used, free_gpus, misplaced = True, 0, 0, 0
    pools: dict[str, set[str]] = {}
    for server in problem.servers:
        for name in server.names:
            here = [(problem.workers[line], number) for host, line, number in solution.placed if host == name]
            load = [sum(w.demand.vector()[r] * n for w, n in here) + server.used.vector()[r] for r in range(3)]
            feasible &= all(load[r] <= server.capacity.vector()[r] for r in range(3))
            if here or any(server.used.vector()):
                used += 1
                free_gpus += server.capacity.gpu - load[0]
            stays = any(server.used.vector()) or any(w.kind != "flexible" for w, _ in here)
            for w, number in here:
                pools.setdefault(w.job, set()).add(server.pool)
                wrong = (w.kind == "inelastic") == (server.pool == "inference")
                if wrong or (w.kind == "flexible" and stays):
                    misplaced += w.demand.gpu * number
    feasible &= problem.split_jobs or all(len(pool) == 1 for pool in pools.values())
    weighted = misplaced * (problem.size + 1) + used
    return feasible, {"servers": used, "fragmentation": free_gpus, "preferences": weighted}[problem.minimize]


def test_racks_touched() -> None:
    """A rack counts once, whoever touches it and whether now or before."""
    servers = (gpus("a", rack="x", count=2), gpus("b", rack="y", used=Resources(cpu=0)), gpus("c", rack="z"))
    busy = gpus("d", rack="z", used=Resources(gpu=1))
    problem = Placement(servers=servers, workers=(workers("j", 8, count=2),), minimize="racks")
    solution = placed(("a[0]", 0, 1), ("a[1]", 0, 1))
    assert (problem.objective(solution), problem.unit, problem.measures(solution)["racks_touched"]) == (
        1,
        "racks",
        1,
    )
    assert problem.objective(placed(("a[0]", 0, 1), ("c", 0, 1))) == 2
    late = Placement(servers=(*servers, busy), workers=problem.workers, minimize="racks")
    assert (late.objective(solution), late.racks_touched(solution)) == (2, ("z", "x"))


def test_racks_have_names() -> None:
    """Where racks are minimized every server names its own; elsewhere what is not given is not written."""
    with pytest.raises(
        ValidationError, match=r"servers\[1\]\.rack: '': must be named where racks are minimized"
    ):
        Placement(servers=(gpus("a", rack="x"), gpus("b")), workers=(), minimize="racks")
    assert "rack" not in gpus("a").model_dump()
    assert gpus("a", rack="x").model_dump()["rack"] == "x"


def test_a_cluster_has_servers() -> None:
    """Machines are servers, groups of a level racks; what cannot be is one line."""
    island = [Island(name=f"i{number}", gpus=2) for number in range(2)]
    pod = Switch(
        name="p", level="pod", machines=[Machine(name="m", gpus=4, islands=island), Machine(name="n", gpus=2)]
    )
    cluster = Cluster(network=Switch(name="top", level="network", switches=[pod]))
    problem = Placement.on_cluster(cluster, [workers("j", 2)], level="pod", taken=[0, 4])
    assert [(each.name, each.rack, each.free_gpus) for each in problem.servers] == [
        ("m", "p", 3),
        ("n", "p", 1),
    ]
    assert Placement.on_cluster(cluster, [], level="machine", minimize="servers").servers[1].rack == "n"
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"level": "rack"}, "level: 'rack': must be a level of the cluster"),
        ({"level": "island"}, "is inside machines"),
        ({"level": "pod", "taken": [6]}, "taken: 6: must be numbers from 0 to 5"),
    ]
    for wrong, line in wrongs:
        with pytest.raises(InvalidInput, match=line):
            Placement.on_cluster(cluster, [], **wrong)
    with pytest.raises(InvalidInput, match="8 plain GPUs: must have machines"):
        Placement.on_cluster(Cluster.plain(8), [])
