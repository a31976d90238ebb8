"""Tolerances: the differences that the library tolerates, with the reasons for their sizes.

The values of most decisions are exact numbers and are compared without tolerance. Most of the tolerances below
apply where floats cannot be avoided, for example inside solvers, in shares of time, and on the clock.
"""

from fractions import Fraction

# Doubles

#: Units in the last place by which a float may be wrong after the few operations that computed it.
ULPS = 4

#: Relative error of a sum of doubles: 2**-53 for each of up to four million terms.
SUM = 1e-9

#: Error of an item's value minus its price, relative to value plus price: sixteen roundings of 2**-53 each.
#: The few operations that compute it cause at most nine.
ITEM_SCORE = 2.0**-49

#: Relative error of the cost of a job on some GPUs: sixteen roundings of 2**-53. The numbers of a step, the
#: remaining samples and the operations on them cause at most fifteen. All terms are positive.
BATCH_COST = 2.0**-49

#: Relative error that each term adds to a sum of doubles: twice the error of rounding to nearest.
TERM = 2.0**-52

# Solvers

#: Largest violation of a row or bound, and distance from an integer, that solvers leave in an answer they call
#: feasible (the default of HiGHS, CP-SAT's parameters and SCIP alike).
FEASIBILITY = 1e-6

#: Tolerance of HiGHS for the rows of an integer program. At `FEASIBILITY`, y <= M b with M = 1e5 would let y
#: be 0.1 while b rounds to 0.
HIGHS_ROWS = 1e-9

#: Tolerance of SCIP for rows, relative to their limits. With a smaller one, it may branch forever
#: on some unbounded models.
SCIP_ROWS = 1e-8

#: Absolute and relative difference up to which two limits of a row, each the result of a few operations,
#: count as the same integer.
LIMIT_NOISE, LIMIT_PART = 1e-9, 1e-14

#: Relative or absolute difference at which a backend calls its own value and bound equal. Solvers claim
#: equality in the units of the model that they were given. `gsopt.solvers.scaling` decides what this claim
#: proves about a problem, on the grid of its objective.
CLAIM = 1e-6

#: Absolute error of a solver's bound on an objective with coefficients of at most `LARGEST_COST`: reduced
#: costs may be wrong by 1e-7 in each of several thousand columns.
SOLVER_BOUND = 1e-3

#: Largest objective coefficient in a model passed to a solver. With larger ones, absolute tolerances and the 16
#: digits of doubles are too coarse.
LARGEST_COST = 1e6

#: Smallest difference between two objective values in a model passed to a solver: a thousand times
#: `FEASIBILITY`, the tolerance of solvers.
LEAST_STEP = 1e-3

#: Largest error of a solver's bound, as a fraction of the distance between two objective values, at which it
#: is still rounded to the right one. In exact arithmetic, a half would be enough.
STEP_PART = 0.25

#: Relative difference above which the model and the problem disagree on the value of a solution: far above
#: the rounding of sums, and far below any error in a model.
MISMATCH = 1e-6

#: Relative error of a cost that a model states as a float of more than 15 digits: thousands of roundings. The
#: numbers behind such costs are unknown, so bounds allow for this much.
ROUNDED_COST = Fraction(1, 10**12)

#: Relative error of a bound on a continuous objective: solvers accept dual values that are wrong by 1e-7.
CONTINUOUS_BOUND = 1e-6

# Schedules

#: Difference, relative to the mean job completion time, up to which a schedule counts as proven optimal: its
#: value is continuous, and bounds from linear programs are accurate to `CONTINUOUS_BOUND`.
CONTINUOUS = 1e-6

#: Total error allowed in the times of one job, in ticks of the clock (units in the last place of the latest
#: time involved). Each time is rounded by half a tick and a run has two times, so one run is off by at most
#: one tick. Roundings go up as often as down, so those of about forty runs add up to less than eight ticks.
#: For a Unix timestamp of our time, such as 1.7e9, eight ticks are 2 microseconds.
CLOCK_TICKS = 8

#: Error of a duration due to rounding in speeds, overheads and sums, as a fraction of it: millions of
#: roundings of 1e-16 each.
SPAN_ERROR = 1e-9

