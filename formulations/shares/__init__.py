"""Shares: exact methods for dividing the time of GPUs of several types among jobs."""

from formulations.shares.exact import exact
from formulations.shares.lp import lp
from formulations.shares.one_type import one_type
from formulations.shares.water_filling import water_filling

__all__ = ["exact", "lp", "one_type", "water_filling"]
