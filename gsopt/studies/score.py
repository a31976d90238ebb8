"""Score: a single number that rates a heuristic, which runs with limits on time and memory."""

import resource
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import RenderableType

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, TimeUp, one_line, shorten
from gsopt.core.method import MethodLike, run
from gsopt.core.numbers.grid import Number
from gsopt.core.problem import Problem
from gsopt.core.result import Claim, Result, Status, relative_gap, settle
from gsopt.evaluation import catalogue
from gsopt.evaluation.listing import Listing
from gsopt.evaluation.ratio import ratio
from gsopt.evaluation.tables import Column, lay_out, percent
from gsopt.problems.reader import problem_types
from gsopt.solvers.backends.process import Pool, Reply
from gsopt.studies.executor import MODULE
from gsopt.studies.instance import generate

#: Default memory limit of a method, in bytes.
MEMORY = 2 * 2**30

#: Wall-clock seconds after which a process is terminated, for each second of its processor-time limit, plus a
#: constant.
_PATIENCE, _GRACE = 10.0, 10.0

#: Time limit of the exact method for instances without a committed bound, in seconds.
_PROOF = 60.0


class ScoredInstance(NamedTuple):
    """The outcome of a method on one instance.

    Attributes
    ----------
    instance
        Name of the instance.
    quality
        The bound divided by the value, or the value by the bound when maximizing: 1 if the two are equal. It is
        0 if there is no value, or if the two differ and either of them is 0 or negative.
    gap
        Relative gap between the value and the bound; None if there is no value, or if the bound is 0 and the
        value is not.
    objective, bound
        The value, or None if there is none, and the bound.
    failure
        Reason why there is no value; empty if there is one.
    """

    instance: str
    quality: float
    gap: float | None
    objective: Number | None
    bound: Number | None
    failure: str


