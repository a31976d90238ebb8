"""Common: functions shared by the heuristics for several decisions."""
