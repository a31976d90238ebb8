"""Arguments: options shared by several commands, with their help texts and shell completion."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from gsopt.core.budget import checked_time_limit
from gsopt.core.errors import InvalidInput
from gsopt.evaluation import catalogue
from gsopt.problems.reader import problem_types


def complete(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that completes a partial name to all matching names.

    The names are looked up only when a shell asks for completion.
    """

    def matching(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return matching


def complete_instance(incomplete: str) -> list[str]:
    """Return the committed instances and files whose names begin with a partial name."""
    path = Path(incomplete)
    folder, name = (path, "") if incomplete.endswith("/") else (path.parent, path.name)
    files = [str(file) for file in folder.glob("*") if file.name.startswith(name)]
    return [*catalogue.names(incomplete), *sorted(files)]


def parse_time_limit(given: float | str) -> float | None:
    """Convert the value of an option such as ``--time-limit`` to seconds; ``30s`` becomes 30.0."""
    try:
        return checked_time_limit(given)
    except InvalidInput as error:
        raise typer.BadParameter(f"{error.value}: {error.rule}") from None


def time_limit_option(what: str) -> Any:
    """Return the option ``--time-limit``, which takes a time such as ``30s``."""
    return typer.Option("--time-limit", parser=parse_time_limit, metavar="TIME", help=what)


InstanceArgument = Annotated[
    str,
    typer.Argument(help="instance file, or the name of a committed instance", autocompletion=complete_instance),
]
TimeLimit = Annotated[
    float | None,
    time_limit_option("time per method and instance, such as 30s or 2min; default: 1min, for policies none"),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
_complete_word = complete(problem_types)

Word = Annotated[str, typer.Argument(help="a decision, such as reclaiming", autocompletion=_complete_word)]
AnyWord = Annotated[str | None, typer.Argument(help="a decision; default: all", autocompletion=_complete_word)]
Words = Annotated[
    list[str] | None, typer.Argument(help="decisions; default: all", autocompletion=_complete_word)
]
Trace = Annotated[str, typer.Argument(help="file or folder of a trace with --reader, or a workload as JSON")]
Reader = Annotated[
    str | None,
    typer.Option(
        help="format of the trace, such as philly or swf", autocompletion=complete(catalogue.trace_readers)
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        help="a policy, such as srtf, tiresias:promote=2 or module:function; may be repeated; default: all of "
        "gsopt methods scheduling",
        autocompletion=complete(catalogue.policies),
    ),
]
GpuCount = Annotated[
    int | None,
    typer.Option(help="number of GPUs, or GPUs of each machine if the file of --cluster does not say"),
]
ClusterFile = Annotated[
    Path | None, typer.Option(help="file of the cluster, or its shape, such as 4x8x8; instead of --gpus")
]
SettingOption = Annotated[
    str | None,
    typer.Option(
        "--setting",
        help="file of cluster, speed, overheads and more, as in a study; or values, such as share_limit=2",
    ),
]
Overheads = Annotated[
    list[str] | None,
    typer.Option(help="seconds lost, such as start=4,stop=2 or bert:resize=73; may be repeated"),
]
ShareLimit = Annotated[int | None, typer.Option(help="number of jobs that may share a GPU")]
CapacityChanges = Annotated[
    list[str] | None,
    typer.Option(help="time and number of GPUs from then on, such as 2h=48; may be repeated"),
]
RoundLength = Annotated[
    float | None, typer.Option(help="seconds between decisions; default: decide at every event")
]
BoundEvaluations = Annotated[
    int | None,
    typer.Option(min=0, help="number of price vectors to try for the bound; 0: formulas only; default: few"),
]
Busiest = Annotated[
    float | None,
    typer.Option(
        "--busiest",
        parser=parse_time_limit,
        metavar="TIME",
        help="instead of --window: the period of this length with the most releases, such as 1d",
    ),
]
Window = Annotated[str | None, typer.Option(help="part of the trace, from and to, such as 30d:31d or 0:3600")]
