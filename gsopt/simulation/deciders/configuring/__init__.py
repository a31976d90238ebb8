"""Configuring: who has which configuration is decided at instants, for all jobs together."""
