"""Scheduling: no rule that rules something out touches the optimum."""

from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

from formulations.scheduling import exact
from formulations.scheduling.local_search import LocalSearch
from formulations.scheduling.windows import Windows
from gsopt.core.result import Status
from tests.exactness import orders
from tests.strategies.scheduling import one_by_one, tiny
from tests.unwrap import unwrap


def _poor(self: LocalSearch, *_: object, **__: object) -> Iterator[Any]:
    yield one_by_one(self.instance)


def _as_they_are(self: Windows, *_: object, **__: object) -> Windows:
    return self


#: What rules something out, and what is in its place where it is switched off.
RULES: dict[str, tuple[str, str, Any]] = {
    "none": ("exact", "_FURTHER_SHARE", 0.05),
    "orders by exchange": ("exact", "exchange_orders", lambda _: frozenset()),
    "windows that are narrowed": ("windows", "Windows.narrowed", _as_they_are),
    "groups in buckets": ("bucket", "groups", lambda *_: []),
    "groups in cells": ("cells", "groups", lambda *_: []),
    "mixtures in the root": ("search", "_ROOT_ROUNDS", 0),
    "latest positions": ("positions", "_latest", lambda lower, total: [total - sum(lower[1:])] * len(lower)),
    "earliest positions": (
        "positions",
        "moore_hodgson_positions",
        lambda workload, _: [0.0] * len(workload.jobs),
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_touches_the_optimum(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a poor schedule and with any one rule switched off, the optimum is that of all orders of events."""
    module, name, off = RULES[rule]
    owner: Any = import_module(f"formulations.scheduling.{module}")
    *within, last = name.split(".")
    for part in within:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, last, off)
    monkeypatch.setattr(LocalSearch, "begin", _poor)
    monkeypatch.setattr(import_module("formulations.scheduling.incumbents").KnownLists, "serve", lambda _: None)
    for seed in (3, 5, 7, 15, 17, 19):
        problem = tiny(seed, jobs=(3, 4), gpus=(2, 3, 4))
        optimum = Fraction(unwrap(orders.optimum(problem)))
        result = exact(problem)
        assert result.status is Status.OPTIMAL
        assert result.bound is not None
        assert abs(Fraction(result.objective or 0) - optimum) <= optimum / 10**6
        assert Fraction(result.bound) <= optimum * (1 + Fraction(1, 10**9))
