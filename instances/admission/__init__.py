"""Admission: instance generators and the committed suites."""

from instances.admission.filled import filled

__all__ = ["filled"]
