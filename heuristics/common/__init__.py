"""Common: functions that heuristics for different decisions share."""
