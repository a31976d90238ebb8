"""Tests of snapshots of Kubernetes."""
