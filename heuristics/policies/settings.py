"""Settings: a policy's options as a frozen class whose fields are the policy's keyword arguments."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from typing import Any, TypeVar

from gsopt.simulation import Decider, Policy, State

Settings = TypeVar("Settings")


def with_settings(
    kind: Callable[..., Settings],
) -> Callable[[Callable[[State, Settings], Decider]], Policy]:
    """Return a decorator that turns a function of a state and settings into a policy.

    The fields of the settings' class, `kind`, become the policy's keyword arguments.
    """

    def decorate(make: Callable[[State, Settings], Decider]) -> Policy:
        @wraps(make)
        def policy(state: State, **options: Any) -> Decider:
            return make(state, kind(**options))

        own = signature(make)
        options = signature(kind).parameters.values()
        policy.__signature__ = Signature(  # type: ignore[attr-defined]
            [own.parameters["state"], *options], return_annotation=own.return_annotation
        )
        return policy

    return decorate
