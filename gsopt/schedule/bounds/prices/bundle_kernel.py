"""Bundle kernel: the search for weights of planes, compiled to machine code if numba is installed."""

from gsopt.core.numbers.compiled import compiled
from gsopt.schedule.bounds.prices import bundle

exchange = compiled(bundle.exchange)
