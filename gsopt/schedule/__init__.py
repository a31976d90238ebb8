"""Schedule: what ran when, whether it was legal, and what it is worth."""

from gsopt.schedule.schedule import Schedule, Segment, Vacated

__all__ = ["Schedule", "Segment", "Vacated"]
