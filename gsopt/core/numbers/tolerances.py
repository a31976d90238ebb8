"""Tolerances: every difference that the library tolerates, with the reason for its size.

Values of reclaiming, allocation, colocation, consolidation and placement are exact numbers and are compared
exactly, without tolerance. The tolerances below apply where floats cannot be avoided: inside solvers, in shares
of time, and on the clock.
"""

from fractions import Fraction

# Doubles

#: Units in the last place by which a float may be off after the few operations that made it.
ULPS = 4

#: Relative error of a sum of doubles: 2**-53 for each of up to four million terms.
SUM = 1e-9

#: Error of an item's value after payment of a price, relative to value plus payment: sixteen roundings of
#: 2**-53 each, of which the few operations that make it commit at most nine.
ITEM_SCORE = 2.0**-49

#: Error of what a job costs on some GPUs, relative to it: sixteen roundings of 2**-53, of which the numbers of
#: a step, the samples left and the operations on them commit at most fifteen. All terms are positive.
BATCH_COST = 2.0**-49

#: Relative error that each term adds to a sum of doubles, twice what rounding to the nearest comes to.
TERM = 2.0**-52

# Solvers

#: Largest violation of a row or bound, and distance from an integer, that solvers leave in an answer they call
#: feasible (the default of HiGHS, CP-SAT's parameters and SCIP alike).
FEASIBILITY = 1e-6

#: To what HiGHS holds the rows of an integer program: at `FEASIBILITY`, y <= M b with M = 1e5 lets y be 0.1
#: while b rounds to 0.
HIGHS_ROWS = 1e-9

#: To what SCIP holds rows, relative to their limits; at less it loses itself in some unbounded models.
SCIP_ROWS = 1e-8

#: Difference, absolute and relative, of two limits of a row that mean the same integer after the few operations
#: that made them.
LIMIT_NOISE, LIMIT_PART = 1e-9, 1e-14

#: Distance, relative or absolute, at which a backend calls its own value and bound equal. It is what solvers
#: claim, in the units of the model that they were given; what that proves of a problem is decided by
#: `gsopt.solvers.scaling` on the objective's grid.
CLAIM = 1e-6

#: Absolute error of a bound that a solver gives for an objective with coefficients of at most `LARGEST_COST`:
#: reduced costs may be wrong by 1e-7 in each of some thousand columns.
SOLVER_BOUND = 1e-3

#: Largest coefficient of an objective that solvers are given: above, their absolute tolerances and the 16
#: digits of doubles leave less than `FEASIBILITY` of a unit.
LARGEST_COST = 1e6

#: Least distance between two objective values in the units that solvers are given: a thousand times the
#: `FEASIBILITY` to which they work.
LEAST_STEP = 1e-3

#: Part of the distance between two objective values by which a solver's bound may be wrong and still be rounded
#: to the right one. A half would be enough in exact arithmetic.
STEP_PART = 0.25

#: Relative difference at which a model's value of a solution and the problem's are no longer the same number:
#: far above the rounding of sums, far below any error in a model.
MISMATCH = 1e-6

#: Relative error of a cost that a model states as a float of more than 15 digits: thousands of roundings. The
#: numbers behind such costs are unknown, so bounds allow for this much.
ROUNDED_COST = Fraction(1, 10**12)

#: Relative error of a bound on a continuous objective: solvers accept dual values that are wrong by 1e-7.
CONTINUOUS_BOUND = 1e-6

# Schedules

#: Difference, relative to a mean job completion time, at which a schedule counts as proven optimal: its value
#: is continuous, and linear programs give bounds to `CONTINUOUS_BOUND`.
CONTINUOUS = 1e-6

#: Ticks of the clock (units in the last place of the latest time involved) by which all that is said of one job
#: may be wrong together. A time is rounded by half a tick and a run has two, so one run is off by a tick at
#: most, and eight are more than the roundings of some forty runs, which go up as often as down, come to. At
#: 1.7e9 s, today as seconds since 1970, eight ticks are 2 microseconds.
CLOCK_TICKS = 8

#: Part of a span of seconds that rounding in speeds, overheads and sums explains: millions of roundings, each
#: of 1e-16 of it.
SPAN_ERROR = 1e-9

#: Spacing of doubles at the last end of a schedule, as a part of its shortest job, up to which they may state
#: its times: what is missing or too much of a job is then less than a billionth of it.
FINE_CLOCK = 1e-10

#: Length of a tick of the clock on which a schedule is made exact, as a part of the shortest job, at most.
TICK = 1e-12

#: Relative error of a time after up to eight operations on doubles: sixteen roundings of 2**-53.
TIME_ROUNDING = 2.0**-49

#: Part of a job's work below which it counts as done: what repeated subtraction leaves of it.
WORK_DONE = 1e-12

#: Part by which a schedule must be better than another for a search to go on from it; less may be rounding, and
#: a search that takes it for progress need not end.
IMPROVEMENT = 1e-9

#: Part by which a column must be worth more than it costs to be generated; below, prices are rounding.
PRICING = 1e-9

#: To what HiGHS holds the rows of a linear program unless told otherwise. A row that is broken by less is not
#: worth a cut, and work that is missing by less is there.
LINEAR_ROWS = 1e-7

#: The least tolerance that HiGHS takes for rows and reduced costs.
LEAST_TOLERANCE = 1e-10

