"""The catalogue: methods, generators and policies found by name."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import gsopt
from formulations.reclaiming.milp import Milp
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.method import name_of
from gsopt.core.result import Status
from gsopt.evaluation import catalogue
from gsopt.problems.reader import problem_types
from heuristics.policies import efq, fifo
from tests.refusals import assert_refused, refusal


def test_every_decision_has_a_default_exact_method() -> None:
    """Each decision offers `exact` and heuristics, no name twice, and each under the method's own name."""
    for word in problem_types():
        exact, heuristics = catalogue.exact_methods(word), catalogue.heuristics(word)
        assert "exact" in exact
        assert heuristics
        assert not set(exact) & set(heuristics)
        assert [name for name, method in catalogue.methods(word).items() if method.__name__ != name] == []


def test_the_demo_workload_keeps_its_policies_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without real data the demo's generated workload is busy enough for policies to differ."""
    monkeypatch.delenv("GSOPT_DATA", raising=False)
    workload, gpus = catalogue.demo_workload()
    policies = catalogue.policies()
    rows = gsopt.compare_policies(workload, [policies["fifo"], policies["srtf"]], cluster=gpus)
    assert rows[0].mean_jct > 2 * rows[1].mean_jct


OWN = """
from gsopt import simulation
from gsopt.problems.reclaiming import ReclaimingSolution
from heuristics.policies import fifo as my_policy

value = 7

def mine(problem, *, skip: int = 0):
    return ReclaimingSolution(servers=[server.name for server in problem.servers[skip:][: problem.demand]])

def shadowed(problem):
    raise AssertionError("not the one of gsopt")

greedy = exact = fifo = shadowed

class Holder:
    inner = staticmethod(mine)
"""

POINTS = """
[gsopt.methods]
reclaiming/mine = own_scheduler:mine
reclaiming/greedy = own_scheduler:greedy
reclaiming/exact = own_scheduler:exact
reclaiming/absent = own_scheduler:nothing
scheduling/exacter = formulations.scheduling:exact

[gsopt.policies]
mine = own_scheduler:my_policy
fifo = own_scheduler:fifo
absent = no_such_module:fifo
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a module of one's own on the path, without entry points as yet."""
    (tmp_path / "own_scheduler.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_scheduler", raising=False)
    return tmp_path


def installed(folder: Path, points: str) -> None:
    """Write what a package that declares entry points leaves behind when it is installed."""
    about = folder / "own_scheduler-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-scheduler\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points)
    catalogue.entry_points_of.cache_clear()


@pytest.fixture
def points(own: Path) -> Iterator[Path]:
    """Yield the module with its entry points."""
    installed(own, POINTS)
    yield own
    catalogue.entry_points_of.cache_clear()


def test_functions_by_their_path(own: Path) -> None:
    """A function of one's own is found in its module, inside a class too, and solves with its options."""
    del own
    problem = gsopt.load("reclaiming/aryl-figure-5")
    for path in ("own_scheduler:mine", "own_scheduler:Holder.inner"):
        assert catalogue.find_method("reclaiming", path).__name__ == "mine"
        assert gsopt.solve(problem, path, skip=1).method == "mine"
    assert catalogue.find_policy("own_scheduler:my_policy") is catalogue.policies()["fifo"]


def test_classes_of_formulations_are_methods() -> None:
    """A class of formulations solves problems as its instance does, by itself and by its path."""
    problem = gsopt.load("reclaiming/aryl-figure-5")
    for method in (Milp, "formulations.reclaiming.milp:Milp"):
        assert gsopt.solve(problem, method).objective == 1


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere:mine", "there is no module nowhere"),
        ("own_scheduler.deeper:mine", "there is no module own_scheduler.deeper"),
        ("broken:mine", "broken cannot be imported: NameError: name 'nothing' is not defined"),
        ("needy:mine", "needy cannot be imported: ModuleNotFoundError: No module named 'absent'"),
        ("leaving:mine", "leaving cannot be imported: SystemExit: 3"),
        ("own_scheduler:yours", "own_scheduler has no yours"),
        ("own_scheduler:value", "must be a function, not 7"),
        ("own_scheduler:", "must be package.module:function"),
        (":mine", "must be package.module:function"),
        ("own scheduler:mine", "must be package.module:function"),
        (".own_scheduler:mine", "must be package.module:function"),
        ("own_scheduler:mine()", "must be package.module:function"),
    ],
)
def test_paths_that_are_wrong(own: Path, path: str, message: str) -> None:
    """Each way to get a path wrong gives one line of its own."""
    for name, text in {"broken": "nothing", "needy": "import absent", "leaving": "raise SystemExit(3)"}.items():
        (own / f"{name}.py").write_text(text)
    for find in (partial(catalogue.find_method, "reclaiming"), catalogue.find_policy):
        assert refusal(find, path).endswith(f": {path!r}: {message}")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("optimuss", "; did you mean optimus?"),
        ("gavel", "; did you mean heuristics.policies.gavel:gavel?"),
        ("Polux", "; did you mean heuristics.policies.pollux:pollux?"),
        ("zzz", ", or package.module:function"),
    ],
)
def test_names_that_are_wrong(name: str, meant: str) -> None:
    """A name that is not there is answered by the one that comes closest, written as it has to be."""
    for find in (partial(catalogue.find_method, "scheduling"), catalogue.find_policy):
        assert refusal(find, name).endswith(meant)


