"""Kubernetes: snapshots from what ``kubectl get -o json`` or ``-o yaml`` prints."""

from gsopt.snapshots.kubernetes.reader import read

__all__ = ["read"]
