"""Selectors, affinity to nodes, taints and tolerations, as the scheduler of Kubernetes has them."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.selection import admits, selects, tolerates

_LABELS = {"gpu": "a100", "rank": "7", "word": "x"}


def _expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        (_expression("gpu", "In", "t4", "a100"), True),
        (_expression("gpu", "In", "t4"), False),
        (_expression("gpu", "NotIn", "t4"), True),
        (_expression("absent", "NotIn", "t4"), True),
        (_expression("gpu", "NotIn", "a100"), False),
        (_expression("gpu", "Exists"), True),
        (_expression("absent", "Exists"), False),
        (_expression("absent", "DoesNotExist"), True),
        (_expression("rank", "Gt", "6"), True),
        (_expression("rank", "Gt", "7"), False),
        (_expression("rank", "Lt", "10"), True),
        (_expression("word", "Lt", "10"), False),
        (_expression("absent", "Gt", "0"), False),
    ],
)
def test_expressions(expression: dict[str, Any], holds: bool) -> None:
    """Every operator of a selector's expressions and of an affinity's holds where it should."""
    assert selects(Field("", {"matchExpressions": [expression]}), _LABELS) == holds
    assert _admits([{"matchExpressions": [expression]}]) == holds


def _admits(terms: list[dict[str, Any]], **spec: Any) -> bool:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return admits(Field("", {"affinity": {"nodeAffinity": required}, **spec}), "n1", _LABELS)


def test_terms_and_labels() -> None:
    """One term is enough, of which all must hold; an empty term takes no node; a selector is needed besides."""
    yes, no = ({"matchExpressions": [_expression("gpu", "In", value)]} for value in ("a100", "t4"))
    assert _admits([no, yes])
    assert not _admits([no])
    assert not _admits([{"matchExpressions": [*yes["matchExpressions"], *no["matchExpressions"]]}])
    assert not _admits([{}])
    assert not _admits([{"matchExpressions": [], "matchFields": []}])
    assert _admits([{"matchFields": [_expression("metadata.name", "In", "n1")]}])
    assert not _admits([yes], nodeSelector={"gpu": "t4"})
    assert admits(Field("", {"nodeSelector": {"gpu": "a100"}}), "n1", _LABELS)
    assert selects(Field("", {"matchLabels": {"gpu": "a100", "rank": "7"}}), _LABELS)
    assert not selects(Field("", {"matchLabels": {"gpu": "a100", "rank": "8"}}), _LABELS)


_TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "j", "operator": "Exists"}, False),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "k", "value": "v", "effect": "NoExecute"}, False),
        ({"key": "k", "value": "v", "effect": "NoSchedule"}, True),
    ],
)
def test_tolerations(toleration: dict[str, Any], tolerated: bool) -> None:
    """A taint is tolerated by its key, value and effect, or by whatever is left open."""
    assert tolerates(Field("", {"tolerations": [toleration]}), [Field("", _TAINT)]) == tolerated


def test_taints() -> None:
    """Every taint must be tolerated but those that only ask to avoid a node."""
    other = Field("", {"key": "j", "effect": "NoExecute"})
    avoided = Field("", {"key": "j", "effect": "PreferNoSchedule"})
    pod = Field("", {"tolerations": [{"key": "k", "operator": "Exists"}]})
    assert tolerates(pod, [Field("", _TAINT), avoided])
    assert not tolerates(pod, [Field("", _TAINT), other])
    assert not tolerates(Field("", {}), [Field("", _TAINT)])


def test_what_is_no_operator() -> None:
    """An operator that is none, or a bound that is no one number, is refused with its place."""
    for expression, message in [
        (_expression("gpu", "Like", "a"), r"matchExpressions\[0\]\.operator: 'Like': must be In, NotIn"),
        (_expression("rank", "Gt", "1", "2"), r"matchExpressions\[0\]\.values: .*: must be one number"),
        (_expression("rank", "Gt", "x"), r"matchExpressions\[0\]\.values\[0\]: 'x': must be a whole number"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            selects(Field("f", {"matchExpressions": [expression]}), _LABELS)
