"""Evolution: ONES' evolutionary search for the job of each GPU, implemented with DEAP and with arrays."""

from heuristics.batching.evolution.convergence import convergence
from heuristics.batching.evolution.heuristic import evolution
from heuristics.batching.evolution.population import Population
from heuristics.batching.evolution.search import Engine, Evolved, evolve
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable

__all__ = ["CostTable", "Engine", "Evolved", "Population", "Settings", "convergence", "evolution", "evolve"]
