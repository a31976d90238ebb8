"""Oracles that share nothing with the library but its data, and the instances on which proofs are tried."""
