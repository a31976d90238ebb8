"""Log: records through the standard library's loggers; where they go is the program's choice."""

import logging

# Without it warnings would go to standard error where a program configures nothing.
logging.getLogger("gsopt").addHandler(logging.NullHandler())


def logger_of(module: str) -> logging.Logger:
    """Return the logger of a module, which is silent unless the program listens.

    Examples
    --------
    >>> logger_of("gsopt.evaluation.solve").name
    'gsopt.evaluation.solve'
    """
    return logging.getLogger(module)