def test_policies_are_suggested_where_they_belong() -> None:
    """A decision that is not taken over time is not answered by a policy."""
    assert_refused(r"or package\.module:function$", catalogue.find_method, "reclaiming", "gavel")


def test_every_policy_has_a_name_or_a_path() -> None:
    """The policies of gsopt are offered by name, or found under their path."""
    paths = catalogue.policy_paths()
    assert paths.keys().isdisjoint(catalogue.policies())
    assert all(name_of(catalogue.find_policy(path)) == name for name, path in paths.items())


def test_entry_points_are_found(points: Path) -> None:
    """What an installed package adds is offered by name, exact methods as such; a policy is a heuristic too."""
    del points
    assert {"mine", "absent"} < set(catalogue.heuristics("reclaiming"))
    assert "exacter" in catalogue.exact_methods("scheduling")
    assert {"mine", "absent"} < set(catalogue.policies())
    assert {"mine", "absent"} < set(catalogue.heuristics("scheduling"))
    problem = gsopt.load("reclaiming/aryl-figure-5")
    assert "mine" in {row.method for row in gsopt.compare(problem, time_limit=5) if row.result}
    workload = catalogue.generators("workloads")["batch"](jobs=5, gpus=4)
    assert gsopt.simulate(workload, "mine", cluster=4).metrics.completed == 5
    assert gsopt.solve(gsopt.load("scheduling/small/ares-figure-4"), "mine").objective == 16


def test_names_of_gsopt_go_first(points: Path) -> None:
    """An entry point cannot take the name of a method or policy that is there already."""
    del points
    problem = gsopt.load("reclaiming/aryl-figure-5")
    assert gsopt.solve(problem, "greedy").method == "greedy"
    assert gsopt.solve(problem).status is Status.OPTIMAL
    assert catalogue.policies()["fifo"] is fifo


def test_an_entry_point_that_cannot_be_loaded_spoils_nothing(points: Path) -> None:
    """It says what is wrong with it in its own row, and when it is asked for by name."""
    del points
    line = "entry point reclaiming/absent of gsopt.methods: own_scheduler:nothing: own_scheduler has no nothing"
    problem = gsopt.load("reclaiming/aryl-figure-5")
    rows = {row.method: row for row in gsopt.compare(problem, ["absent", "greedy"])}
    assert (rows["absent"].note, rows["absent"].failed) == (line, False)
    assert rows["greedy"].result is not None
    with pytest.raises(Unsupported, match=line):
        gsopt.solve(problem, "absent")
    workload = catalogue.generators("workloads")["batch"](jobs=5, gpus=4)
    with pytest.raises(Unsupported, match=r"absent of gsopt\.policies: .*: there is no module no_such_module"):
        gsopt.simulate(workload, "absent", cluster=4)


@pytest.mark.parametrize("name", ["mine", "scheming/mine"])
def test_an_entry_point_without_its_decision_is_refused(own: Path, name: str) -> None:
    """A method whose entry point names no decision could never be found; its author hears of it at once."""
    installed(own, f"[gsopt.methods]\n{name} = own_scheduler:mine\n")
    assert_refused(f"gsopt.methods: '{name}': must be named decision/name", catalogue.methods, "reclaiming")
    catalogue.entry_points_of.cache_clear()


def _output_of(script: Path) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=env).stdout


@pytest.mark.parametrize("file", ["heuristics.py", "instances/__init__.py", "formulations/__init__.py"])
def test_a_file_that_hides_ours_is_named(tmp_path: Path, file: str) -> None:
    """A file of the user's with the name of one of the packages gives a line that names it, and is not run."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise RuntimeError('it was run')\n")
    (tmp_path / "script.py").write_text(
        "import gsopt\n"
        "try:\n"
        "    gsopt.solve(gsopt.load('reclaiming/aryl-figure-5'))\n"
        "except gsopt.GsoptError as error:\n"
        "    print(error)\n"
    )
    package = file.partition("/")[0].removesuffix(".py")
    rule = f"hides the package {package} of gsopt; rename it, or move it elsewhere"
    assert _output_of(tmp_path / "script.py") == f"{path}: {rule}\n"


def test_a_folder_without_code_hides_nothing(tmp_path: Path) -> None:
    """A user's folder of data called instances is in nobody's way."""
    (tmp_path / "instances").mkdir()
    (tmp_path / "script.py").write_text("import gsopt\nprint(gsopt.load('reclaiming/aryl-figure-5').demand)\n")
    assert _output_of(tmp_path / "script.py") == "2\n"


def test_policies_are_told_by_their_state() -> None:
    """A policy among methods is lifted where things are decided over time, and refused elsewhere."""
    problem = gsopt.load("scheduling/small/ares-figure-4")
    assert gsopt.solve(problem, "heuristics.policies:efq", alpha=1.0).method == "efq"
    rows = gsopt.compare(problem, [partial(efq, alpha=1.0), fifo])
    assert [row.method for row in rows] == ["efq(alpha=1.0)", "fifo"]
    with pytest.raises(InvalidInput, match="fifo: is a policy, which decides over time; reclaiming has none"):
        gsopt.compare(gsopt.load("reclaiming/aryl-figure-5"), [fifo])
