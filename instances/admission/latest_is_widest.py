"""Latest is widest: an instance where freeing single machines suffices, but the latest gang uses many."""

from gsopt.core.problem import About
from gsopt.problems.admission import Admission, Gang, Part, Running
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster
from instances.arguments import at_least


def latest_is_widest(*, wide: int = 8, needed: int = 1) -> Admission:
    """Create a full cluster where evicting gangs on single machines suffices, but the latest gang is wide.

    The pending gang needs `needed` whole machines. The same number of running gangs use one machine each, and
    one wide gang, which started last, uses all the other machines. The cost of an eviction is the gang's number
    of GPUs. Rules that begin with the latest gang evict the wide gang: with the default parameters, a gang on
    64 GPUs is evicted to free 8.

    Parameters
    ----------
    wide
        Number of machines that the wide gang uses.
    needed
        Number of machines that the pending gang needs.

    Examples
    --------
    >>> from heuristics.admission import kai, slurm
    >>> problem = latest_is_widest()
    >>> kai(problem).objective, slurm(problem).objective
    (64, 8)
    """
    at_least(1, wide=wide, needed=needed)
    machine = [Part(needs=Resources(gpu=8))]
    names = [f"machine 0.{number}" for number in range(needed + wide)]
    singles = [
        Running(name=f"single {number}", parts=machine, on=[{name: 1}], cost=8.0, started=float(number))
        for number, name in enumerate(names[:needed])
    ]
    many = Running(
        name="wide",
        parts=[Part(count=wide, needs=Resources(gpu=8))],
        on=[dict.fromkeys(names[needed:], 1)],
        cost=8.0 * wide,
        started=float(needed),
    )
    return Admission(
        name="latest-is-widest",
        about=About(source="latest_is_widest"),
        cluster=Cluster.uniform(machines=needed + wide, gpus=8),
        running=[*singles, many],
        pending=[Gang(name="new", parts=[Part(count=needed, needs=Resources(gpu=8))], priority=1)],
    )
