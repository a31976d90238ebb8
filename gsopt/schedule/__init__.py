"""Schedule: the segments in which jobs ran, the judge that checks them, and figures computed from them."""

from gsopt.schedule.schedule import Schedule, Segment, Vacated

__all__ = ["Schedule", "Segment", "Vacated"]