@dataclass(frozen=True, repr=False)
class Score(Listing[ScoredInstance]):
    """The outcome of a method on several instances.

    Attributes
    ----------
    method
        Name of the method.
    rows
        The outcomes, one per instance.
    unproven
        Names of the instances that do not count, as no bound is stored with them and the exact method proves no
        optimum within a minute.
    interrupted
        Whether Ctrl-C ended the run, so that instances are missing.
    """

    method: str
    rows: tuple[ScoredInstance, ...]
    unproven: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def score(self) -> float:
        """Mean quality over `rows`: 1 if every value equals its bound, 0 if no instance is solved."""
        return fsum(row.quality for row in self.rows) / len(self.rows) if self.rows else 0.0

    @property
    def mean_gap(self) -> float | None:
        """Mean gap over the instances that have a gap, or None if there are none."""
        gaps = self._gaps
        return fsum(gaps) / len(gaps) if gaps else None

    @property
    def worst_gap(self) -> float | None:
        """Largest gap, or None if no instance has one."""
        return max(self._gaps, default=None)

    @property
    def failures(self) -> tuple[ScoredInstance, ...]:
        """The instances without a value."""
        return tuple(row for row in self.rows if row.failure)

    @property
    def _gaps(self) -> list[float]:
        return [row.gap for row in self.rows if row.gap is not None]

    def table(self) -> RenderableType:
        """Return a table with one line per instance, and the score below it."""
        return lay_out(self.columns(), notes=self.notes())

    def columns(self) -> list[Column]:
        """Return the columns of the table."""
        gaps = ["-" if row.gap is None else percent(row.gap) for row in self.rows]
        return [
            Column("instance", [row.instance for row in self.rows], right=False),
            Column("quality", [f"{row.quality:.4f}" for row in self.rows]),
            Column("gap", gaps),
            Column("failure", [row.failure for row in self.rows], right=False),
        ]

    def notes(self) -> list[str]:
        """Return lines with the score, mean and worst gap, number of failures, and unproven instances."""
        gaps = [("mean gap", self.mean_gap), ("worst gap", self.worst_gap)]
        told = [f"{name} {percent(gap)}" for name, gap in gaps if gap is not None]
        failures = [f"{len(self.failures)} failures"] if self.failures else []
        lines = [f"{self.method}: score {self.score:.4f} ({', '.join([*told, *failures]) or 'no instance'})"]
        if self.unproven:
            lines.append(f"no bound is proven for {', '.join(self.unproven)}, which do not count")
        return lines

    def records(self) -> list[dict[str, Any]]:
        """Return the outcome on each instance, as plain JSON types."""
        return [
            {**row._asdict(), "objective": _plain(row.objective), "bound": _plain(row.bound)}
            for row in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the score and all rows, as plain JSON types."""
        return {
            "method": self.method,
            "score": self.score,
            "mean_gap": self.mean_gap,
            "worst_gap": self.worst_gap,
            "failures": len(self.failures),
            "unproven": list(self.unproven),
            "instances": self.records(),
        }


class Attempt(NamedTuple):
    """A request to solve an instance in a separate process, within limits on processor time and memory."""

    word: str
    method: str
    options: Mapping[str, Any]
    problem: Problem[Any]
    seconds: float
    memory: int


def score(
    method: str,
    instances: str | Problem[Any] | Iterable[str | Problem[Any]],
    *,
    limit: TimeLimit = "1s",
    memory: int = MEMORY,
    workers: int = 1,
    options: Mapping[str, Any] | None = None,
    fresh: int = 0,
    count: int = 20,
    **arguments: Any,
) -> Score:
    """Run a method on instances, each in a process with limits, and compare its values with proven bounds.

    The score is the mean quality over the instances. The quality is 1 if the value equals the bound. Otherwise,
    it is the bound divided by the value (when maximizing, the value divided by the bound), or 0 if either of
    them is 0 or negative. It is also 0 if the method fails, hangs, exceeds a limit or finds no solution. A
    score of 1 means that every value equals its bound.

    The bound is the one stored with the instance. If none is stored, it is the optimum that the exact method
    proves. If no optimum is proven within a minute, the instance is left out.

    Parameters
    ----------
    method
        A method or policy by name, such as ``"greedy"``, ``"my_module:my_function"`` or
        ``"folder/program.py:my_function"``. If the file lacks the function, every instance counts as 0.
    instances
        Problems, names of instances, suites or files, or the name of a generator such as
        ``"reclaiming/churn"``.
    limit
        Processor time for each instance, in seconds or as a string such as ``1s``.
    memory
        Bytes of memory that each process may use.
    workers
        Number of processes.
    options
        Options of the method.
    fresh, count
        A generator creates `count` instances, with the seeds from ``fresh * count`` on. With the same `count`,
        a new value of `fresh` yields new seeds.
    arguments
        Arguments of the generator.

    Raises
    ------
    InvalidInput
        The method or an instance does not exist, or a limit, `workers` or `count` is not positive.
    Contradiction
        The method's value is better than a proven bound.

    Examples
    --------
    >>> found = score("smallest_count_first", ["reclaiming/aryl-figure-5", "reclaiming/small/packed"])
    >>> found.score, len(found.failures)
    (1.0, 0)
    """
    seconds = checked_time_limit(limit, "limit")
    if seconds is None or seconds <= 0:
        raise InvalidInput("limit", shorten(limit), "must be positive")
    for name, value in {"memory": memory, "workers": workers, "count": count}.items():
        if value < 1:
            raise InvalidInput(name, shorten(value), "must be at least 1")
    problems = [*_problems(instances, fresh, count, arguments)]
    _refuse_missing(method, {problem.word for problem in problems})
    bounds = [_bound(problem) for problem in problems]
    counted = [(problem, bound) for problem, bound in zip(problems, bounds, strict=True) if bound is not None]
    attempts = [
        Attempt(problem.word, method, dict(options or {}), problem, seconds, memory) for problem, _ in counted
    ]
    replies = _replies(attempts, workers)
    rows = [_row(*pair, replies[place]) for place, pair in enumerate(counted) if place in replies]
    left_out = [_name(problem) for problem, bound in zip(problems, bounds, strict=True) if bound is None]
    return Score(method, tuple(rows), tuple(left_out), interrupted=len(rows) < len(counted))


def _problems(
    given: str | Problem[Any] | Iterable[str | Problem[Any]], fresh: int, count: int, arguments: dict[str, Any]
) -> Iterator[Problem[Any]]:
    for each in [given] if isinstance(given, str | Problem) else given:
        if isinstance(each, Problem):
            yield each
            continue
        word, _, name = each.partition("/")
        if word in problem_types() and name in catalogue.generators(word):
            for seed in range(fresh * count, fresh * count + count):
                made = generate(catalogue.generators(word)[name], {**arguments, "seed": seed})
                yield made.model_copy(update={"name": f"{each}, seed {seed}"})
        else:
            suite = catalogue.names(f"{each.rstrip('/')}/")
            yield from map(_load, suite or [each])


def _load(name: str) -> Problem[Any]:
    try:
        return catalogue.load(name)
    except InvalidInput as error:
        if error.source or error.field != "instance":
            raise
        rule = f"is no suite, no generator, {error.rule.removeprefix('is ')}"
        raise InvalidInput("suite", error.value, rule) from None


def _refuse_missing(method: str, words: Iterable[str]) -> None:
    """Raise `InvalidInput` if the method or its file does not exist."""
    file, _, function = method.rpartition(":")
    if file.endswith(".py"):
        if not Path(file).is_file() or not function.isidentifier():
            raise InvalidInput("method", shorten(method), "must be an existing file and a function in it")
        return
    for word in words:
        catalogue.find_method(word, method)


def _found(word: str, method: str) -> MethodLike:
    """Return a method by its name, or by the path of a file and the name of a function in it."""
    file, _, function = method.rpartition(":")
    if not file.endswith(".py"):
        return catalogue.find_method(word, method)
    sys.dont_write_bytecode = True  # that of another program of equal size and second would be taken for it
    sys.path.insert(0, str(Path(file).resolve().parent))
    return catalogue.find_method(word, f"{Path(file).stem}:{function}")


def _name(problem: Problem[Any]) -> str:
    return problem.name or problem.word


def _bound(problem: Problem[Any]) -> Number | None:
    """Return the best committed bound or, if there is none, the optimum if it is proven within a minute."""
    about = problem.about
    if about is None or about.bound is None:
        found = run(catalogue.find_method(problem.word, "exact"), problem, time_limit=_PROOF)
        return found.objective if found.status is Status.OPTIMAL else None
    best = catalogue.best_solution(problem.name) if problem.name else None
    if best is not None and about.objective == about.bound:
        return problem.objective(best)  # the exact number behind the float
    return about.bound


def _replies(attempts: Sequence[Attempt], workers: int) -> dict[int, Reply]:
    """Return the replies to all attempts or, after Ctrl-C, to those that are finished, keyed by position.

    Raise KeyboardInterrupt if none is finished.
    """
    pool, threads = Pool(), ThreadPoolExecutor(workers)
    futures = [threads.submit(_reply, pool, attempt) for attempt in attempts]
    finished: dict[int, Future[Reply]] = {}
    try:
        wait(futures, return_when=FIRST_EXCEPTION)
    except KeyboardInterrupt:
        if not any(future.done() for future in futures):
            raise
    finally:
        finished |= {place: future for place, future in enumerate(futures) if future.done()}
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()  # lets go of the threads that wait for it
        threads.shutdown()
        pool.close()
    return {place: future.result() for place, future in finished.items()}


def _reply(pool: Pool, attempt: Attempt) -> Reply:
    with pool.borrow(MODULE, _nothing) as worker:
        patience = _PATIENCE * attempt.seconds + _GRACE
        return worker.call(solve_limited, attempt, limit=patience, hear=_ignored)


def _nothing() -> None:
    """Do nothing, as no check is needed before a process starts."""


def _ignored(_: Any) -> None:
    """Ignore frames that arrive before the answer."""


def solve_limited(attempt: Attempt, link: Any = None) -> Result[Any] | str:
    """Solve an instance within limits on processor time and memory; return the result, or why it failed."""
    del link
    try:
        method = _found(attempt.word, attempt.method)
        with _limited(attempt.seconds, attempt.memory):
            return run(method, attempt.problem, **attempt.options)
    except MemoryError:
        return f"it needs more than {attempt.memory:,} bytes"
    except Exception as error:  # noqa: BLE001 - it may be anybody's method
        return one_line(error)


@contextmanager
def _limited(seconds: float, memory: int) -> Iterator[None]:
    """Limit the processor time and the memory of this process inside the ``with`` block."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory, most))
    before = signal.signal(signal.SIGPROF, partial(_end, seconds))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _end(seconds: float, *_: Any) -> None:
    raise TimeUp(f"it needs more than {seconds:g} s of processor time")


def _row(problem: Problem[Any], bound: Number, reply: Reply) -> ScoredInstance:
    found = reply.answer
    if not isinstance(found, Result) or found.objective is None:
        said = found if isinstance(found, str) else getattr(found, "message", "") or reply.message
        said = said.replace("the solver's process", "its process")
        return ScoredInstance(_name(problem), 0.0, None, None, bound, said or "it found no solution")
    value, noise = found.objective, problem.resolution(found.objective)
    claims = [Claim(found.method, value, resolution=noise), Claim("the proof", bound=bound)]
    settle(problem.sense, claims)
    times = ratio(problem, value, bound)
    gap = 0.0 if times == 1 else relative_gap(value, bound)
    return ScoredInstance(_name(problem), 0.0 if times is None else float(1 / times), gap, value, bound, "")


def _plain(value: Number | None) -> float | int | None:
    return value if value is None or isinstance(value, int) else float(value)