#: Coefficients of shares that HiGHS keeps; unasked it drops those below 1e-9, by which shares miss their needs.
#: Of 3,011 random problems one is solved with this that is not with 1e-9, and one that is not with 1e-12.
LEAST_COEFFICIENT = 1e-11

#: Part of the cutoff by which probing goes on beyond it, ten times `LINEAR_ROWS`, so that the bound computed
#: from the dual values, which are wrong by that much, exceeds the cutoff too. It proves nothing by itself.
PROBED = 1e-6

#: Value of a column from which on a relaxation is taken to want it: what solvers leave of a 0. It only says
#: where probing begins, so nothing depends on it but the time.
WANTED = 1e-6

#: Reduced cost of the wrong sign that solvers accept in an optimum, for each unit of its column. Where the dual
#: values are at hand, the bound is computed from them instead (`formulations.common.duals`).
DUALS = 1e-7

#: Significant digits to which policies compare speeds that jobs have had on average. Jobs with one slowdown all
#: their lives have the same speed, and the sums behind it are rounded once for each of up to a million pieces.
SPEED_DIGITS = 9

#: Significant digits to which claims of jobs on their shares of the time are compared. Shares are right to a
#: billionth (`SHARE_VALUE`), and equal claims differ in their last bits by the order in which times were added.
CLAIM_DIGITS = 8

#: Decimals of the seconds that jobs have missed of their shares. They are differences of times up to years,
#: whose sums in doubles are wrong by less.
MISSED_DECIMALS = 6

# Shares

#: Difference, relative to the value of shares of time, at which they count as proven optimal: shares are
#: decimals of fifteen digits, and what the simplex method leaves of a vertex is a few digits worse.
SHARE_VALUE = 1e-9

#: What the sum of a job's shares in doubles may be wrong by, at most: a few roundings near 1, each of 2**-53.
SHARE_SUM = 1e-9

# Placement

#: What a filling must be worth beyond its rent to count as an improvement: the relaxation's prices are no
#: better known than that.
REDUCED_COST = 1e-7

# Bounds

#: Error of a bound by prices for each cell and each step of a menu, relative to the numbers that went into it:
#: sixteen roundings of 2**-53 where no more than a dozen operations are done.
PRICED = 2.0**-49

#: Part of the span of time below which cells are not divided further. The price of so short a cell moves the
#: bound by less than a millionth; whatever the cells are, the bound holds.
SHORTEST_CELL = 1e-7

#: Least cosine between a step of the ascent and the change of slope that it brings, for it to say something of
#: the curvature: inner products of thousands of doubles are known to about that. It only chooses a step.
CURVATURE = 1e-12

#: Length, in coordinates of size 1, of the shortest first step that the ascent tries where none rises: shorter
#: ones change no price by more than its rounding in sums. It only ends the search for better prices.
SHORTEST_STEP = 1e-12

# Communication

#: Penalty that is added to both sides of a ratio of penalties, so that a model that waits for nothing can be
#: compared, too: a hundredth of the per cent in which penalties are measured.
UNMEASURED_PENALTY = 1e-4

#: Relative change of parameters, squares or gradient at which a fit of communication times ends. As small
#: as doubles allow, since fits of made-up measurements are to give what they were made with.
FITTED = 1e-14

# Batching

#: Relative error from which on a quantile of the Beta distribution is wrong: scipy's are finer, or far off.
QUANTILE = 1e-6

#: Relative change of a mean log likelihood, and its slope, at which a fit ends: a millionth of a nat for each
#: row is far below what the rows' own randomness leaves open.
LIKELIHOOD = 1e-7

#: Least progress of a job that is drawn, and least distance from the whole: the spacing of doubles at 1, so
#: that what is left is neither infinite nor nothing.
LEAST_PROGRESS = 2.0**-52

#: Least gamma variate of which a Beta variate is made, in place of one that was rounded to 0: a quotient of two
#: such variates is then as large as doubles allow, and finite.
LEAST_VARIATE = 1e-300

#: Weight of the squared coefficients of standardised features beside the mean log likelihood: coefficients that
#: the rows leave open stay finite, and a coefficient of 1 costs less than the rows' own randomness.
RIDGE = 1e-4

# Published records

#: Least part of its progress alone that a job makes beside another one, if they can run together at all: tables
#: of measured pairs have a speed of 0 where they cannot, which readers turn into a very small one.
TOGETHER = 1e-3

#: Goodput by which the record of Sia's simulator marks configurations that a job may not have, 1e-4, and a
#: thousandth more for its rounding to 24 bits; those allowed are at least 1.
DISALLOWED = 1.001e-4

# Goodput

#: Part of a sample by which a local batch may exceed a whole number and still be it: batches are powers of
#: doubles, as large as 1e6 samples and wrong by 1e-16 of that for each of a few roundings.
LOCAL_BATCH = 1e-8

#: Difference, relative to a mean of powers of speed-ups, at which two are the same: speed-ups are what a fitted
#: model says in doubles. Beside a job without GPUs, which counts 1,000, the others are known to a millionth.
SPEEDUP = 1e-9

#: Error of what a job counts, in doubles, relative to it and for each unit of the power: eight roundings of
#: 2**-53, of which the speed-up, the factor, their product, the constant, the sum and a power commit seven.
GOODPUT_COST = 2.0**-50

# Windows

#: Relative gap at which a plan of Shockwave's rounds is good enough, as in its authors' program: what a job
#: gains from a round is estimated far more coarsely. With ``exact`` there is none.
WINDOW_GAP = 1e-3
