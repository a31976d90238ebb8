"""Prices: the price of a GPU-second at each time, and the lower bound that such prices prove."""

from gsopt.schedule.bounds.prices.bound import PriceBound, price_bound

__all__ = ["PriceBound", "price_bound"]
