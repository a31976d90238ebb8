"""Time-indexed: the slot model of sharing as a mixed-integer program, which suits only tiny instances."""

from collections.abc import Mapping
from typing import Any, ClassVar

from formulations.sharing.best import BestSharing
from formulations.sharing.following import at_events
from formulations.sharing.listing import take_lists
from formulations.sharing.root import raise_to_root
from formulations.sharing.slotted import FULL, Slotted
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch, Unsupported
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.solvers.backends import solver_of
from gsopt.solvers.backends.slotted import USERS, Planned
from gsopt.solvers.formulation import Formulation
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import StandardForm

#: Maximum number of slots until the end of the best known schedule; and maximum product of the numbers of jobs,
#: GPUs and slots in a model.
_MOST_SLOTS, _MOST_PLACES = 20, 3000


class TimeIndexed(Formulation[Sharing, SharingSolution]):
    """The reference model for `slots`, which decides slot by slot which jobs are active and which share GPUs.

    Times are rounded up, so the optimum is not a bound. The bound of the result is that of
    `formulations.sharing.areas`. The plan is converted to starts at events, as in `slots`.

    Sets
    ----
    j: jobs. g: GPUs. t = 0 .. T - 1: slots; T slots are a quarter longer than the best known schedule.

    Parameters
    ----------
    r_j, G_j, w_j: first slot, GPUs and work of job j. F = 2520: work that a job does in a slot without sharing.
    v_jk: work that job j does in a slot when sharing with job k.

    Variables
    ---------
    x[j, t], binary: job j starts at the beginning of slot t. f[j, t], binary: it ends at the beginning of slot
    t. y[j, g], binary: it holds GPU g. b[j, k], binary: jobs j and k have a GPU in common. h[j, g, t], binary:
    job j is active on GPU g. o[j, k, t], binary: two jobs that share are both active. q[j, t], integer: work
    done in slot t, from 0 to F.

    Objective
    ---------
    Minimize the sum of the t f[j, t], the completion times in slots.

    Constraints
    -----------
    Let a_jt = sum_{u <= t} (x[j, u] - f[j, u]), which is 1 while job j is active. starts[j], ends[j]: sum_t
    x[j, t] = sum_t f[j, t] = 1. order[j, t]: a_jt >= 0. demand[j]: sum_g y[j, g] = G_j (Eq. 6, with y fixed
    over time as in Eq. 8). holds[j, g, t]: h >= y + a - 1. room[g, t]: sum_j h <= 2 (Eq. 7). common[j, k, g]: b
    >= y_jg + y_kg - 1. together[j, k, t]: o >= b + a_jt + a_kt - 2. apart[j, k, t]: b + a_jt + a_kt <= 2 for
    jobs that must not share. idle[j, t]: q <= F a. beside[j, k, t]: q <= F - (F - v_jk) o (Eq. 4, 5 and 12).
    work[j]: sum_t q >= w_j (Eq. 11).

    Size
    ----
    About n T (G + n / 2 + 3) columns and n T (G + 3 n / 2 + 2) rows for n jobs and G GPUs, and T more rows for
    each pair of jobs that must not share. Models with n G T above 3,000 are rejected.

    Source
    ------
    Castor, Eq. 6-13. The paper multiplies rates by the variables for places; here, the model is linear. Of
    several partners, the worst one determines the speed (Eq. 4-5). Completion times in Eq. 13 are read as
    measured from the arrivals a_j, which changes their sum only by a constant. Indices are read as y_jg in Eq.
    8, I_j in Eq. 11 and B_j in Eq. 12, and the arg min of a sum in Eq. 11 as the first slot by which the work
    is done. The linearization is gsopt's own.

    Examples
    --------
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3), ("b", 3)]]
    >>> result = time_indexed(Sharing(gpus=1, jobs=jobs, default_interference=1.2))
    >>> result.objective, result.message
    (Fraction(18, 5), 'slots of 0.1875 s: 3.65625 is optimal')
    """

    name: ClassVar[str] = "time_indexed"
    own_unit: ClassVar[str] = "slots until the ends of all jobs"

    @property
    def unused(self) -> frozenset[str]:
        """The options that the method ignores: none. Even a start is used, because slots depend on it."""
        return frozenset()

    def build(self, problem: Sharing) -> Any:
        """Build the Pyomo model.

        Raises `Unsupported` if the product of the numbers of jobs, GPUs and slots exceeds 3,000.
        """
        return slot_model(self.slotted(problem))

    def slotted(self, problem: Sharing, known: SharingSolution | None = None) -> Slotted:
        """Return the slot model, with slots derived from the known schedule or else the best list schedule."""
        if known is None:
            best = BestSharing(problem, Budget(), self.name)
            take_lists(best)
            known = best.solution
        if known is None:
            raise AssertionError  # lists find a schedule
        model = Slotted.of(problem, known, _MOST_SLOTS)
        places = len(problem.jobs) * problem.gpus * model.horizon
        if places > _MOST_PLACES:
            limit = f"the reference model takes at most {_MOST_PLACES:,}"
            raise Unsupported(f"{self.name}: {places:,} places in time: {limit}")
        return model

    def extract(self, values: Mapping[str, float], problem: Sharing) -> SharingSolution:
        """Read the plan from the column values, and convert it to starts at events."""
        return self._followed(self.slotted(problem), values)

    def run(self, problem: Sharing, budget: Budget) -> Result[SharingSolution]:
        """Solve the slot model if a gap and time are left, and return the best schedule with its bound.

        Raises `Unsupported` as `build` does.
        """
        best, message = BestSharing(problem, budget, self.name), "no slots were needed"
        take_lists(best)
        raise_to_root(best)
        model = self.slotted(problem, best.solution)
        if best.finished is None:
            form = StandardForm.from_pyomo(slot_model(model))
            proof = optimize(form, budget)
            if proof.stopped_by is StoppedBy.INTERRUPT:
                raise KeyboardInterrupt
            message = f"slots of {float(model.slot):g} s: no plan was found"
            if proof.values is not None:
                point = form.rounded(proof.values)
                value = float(model.value(round(form.objective(point))))
                said = "is optimal" if proof.status is Status.OPTIMAL else "is the best known"
                message = f"slots of {float(model.slot):g} s: {value:g} {said}"
                best.take(self._followed(model, form.named(point)))
        return best.result(best.finished or StoppedBy.FINISHED, solver=solver_of(budget).name, message=message)

    def _followed(self, model: Slotted, values: Mapping[str, float]) -> SharingSolution:
        plan = plan_of(model, values)
        ends = model.ends(plan)
        if ends is None:
            raise ModelMismatch(f"{self.name}: the model's plan breaks a rule of the slots")
        return at_events(model, plan, ends)


