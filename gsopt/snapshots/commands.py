"""Commands: the shell commands that give nodes back or stop gangs.

gsopt never executes these commands.
"""

import shlex
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from gsopt.core.errors import escape
from gsopt.scenario.cluster.formats.hostlist import compress
from gsopt.snapshots.gang import Gang
from gsopt.snapshots.snapshot import Snapshot

#: The reason that Slurm records for draining a node.
_REASON = "returned by gsopt"


def quoted(text: str) -> str:
    r"""Return a string quoted as a single word of a shell command, without line breaks."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_in_quotes, text)) + "'"


def _in_quotes(character: str) -> str:
    if character.isprintable() and character not in "'\\":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def commands_of(snapshot: Snapshot, servers: Sequence[str], preempted: Collection[str]) -> tuple[str, ...]:
    r"""Return the commands that give back nodes and preempt gangs, in the order in which to run them."""
    if not servers:
        return ()
    if snapshot.source == "slurm":
        return tuple(_slurm(snapshot, servers, preempted))
    return tuple(_kubernetes(snapshot, servers))


def stop_commands(snapshot: Snapshot, gangs: Sequence[Gang]) -> tuple[str, ...]:
    """Return the commands that stop gangs.

    Stopped gangs restart automatically, except for pods without a controller and Slurm jobs that are not
    requeued.
    """
    if snapshot.source == "slurm":
        return tuple(_stopped_by_slurm(gangs))
    return tuple(_deleted(gangs))


def _deleted(gangs: Sequence[Gang]) -> Iterator[str]:
    """Yield, for each gang, the command that deletes its pods."""
    for gang in gangs:
        alone = [part.name for part in gang.standing if not part.replaced]
        if alone:
            yield f"# nothing replaces {_counted(alone)}:"
        namespace, slash, _ = gang.name.partition("/")
        within = f"--namespace {quoted(namespace)} " if slash else ""
        yield f"kubectl delete pod {within}-- {' '.join(quoted(part.name) for part in gang.standing)}"


def _kubernetes(snapshot: Snapshot, servers: Sequence[str]) -> Iterator[str]:
    """Yield commands that cordon all nodes before draining any, so that no pod moves between these nodes."""
    yield from (f"kubectl cordon -- {quoted(name)}" for name in servers)
    returned = set(servers)
    scratch: set[str] = set()
    alone: dict[str, list[str]] = {}
    for part in chain(snapshot.leaving, *(gang.parts for gang in snapshot.gangs)):
        if part.node in returned and part.scratch:
            scratch.add(part.node)
        if part.node in returned and not part.replaced:
            alone.setdefault(part.node, []).append(part.name)
    for name in servers:
        options = ["--ignore-daemonsets"]
        options += ["--delete-emptydir-data"] if name in scratch else []
        if name in alone:
            options.append("--force")
            yield f"# nothing replaces {_counted(alone[name])}, which --force deletes:"
        yield f"kubectl drain {' '.join(options)} -- {quoted(name)}"


def _slurm(snapshot: Snapshot, servers: Sequence[str], preempted: Collection[str]) -> Iterator[str]:
    """Yield commands that drain all nodes before requeueing any job, so that no job restarts on them."""
    yield f"scontrol update {quoted(f'NodeName={compress(servers)}')} State=DRAIN {quoted(f'Reason={_REASON}')}"
    yield from _stopped_by_slurm([gang for gang in snapshot.gangs if gang.name in preempted])


def _stopped_by_slurm(lost: Sequence[Gang]) -> Iterator[str]:
    for verb, gangs in (
        ("scontrol requeue", [gang for gang in lost if gang.requeues]),
        ("scancel", [gang for gang in lost if not gang.requeues]),
    ):
        for gang in gangs:
            yield f"{verb} {quoted(gang.name)}"


def _counted(names: Sequence[str]) -> str:
    """Return the first pod name and the number of other pods, for a one-line comment."""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"pod {escape(names[0])}{more}"
