"""Admission: instance generators and the committed suites."""

from instances.admission.filled import filled
from instances.admission.latest_is_widest import latest_is_widest
from instances.admission.restarts_elsewhere import restarts_elsewhere

__all__ = ["filled", "latest_is_widest", "restarts_elsewhere"]
