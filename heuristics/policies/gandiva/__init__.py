"""Gandiva: four policies, in which jobs migrate, grow, share GPUs in pairs, or take turns."""

from heuristics.policies.gandiva.gandiva import gandiva
from heuristics.policies.gandiva.gandiva_growing import gandiva_growing
from heuristics.policies.gandiva.gandiva_packing import gandiva_packing
from heuristics.policies.gandiva.gandiva_rotation import gandiva_rotation

__all__ = ["gandiva", "gandiva_growing", "gandiva_packing", "gandiva_rotation"]
