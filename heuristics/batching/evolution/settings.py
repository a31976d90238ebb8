"""Settings: what ONES' text leaves open of its search, with the readings that work as defaults."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen

#: Whether a mutation preempts single workers, as Figure 9 draws it, or whole jobs, as the text has it.
Preempts = Literal["jobs", "workers"]

#: What is left of a job whose batch limit has fallen below its batch: as printed, at least one GPU of that, or
#: as many as the new limit allows.
ScaleDown = Literal["at least one", "floor", "widest"]

#: Whether one draw of the remaining work scores a whole generation, or one draw for each survivor.
Selection = Literal["one draw", "thompson"]

#: Whether idle GPUs are filled by the draw of the generation, or by one for each job that is selected.
FillDraws = Literal["generation", "selection"]

#: Whether jobs are packed in the order of their first GPUs, or of their last, as in Figure 10.
PackOrder = Literal["first", "last"]


class Settings(Frozen):
    """Readings and parameters of the evolutionary search.

    Attributes
    ----------
    population
        Number of candidates K; as many as the cluster has GPUs when None, which the paper suggests.
    mutation_rate
        Probability with which a mutation preempts each job or worker, theta; the paper does not give it.
    preempts
        What a mutation preempts: each of the jobs (text of section 3.2.2) or each of the workers (Figure 9).
    scale_down
        How many GPUs keep a job on ``c`` GPUs with batch ``B`` when its batch limit falls to ``R < B``:
        ``max(1, R * c // B)``, the printed ``R * c // B``, which can be none, or as many of them as ``R``
        allows.
    selection
        The K least scores under one draw, or K times Algorithm 1, each with a draw of its own and without the
        candidates that have been selected; it makes a difference only where weights are drawn.
    fill_draws
        Whether the jobs that fill idle GPUs are ranked by the generation's draw, or by a new one for every job
        that is selected, which is closer to the text and slower.
    pack
        Order in which the workers of jobs are packed: of first occurrence (text) or last (Figure 10).
    distinct
        Whether candidates of equal score are kept only once, as long as there are enough others; not in the
        paper, whose populations end as copies of one candidate.

    Examples
    --------
    >>> Settings().mutation_rate, Settings(preempts="workers").preempts
    (0.1, 'workers')
    """

    population: Annotated[int, Field(ge=1, le=100_000)] | None = None
    mutation_rate: Annotated[float, Field(ge=0, le=1)] = 0.1
    preempts: Preempts = "jobs"
    scale_down: ScaleDown = "at least one"
    selection: Selection = "one draw"
    fill_draws: FillDraws = "generation"
    pack: PackOrder = "first"
    distinct: bool = False
