"""Prices: the lower bound on completion times that prices of GPU-seconds prove, and the search for prices."""

from gsopt.schedule.bounds.prices.bound import PriceBound, price_bound

__all__ = ["PriceBound", "price_bound"]
