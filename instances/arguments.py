"""Arguments: one clear line for a generator's argument that breaks a rule."""

from gsopt.errors import InvalidInput, shorten


def require(holds: bool, name: str, value: object, rule: str) -> None:
    """Raise `InvalidInput` naming the argument, its value and the rule, unless the rule holds.

    Examples
    --------
    >>> require(-3 >= 1, "servers", -3, "must be at least 1")
    Traceback (most recent call last):
    gsopt.errors.InvalidInput: servers: -3: must be at least 1
    """
    if not holds:
        raise InvalidInput("", name, shorten(value), rule)
