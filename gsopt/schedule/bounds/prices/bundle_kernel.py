"""Bundle kernel: the function `exchange` of `bundle`, compiled if numba is installed."""

from gsopt.core.numbers.compiled import compiled
from gsopt.schedule.bounds.prices import bundle

exchange = compiled(bundle.exchange)
