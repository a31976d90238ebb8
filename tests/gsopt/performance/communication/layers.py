"""Random layers of models."""

from hypothesis import strategies as st

from gsopt.performance.communication import Layer


def layers_of(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[list[Layer]]:
    """Draw one to six layers whose times and sizes are some of these numbers."""
    layer = st.builds(Layer, forward=numbers, input_gradient=numbers, weight_gradient=numbers, size=numbers)
    return st.lists(layer, min_size=1, max_size=6)