time_indexed = TimeIndexed()


def slot_model(model: Slotted) -> Any:
    """Build the Pyomo model for a slot model."""
    import pyomo.environ as pyo

    program = pyo.ConcreteModel()
    jobs, gpus = range(len(model.work)), range(model.problem.gpus)
    starts = [(job, slot) for job in jobs for slot in _starts(model, job)]
    ends = [(job, slot + 1) for job, slot in starts]
    pairs = [(job, other) for job in jobs for other in range(job)]
    meets = [(one, other, slot) for one, other in pairs for slot in _both(model, one, other)]
    program.x = pyo.Var(starts, domain=pyo.Binary)
    program.f = pyo.Var(ends, domain=pyo.Binary)
    program.y = pyo.Var(jobs, gpus, domain=pyo.Binary)
    program.b = pyo.Var(pairs, domain=pyo.Binary)
    program.h = pyo.Var([(job, gpu, slot) for job, slot in starts for gpu in gpus], domain=pyo.Binary)
    program.o = pyo.Var(meets, domain=pyo.Binary)
    program.q = pyo.Var(starts, domain=pyo.NonNegativeIntegers, bounds=(0, FULL))
    program.value = pyo.Objective(expr=sum(slot * program.f[job, slot] for job, slot in ends))
    _add_spans(program, model)
    _add_gpus(program, model)
    _add_work(program, model)
    return program