#: Largest spacing of doubles at the end of a schedule, as a fraction of its shortest job, at which doubles
#: may represent its times: the error in each job is then less than a billionth of it.
FINE_CLOCK = 1e-10

#: Maximum length of a tick of the clock on which a schedule is made exact, as a fraction of the shortest job.
TICK = 1e-12

#: Relative error of a time after up to eight operations on doubles: sixteen roundings of 2**-53.
TIME_ROUNDING = 2.0**-49

#: Largest remaining fraction of its work at which a job counts as done, as repeated subtraction leaves errors.
WORK_DONE = 1e-12

#: Fraction by which a schedule must be better than another for a search to continue from it. Less may be
#: rounding, and a search that mistakes it for progress may never end.
IMPROVEMENT = 1e-9

#: Fraction by which the value of a column must exceed its cost for it to be generated. Less may be rounding.
PRICING = 1e-9

#: Default tolerance of HiGHS for the rows of a linear program. A row violated by less needs no cut, and work
#: that falls short by less counts as complete.
LINEAR_ROWS = 1e-7

#: The smallest tolerance that HiGHS accepts for rows and reduced costs.
LEAST_TOLERANCE = 1e-10

#: Smallest coefficient of a share that HiGHS keeps. By default it drops those below 1e-9, and shares then
#: miss their needs. Of 3,011 random problems, one is solved with this value but not with 1e-9, and another
#: one with this value but not with 1e-12.
LEAST_COEFFICIENT = 1e-11

#: Fraction of the cutoff by which probing goes beyond it: ten times `LINEAR_ROWS`, the error of the dual
#: values, so that the bound computed from these exceeds the cutoff too. No proof relies on this value.
PROBED = 1e-6

#: Value above which a relaxation counts as using a column, as solvers return smaller values in place of 0.
#: It only decides where probing begins, so only the running time depends on it.
WANTED = 1e-6

#: Reduced cost of the wrong sign that solvers accept in an optimum, for each unit of its column. Where the
#: dual values are known, the bound is computed from them instead (`formulations.common.duals`).
DUALS = 1e-7

#: Significant digits to which policies compare the past average speeds of jobs. Jobs whose slowdown never
#: changed have equal speeds, but the sums behind these are rounded once for each of up to a million pieces.
SPEED_DIGITS = 9

#: Significant digits to which the claims of jobs on their shares of the time are compared. Shares are
#: accurate to a billionth (`SHARE_VALUE`), and equal claims may differ in their last bits because times were
#: added in a different order.
CLAIM_DIGITS = 8

#: Number of decimals to which a job's shortfall from its share of time, in seconds, is rounded. A shortfall is
#: a difference of times of up to years, whose sums in doubles have smaller errors.
MISSED_DECIMALS = 6

#: Number of decimals to which a span in seconds is rounded before it is rounded to whole seconds. Half a second
#: may be wrong in its last bits, which must not decide on a whole one.
SECOND_DECIMALS = 6

# Shares

#: Difference, relative to the value of time shares, up to which they count as proven optimal: shares are
#: decimals of fifteen digits, and the simplex method computes a vertex a few digits less accurately.
SHARE_VALUE = 1e-9

#: Maximum error of the sum of a job's shares in doubles: a few roundings near 1, each of 2**-53.
SHARE_SUM = 1e-9

# Placement

#: Amount by which the value of a filling must exceed its rent to count as an improvement: the relaxation's
#: prices are no more accurate than that.
REDUCED_COST = 1e-7

# Bounds

#: Error of a bound from prices, for each cell and each step of a menu, relative to the numbers that it is
#: computed from: sixteen roundings of 2**-53, where at most a dozen operations are done.
PRICED = 2.0**-49

#: Fraction of the time span below which cells are not divided further. The price of such a short cell changes
#: the bound by less than a millionth. The bound holds for any cells.
SHORTEST_CELL = 1e-7

#: Smallest cosine between a step of the ascent and the resulting change of slope for it to be informative about
#: the curvature: inner products of thousands of doubles are accurate to about that. It only affects the
#: choice of a step.
CURVATURE = 1e-12

