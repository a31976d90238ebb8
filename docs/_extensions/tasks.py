"""Tasks: what a reader of the reference wants to do, and the names and packages that do it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A page of the reference: names of ``gsopt`` itself, and packages without what other tasks have."""

    title: str
    summary: str
    names: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The document that is about it, in the folder of the reference."""
        return self.title.lower().replace(" ", "-")


TASKS = (
    Task(
        "Load and solve",
        "Load an instance, solve it within a time limit, and read the result.",
        (
            *("load", "names", "solve", "warm_up", "Result", "Status", "StoppedBy", "Level", "Budget"),
            *("read_problem", "read_solution", "read_result", "write"),
        ),
    ),
    Task(
        "Compare and simulate",
        "Compare methods with proven bounds, simulate policies, and draw what they did.",
        (
            "compare",
            "Comparison",
            "read_comparison",
            "History",
            "compare_policies",
            "wait_brackets",
            "simulate",
            "worst",
            "score",
        ),
        ("gsopt.evaluation", "gsopt.simulation"),
    ),
    Task("Policies", "Published policies, which decide over time.", (), ("heuristics.policies",)),
    Task(
        "Problems",
        "The decisions: their data, solutions and objectives.",
        ("Problem", "Sense"),
        ("gsopt.problems",),
    ),
    Task("Exact methods", "Formulations and algorithms that prove the optimum.", (), ("formulations",)),
    Task("Heuristics", "Published heuristics for each decision.", (), ("heuristics",)),
    Task(
        "Scenarios and clusters",
        "Describe jobs, machines and how fast jobs run; read snapshots of real clusters.",
        ("Job", "Workload", "Cluster", "Scenario", "read_cluster", "write_cluster"),
        ("gsopt.scenario", "gsopt.performance", "gsopt.snapshots"),
    ),
    Task(
        "Bounds and judges",
        "Check schedules that come from elsewhere, and bound what any schedule can reach.",
        ("judge", "lift", "certify", "verify", "Certificate", "Schedule", "read_schedule"),
        ("gsopt.schedule",),
    ),
    Task(
        "Studies and suites",
        "Run grids of experiments, and make their tables and reports.",
        (),
        ("gsopt.studies",),
    ),
    Task("Solver backends", "Choose the solver of a formulation.", ("StandardForm",), ("gsopt.solvers",)),
    Task(
        "Data and generators", "Read public traces, and generate instances.", ("read_workload",), ("instances",)
    ),
    Task(
        "Extend and test",
        "Add your own methods and formulations, and test them.",
        ("heuristic", "Formulation", "GsoptError", "show_versions"),
        ("gsopt.testing", "gsopt.core"),
    ),
)


def task_of(module: str) -> Task | None:
    """Return the task of a package or module: that of the nearest package around it which some task names."""
    parts = module.split(".")
    paths = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return next((task for path in paths for task in TASKS if path in task.packages), None)
