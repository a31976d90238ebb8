"""The reference: every public name has a page, and a page shows what is ours."""

import re
from collections import Counter

from reference import REFERENCE, members_of
from tasks import TASKS, task_of

import gsopt
import heuristics.waiting
from gsopt.core.result import Status
from gsopt.problems import Reclaiming
from tests.test_examples import offered_modules


def test_every_public_name_has_a_page() -> None:
    """Each name of each ``__all__`` leads to a page that names it, lazily loaded ones included."""
    pages = REFERENCE.pages()
    offered = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in offered_modules()
        for name in getattr(module, "__all__", ())
    }
    for path, found in offered.items():
        entry = REFERENCE.entries.get(path)
        page = f"{entry.page}.rst" if entry else f"{found.__name__.replace('.', '/')}/index.rst"
        assert entry is None or f":: {entry.path}\n" in pages[page]
        assert page in pages
    assert len(offered) > 400
    assert {f"heuristics.waiting.{name}" for name in heuristics.waiting.__all__} <= REFERENCE.entries.keys()


def test_every_page_has_one_place() -> None:
    """Each page stands once in the tree of contents, below a task; each name of gsopt belongs to one task."""
    pages = REFERENCE.pages()
    places = Counter(
        re.sub(r".*<(.*)>", r"\1", line.strip()).removeprefix("/reference/")
        for page in pages.values()
        for tree in re.findall(r"\.\. toctree::\n   :hidden:\n\n((?:   .*\n?)+)", page)
        for line in tree.splitlines()
    )
    assert places == Counter(page.removesuffix(".rst") for page in pages if page != "index.rst")
    offered = {entry.name for entry in REFERENCE.entries.values() if entry.module == "gsopt"}
    assert Counter(name for task in TASKS for name in task.names) == Counter(offered)


def test_the_nearest_package_decides() -> None:
    """Policies have a task of their own, other heuristics another, and the root package none."""
    found = [task_of(path) for path in ("heuristics.policies.sia", "heuristics.waiting", "gsopt")]
    assert [task and task.title for task in found] == ["Policies", "Heuristics", None]


def test_no_page_hides_another() -> None:
    """Pages differ by more than the case of their names, which some file systems do not tell apart."""
    pages = REFERENCE.pages()
    assert len({page.lower() for page in pages}) == len(pages)


def test_members_are_ours() -> None:
    """Methods and properties of a problem are listed, but not its fields, its checks and those of pydantic."""
    members = members_of(Reclaiming)
    assert {"objective", "violations", "candidates", "unit"} <= set(members)
    assert not {"demand", "model_dump", "model_copy", "word"} & set(members)
    checks = Reclaiming.__pydantic_decorators__.model_validators
    assert checks
    assert not checks.keys() & set(members)
    assert members_of(Status)[:4] == ["OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"]


def test_names_are_found_where_they_are_offered() -> None:
    """A name is found by the module that defines it, by itself if it is the only one, and else not at all."""
    assert REFERENCE.find("gsopt.scenario.cluster.cluster.Cluster") == "gsopt.Cluster"
    assert REFERENCE.find("NoSolution") == "gsopt.core.method.NoSolution"
    assert REFERENCE.find("milp") is None
    assert REFERENCE.find("collections.abc.Callable") is None


def test_what_is_offered_twice_has_one_page() -> None:
    """The second place leads to the page of the first."""
    assert REFERENCE.entries["gsopt.scenario.cluster.Cluster"].path == "gsopt.Cluster"
    assert gsopt.Cluster is REFERENCE.entries["gsopt.Cluster"].found
