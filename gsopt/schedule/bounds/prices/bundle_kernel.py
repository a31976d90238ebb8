"""Bundle kernel: the search of `bundle` for weights of planes, compiled if numba is installed."""

from gsopt.core.numbers.compiled import compiled
from gsopt.schedule.bounds.prices import bundle

exchange = compiled(bundle.exchange)
