"""Settings: parameters of ONES' search, and choices that the paper leaves open or states in two ways."""

from typing import Annotated, Literal

from pydantic import Field

from gsopt.core.problem import Frozen

#: Whether a mutation preempts whole jobs, as in the text, or single workers, as in Figure 9.
Preempts = Literal["jobs", "workers"]

#: How many GPUs a job keeps when its batch limit falls below its batch size: the printed number, but at least
#: one; the printed number; or as many as the new limit allows.
ScaleDown = Literal["at least one", "floor", "widest"]

#: Whether one draw of the remaining work scores a whole generation, or each survivor has its own draw.
Selection = Literal["one draw", "thompson"]

#: Whether idle GPUs are filled by the generation's draw, or by a new draw for each selected job.
FillDraws = Literal["generation", "selection"]

#: Whether jobs are packed in the order of their first GPUs, or of their last GPUs as in Figure 10.
PackOrder = Literal["first", "last"]


class Settings(Frozen):
    """Interpretations of the paper, and parameters of the evolutionary search.

    Attributes
    ----------
    population
        Number of candidates K; the number of GPUs if None, as in the paper.
    mutation_rate
        Probability theta with which a mutation preempts each job or worker; the paper gives no value.
    preempts
        Whether a mutation preempts whole ``jobs`` (text of section 3.2.2) or single ``workers`` (Figure 9).
    scale_down
        How many of its ``c`` GPUs a job with batch size ``B`` keeps when its batch limit falls to ``R < B``:
        ``max(1, R * c // B)`` (``at least one``), the printed ``R * c // B`` (``floor``), or
        ``min(c, ceil(R / b))``, where ``b`` is the job's largest batch size per GPU (``widest``).
    selection
        Who survives if remaining work is drawn at random: the K candidates with the lowest scores under one
        draw (``one draw``), or the winners of K runs of Algorithm 1, each with a new draw and the candidates
        that are left (``thompson``).
    fill_draws
        Whether the jobs that fill idle GPUs are ranked by the draw of the ``generation``, or by a new draw for
        every ``selection`` of a job, which is closer to the text but slower.
    pack
        Order of the jobs when each job's GPUs are moved next to each other: that of the jobs' ``first`` GPUs
        (text) or of their ``last`` GPUs (Figure 10).
    distinct
        Whether only one of several candidates with equal scores survives, as long as there are enough others.
        Not in the paper. It does not affect who survives if remaining work is drawn at random and `selection`
        is ``thompson``.

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