def _add_spans(program: Any, model: Slotted) -> None:
    """Add rows that require each job to start once, and to end once after that."""
    import pyomo.environ as pyo

    jobs = range(len(model.work))
    starts = list(program.x)
    program.starts = pyo.Constraint(jobs, rule=lambda m, job: sum(m.x[job, :]) == 1)
    program.ends = pyo.Constraint(jobs, rule=lambda m, job: sum(m.f[job, :]) == 1)

    def is_active(m: Any, job: int, slot: int) -> Any:
        begun = sum(m.x[job, time] for time in range(model.release[job], slot + 1))
        return begun - sum(m.f[job, time] for time in range(model.release[job] + 1, slot + 1))

    program.a = pyo.Expression(starts, rule=is_active)
    program.order = pyo.Constraint(starts, rule=lambda m, job, slot: m.a[job, slot] >= 0)


def _add_gpus(program: Any, model: Slotted) -> None:
    """Add rows that assign GPUs to each job, and at most two jobs that may share to each GPU."""
    import pyomo.environ as pyo

    jobs, gpus, slots = range(len(model.work)), range(model.problem.gpus), range(model.horizon)
    demand = [job.gpus for job in model.problem.jobs]
    program.demand = pyo.Constraint(jobs, rule=lambda m, job: sum(m.y[job, :]) == demand[job])
    program.holds = pyo.Constraint(
        list(program.h),
        rule=lambda m, job, gpu, slot: m.y[job, gpu] + m.a[job, slot] <= 1 + m.h[job, gpu, slot],
    )

    def room(m: Any, gpu: int, slot: int) -> Any:
        held = [m.h[job, gpu, slot] for job in jobs if (job, gpu, slot) in m.h]
        return sum(held) <= USERS if len(held) > USERS else pyo.Constraint.Skip

    program.room = pyo.Constraint(gpus, slots, rule=room)
    common = [(one, other, gpu) for one, other in program.b for gpu in gpus]
    program.common = pyo.Constraint(
        common, rule=lambda m, one, other, gpu: m.b[one, other] >= m.y[one, gpu] + m.y[other, gpu] - 1
    )
    apart = [meet for meet in program.o if meet[1] not in model.beside[meet[0]]]
    program.apart = pyo.Constraint(
        apart, rule=lambda m, one, other, slot: m.b[one, other] <= 2 - m.a[one, slot] - m.a[other, slot]
    )


def _add_work(program: Any, model: Slotted) -> None:
    """Add rows that require each job to do its work, slower when it shares GPUs."""
    import pyomo.environ as pyo

    def together(m: Any, one: int, other: int, slot: int) -> Any:
        return m.o[one, other, slot] >= m.b[one, other] + m.a[one, slot] + m.a[other, slot] - 2

    def beside(m: Any, job: int, other: int, slot: int) -> Any:
        both = m.o[max(job, other), min(job, other), slot]
        return m.q[job, slot] <= FULL - (FULL - model.beside[job].get(other, FULL)) * both

    program.together = pyo.Constraint(list(program.o), rule=together)
    program.idle = pyo.Constraint(
        list(program.x), rule=lambda m, job, slot: m.q[job, slot] <= FULL * m.a[job, slot]
    )
    meets = [(*pair, slot) for one, other, slot in program.o for pair in ((one, other), (other, one))]
    program.beside = pyo.Constraint(meets, rule=beside)
    jobs = range(len(model.work))
    program.work = pyo.Constraint(jobs, rule=lambda m, job: sum(m.q[job, :]) >= model.work[job])


def plan_of(model: Slotted, values: Mapping[str, float]) -> dict[int, Planned]:
    """Read the plan from the column values, which are keyed by column name."""
    gpus = range(model.problem.gpus)
    return {
        job: Planned(
            next(slot for slot in _starts(model, job) if values[f"x[{job},{slot}]"] > 0),
            tuple(gpu for gpu in gpus if values[f"y[{job},{gpu}]"] > 0),
        )
        for job in range(len(model.work))
    }


def _starts(model: Slotted, job: int) -> range:
    return range(model.release[job], model.horizon)


def _both(model: Slotted, one: int, other: int) -> range:
    return range(max(model.release[one], model.release[other]), model.horizon)
