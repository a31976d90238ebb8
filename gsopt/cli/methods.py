"""``gsopt methods``: a command that lists the methods that can be compared."""

from gsopt.cli.arguments import AnyWord
from gsopt.cli.output import list_entries, print_table
from gsopt.evaluation import catalogue
from gsopt.problems.reader import problem_types
from gsopt.problems.scheduling import Scheduling


def methods(word: AnyWord = None) -> None:
    """List the methods of a decision.

    Policies are methods for scheduling. Some of them must be named by path.
    """
    for decision in [word] if word else sorted(problem_types()):
        print_table(list_entries(f"{decision}: exact", catalogue.exact_methods(decision)))
        print_table(list_entries(f"{decision}: heuristic", catalogue.heuristics(decision)))
        if decision == Scheduling.word:
            paths = {name: catalogue.find_policy(path) for name, path in catalogue.policy_paths().items()}
            print_table(list_entries("policy, named as heuristics.policies.NAME:NAME", paths))
