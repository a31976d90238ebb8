"""Lean: data whose later fields are written only when they are given."""

from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from gsopt.core.problem import Frozen


class Lean(Frozen):
    """Data that omit some fields when written while these have their defaults.

    Existing files and keys of finished studies hold clusters without these fields, named in `later`; omitting
    them keeps both valid.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        fields = type(self).model_fields
        for name in self.later:
            if getattr(self, name) == fields[name].default:
                data.pop(name, None)
        return data
