"""Kubernetes: snapshots from the output of ``kubectl get -o json`` or ``-o yaml``."""

from gsopt.snapshots.kubernetes.reader import read

__all__ = ["read"]
