"""Prices: a lower bound on completion times from prices of GPU-seconds, and the search for good prices."""

from gsopt.schedule.bounds.prices.bound import PriceBound, price_bound

__all__ = ["PriceBound", "price_bound"]
