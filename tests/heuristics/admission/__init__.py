"""Tests of the rules of cluster schedulers for admission."""
