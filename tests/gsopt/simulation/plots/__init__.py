"""Tests of the pictures of schedules and runs."""