#: Shortest first step, in coordinates of size 1, that the ascent tries while no step improves the bound:
#: shorter ones change no price by more than its rounding in sums. It only ends the search for better prices.
SHORTEST_STEP = 1e-12

#: Errors, as fractions of the promised rise, up to which a bundle method finds its next point: a rough point
#: costs less than a precise one, but to give up, it must be sure that no rise is promised. They only affect the
#: number of evaluations, as the bound holds at any point.
NEXT_POINT, LAST_POINT = 0.02, 1e-6

#: Relative error of the highest speed of an adaptive job, by which a certificate raises it: the interpolation
#: between measurements takes fewer than a thousand operations on doubles, each wrong by at most 2**-53.
HIGHEST_SPEED = Fraction(1, 10**9)

#: Relative error of the number of a round, a quotient of two doubles in the simulator, by which a certificate
#: lowers it: 32 roundings of 2**-53, where at most a few operations are done.
ROUND_NUMBER = Fraction(1, 2**48)

# Communication

#: Penalty added to both sides of a ratio of penalties, so that a model without any penalty can be compared,
#: too: a hundredth of one per cent, the unit in which penalties are measured.
UNMEASURED_PENALTY = 1e-4

#: Relative change of parameters, squares or gradient at which a fit of communication times ends. As small as
#: doubles allow, since fits of synthetic measurements must recover the parameters behind these.
FITTED = 1e-14

# Batching

#: Relative error above which a quantile of the Beta distribution is wrong: those of scipy are either
#: more accurate or far off.
QUANTILE = 1e-6

#: Relative change of a mean log likelihood, and its slope, at which a fit ends: a millionth of a nat for each
#: row is far below the randomness of the rows themselves.
LIKELIHOOD = 1e-7

#: Minimum sampled progress of a job, and minimum distance from completion: the spacing of doubles at 1, so that
#: the remaining work is neither infinite nor zero.
LEAST_PROGRESS = 2.0**-52

#: Gamma variate that replaces one that was rounded to 0, before a Beta variate is computed: a quotient of two
#: such variates is then as large as doubles allow, and finite.
LEAST_VARIATE = 1e-300

#: Weight of the squared coefficients of standardised features, relative to the mean log likelihood:
#: coefficients that the rows do not determine stay finite, and a coefficient of 1 costs less than the rows'
#: own randomness.
RIDGE = 1e-4

# Published records

#: Minimum speed of a job next to another one, as a fraction of its speed alone, if they can run together at
#: all. Tables of measured pairs have a speed of 0 where they cannot, which readers turn into a very small
#: one.
TOGETHER = 1e-3

#: Goodput with which the record of Sia's simulator marks configurations that a job may not have: 1e-4, plus a
#: thousandth of it for rounding to 24 bits. Allowed configurations have at least 1.
DISALLOWED = 1.001e-4

# Goodput

#: Fraction of a sample by which a local batch size may exceed an integer and still count as that integer:
#: batch sizes are powers of doubles, at most 1e6 samples, with a relative error of 1e-16 for each of a few
#: roundings.
LOCAL_BATCH = 1e-8

#: Relative difference up to which two means of powers of speed-ups are the same: speed-ups are computed from
#: a fitted model in doubles. Next to a job without GPUs, which counts 1,000, the others are accurate to a
#: millionth.
SPEEDUP = 1e-9

#: Relative error of a job's term in doubles, for each unit of the power: eight roundings of 2**-53. The
#: speed-up, the factor, their product, the constant, the sum and a power cause seven.
GOODPUT_COST = 2.0**-50

# Estimates

#: Fraction by which a lower bound on a running time is reduced if the estimate behind it was drawn. In doubles,
#: the running time is multiplied by a factor and divided again: two roundings of 2**-53 each, with room.
DRAWN_ESTIMATE = 2.0**-40

# Windows

#: Relative gap at which a plan of Shockwave's rounds is good enough, as in its authors' program: a job's gain
#: from a round is estimated far more coarsely. With ``exact``, no gap is allowed.
WINDOW_GAP = 1e-3
