"""Lean: a base class for data whose newer fields are written only if they differ from their defaults."""

from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from gsopt.core.problem import Frozen


class Lean(Frozen):
    """Data that omits the fields in `later` from files as long as they have their default values.

    Data that does not use these fields is therefore written as it was before they existed, and keys computed
    from it (`gsopt.studies.cells`) do not change.
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
