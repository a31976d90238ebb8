"""Schedule: the segments in which jobs ran, the judge that checks them, and their figures."""

from gsopt.schedule.schedule import Schedule, Segment, Vacated

__all__ = ["Schedule", "Segment", "Vacated"]
