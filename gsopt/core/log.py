"""Log: loggers of the standard library, whose output the calling program configures."""

import logging

# Without it warnings would go to standard error where a program configures nothing.
logging.getLogger("gsopt").addHandler(logging.NullHandler())


def logger_of(module: str) -> logging.Logger:
    """Return the logger of one of gsopt's modules; it is silent unless the program configures logging.

    Examples
    --------
    >>> logger_of("gsopt.evaluation.solve").name
    'gsopt.evaluation.solve'
    """
    return logging.getLogger(module)
