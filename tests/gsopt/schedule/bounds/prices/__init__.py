"""Tests of the bound by prices."""
