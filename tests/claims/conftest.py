"""What claims about public traces need."""

from tests.instances.conftest import traces

__all__ = ["traces"]
