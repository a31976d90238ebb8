"""Fields of somebody else's files, amounts, selectors and what pods ask for, as Kubernetes has them."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.needs import gpus_of, pod_needs
from gsopt.snapshots.kubernetes.quantities import amount, quantity
from gsopt.snapshots.kubernetes.selection import admits, selects, tolerates
from tests.effort import cases
from tests.refusals import assert_refused


def _whole(field: Field) -> int:
    return field.whole(5)


def _named(field: Field) -> list[Any]:
    return list(field.named())


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (_whole, [(None, 5), (7, 7), ("7", 7), ("-3", -3), ("+3", 3), (10**18 - 1, 10**18 - 1)]),
        (Field.time, [("1970-01-01T00:01:00Z", 60), ("1970-01-01T01:01:00+01:00", 60), (None, None)]),
        (Field.time, [("1970-01-01T00:01:00.500000Z", 60.5), ("1970-01-01 00:01:00", 60)]),
        (Field.truth, [(True, True), ("true", True), ("True", True)]),
        (Field.truth, [(False, False), ("false", False), (None, False)]),
        (Field.seconds, [(60, 60.0), (0, None), (None, None)]),
        (quantity, [(None, 0), (8, 8), ("8", 8), (0.5, Fraction(1, 2)), ("100m", Fraction(1, 10))]),
        (quantity, [("1.5", Fraction(3, 2)), (".5", Fraction(1, 2)), ("5.", 5), ("1k", 1000), ("1Ki", 1024)]),
        (quantity, [("2Gi", 2 * 2**30), ("3E", 3 * 10**18), ("1e3", 1000), ("12E-1", Fraction(6, 5))]),
        (quantity, [("500n", Fraction(1, 2_000_000))]),
    ],
)
def test_values(read: Callable[[Field], Any], values: list[tuple[Any, Any]]) -> None:
    """Every way to write a number, a time, a truth or an amount is read exactly, nothing as the default."""
    assert [read(Field("", value)) for value, _ in values] == [found for _, found in values]


@pytest.mark.parametrize(
    ("read", "values", "rule"),
    [
        (_whole, [True, 1.5, 1.0, "1.5", "", " 1", "1e3", "٣"], "must be a whole number of at most 18 digits"),
        (_whole, ["9" * 19, 10**18, [], {}], "must be a whole number of at most 18 digits"),
        (Field.time, ["noon", "2026-02-30T00:00:00Z", "60", "9999-99-99"], "must be a time such as"),
        (Field.truth, ["yes"], "must be true or false"),
        (Field.seconds, [-1, 10**12], "must be seconds since 1970"),
        (Field.name, [""], "must be a name"),
        (Field.name, ["x" * 201], "at most 200"),
        (Field.name, ["a\tb"], "control characters"),
        (Field.text, ["x" * 65_537], "at most 65,536 characters"),
        (_named, [{"x" * 201: 1}], "must have a name of 1 to 200"),
        (quantity, ["", "x", "1 Gi", "-1", "1GB", "1ki", "1e999", "0x8"], "must be"),
        (quantity, ["٣", "1" * 30, True, [], {}], "must be"),
    ],
)
def test_what_is_no_value(read: Callable[[Field], Any], values: list[Any], rule: str) -> None:
    """Anything else is refused: digits of other scripts, huge numbers, long texts, control characters."""
    for value in values:
        assert_refused(rule, read, Field("", value))


def test_the_path_is_one_line() -> None:
    """Keys and positions on the way are named, and strange keys are shown so that a terminal can show them."""
    field = Field("f.json", {"items": [{"a\nb": {"c.d/e": "x" * 99}}]})
    (item,) = field["items"]
    with pytest.raises(
        InvalidInput, match=r"^f\.json: items\[0\]\.'a\\nb'\.c\.d/e: 'xxx.*: must be a mapping$"
    ):
        item["a\nb"]["c.d/e"].mapping()


def test_rounding() -> None:
    """What is needed is rounded up, what is there down, and neither is larger than decisions count."""
    assert [amount(Field("", "x"), Fraction(5, 2), needed=needed) for needed in (True, False)] == [3, 2]
    with pytest.raises(InvalidInput, match="must be at most 1,000,000,000 of what it is counted in"):
        amount(Field("", "x"), Fraction(10**9 + 1), needed=True)


_NAMES = ("cpu", "nvidia.com/gpu")


def _container(random: Random, **more: Any) -> dict[str, Any]:
    asked = {name: str(random.randint(0, 4)) for name in _NAMES if random.random() < 0.7}
    return {"resources": {"requests": asked}, **more}


def _moments(before: list[dict[str, Any]], containers: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """List the containers that run at each moment: those before one by one, and beside them those that stay."""
    found: list[list[dict[str, Any]]] = []
    stay: list[dict[str, Any]] = []
    for container in before:
        found.append([*stay, container])
        if container.get("restartPolicy") == "Always":
            stay.append(container)
    return [*found, [*stay, *containers]]


def test_the_most_that_runs_at_a_time() -> None:
    """A pod asks for what its containers have at the moment at which that is most, and for its overhead."""
    random = Random()
    for _ in range(cases(300)):
        before = [
            _container(random, **({"restartPolicy": "Always"} if random.random() < 0.5 else {}))
            for _ in range(random.randint(0, 4))
        ]
        containers = [_container(random) for _ in range(random.randint(1, 3))]
        overhead = {"cpu": "250m"} if random.random() < 0.5 else {}
        most: Counter[str] = Counter()
        for running in _moments(before, containers):
            for name in _NAMES:
                held = sum(int(each["resources"]["requests"].get(name, 0)) for each in running)
                most[name] = max(most[name], held)
        spec = {"containers": containers, "initContainers": before, "overhead": overhead}
        found = pod_needs(Field("", {"spec": spec}))
        assert found.get("nvidia.com/gpu", 0) == most["nvidia.com/gpu"]
        assert found.get("cpu", 0) == most["cpu"] + (Fraction(1, 4) if overhead else 0)


def test_a_request_counts_before_a_limit() -> None:
    """Where both are told, the request is what the scheduler counts; a limit alone is a request."""
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "memory": "1Gi"}}
    found = pod_needs(Field("", {"spec": {"containers": [{"resources": resources}]}}))
    assert found == {"cpu": 1, "memory": 2**30, "pods": 1}


def test_shares_and_whole_gpus_are_the_same_gpus() -> None:
    """Where a pod names its GPUs as whole ones and as shares, it has the larger of the two, not both."""
    for whole, milli, wanted in [
        (2, 2000, 2),
        (1, 250, 1),
        (0, 1500, Fraction(3, 2)),
        (1, 1500, Fraction(3, 2)),
    ]:
        amounts = {"alibabacloud.com/gpu-count": Fraction(whole), "alibabacloud.com/gpu-milli": Fraction(milli)}
        assert gpus_of(amounts, (), Fraction(1)) == wanted


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
        assert_refused(message, selects, Field("f", {"matchExpressions": [expression]}), _LABELS)
