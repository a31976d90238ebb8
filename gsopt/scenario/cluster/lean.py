"""Lean: data whose later fields are written only when they are given."""

from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from gsopt.core.problem import Frozen


class Lean(Frozen):
    """Data that look, written, as they did before some of their fields existed.

    Files and the keys of finished studies hold clusters of racks as they were first written. A field named in
    `later` is left out while it has its default, so that both stay as they are.
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
