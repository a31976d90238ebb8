"""Tests of files and pictures of clusters."""
