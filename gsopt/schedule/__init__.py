"""Schedule: what ran when, whether it was legal, and how good it is."""

from gsopt.schedule.schedule import Schedule, Segment, Vacated

__all__ = ["Schedule", "Segment", "Vacated"]
