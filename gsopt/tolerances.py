"""Tolerances: every error that is excused, with the reason why it is as large as it is and no larger."""

# Schedules

#: Ticks of the clock (units in the last place of the latest time involved) by which all that is said of one job
#: may be wrong together. A time is rounded by half a tick and a run has two, so one run is off by a tick at
#: most, and eight are more than the roundings of some forty runs, which go up as often as down, come to. At
#: 1.7e9 s, today as seconds since 1970, eight ticks are 2 microseconds.
CLOCK_TICKS = 8

#: Part of a span of seconds that rounding in speeds, overheads and sums explains: millions of roundings, each
#: of 1e-16 of it.
SPAN_ERROR = 1e-9

#: Part by which jobs may overfill the machine when `bounds` counts how many can be complete. It only has to
#: exceed the rounding of a sum of hundreds of areas; whatever it excuses makes the bound smaller, hence safe.
OVERFULL = 1e-12
