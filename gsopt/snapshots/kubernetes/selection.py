"""Selection: whether a pod may run on a node, given selectors, affinities and taints."""

from collections.abc import Iterator, Mapping

from gsopt.snapshots.field import Field

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def selects(selector: Field, labels: Mapping[str, str]) -> bool:
    """Check whether a label selector matches the labels.

    An empty selector matches any labels.
    """
    wanted = selector["matchLabels"].texts()
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(term, labels) for term in selector["matchExpressions"]
    )


def admits(spec: Field, node: str, labels: Mapping[str, str]) -> bool:
    """Check whether a pod's node selector and required node affinity match a node, ignoring taints."""
    if any(labels.get(key) != value for key, value in spec["nodeSelector"].texts().items()):
        return False
    required = spec["affinity"]["nodeAffinity"][_REQUIRED]
    if not required:
        return True
    return any(_takes(term, node, labels) for term in required["nodeSelectorTerms"])


def tolerates(spec: Field, taints: list[Field]) -> bool:
    """Check whether a pod tolerates a node's taints, ignoring those with the effect PreferNoSchedule."""
    tolerations = list(spec["tolerations"])
    return all(
        any(_matches(toleration, taint) for toleration in tolerations)
        for taint in taints
        if taint["effect"].text() != "PreferNoSchedule"
    )


def unread(spec: Field) -> Iterator[str]:
    """Yield descriptions of a pod's requirements that are ignored."""
    affinity = spec["affinity"]
    if any(list(affinity[key][_REQUIRED]) for key in ("podAffinity", "podAntiAffinity")):
        yield "nearness to other pods"
    if any(each["whenUnsatisfiable"].text() != "ScheduleAnyway" for each in spec["topologySpreadConstraints"]):
        yield "spread over the topology"
    if any(each["persistentVolumeClaim"] or each["ephemeral"] for each in spec["volumes"]):
        yield "volumes"
    if any(port["hostPort"] for container in spec["containers"] for port in container["ports"]):
        yield "ports of the node"
    if list(spec["resourceClaims"]):
        yield "devices by resource claims"


def _matches(toleration: Field, taint: Field) -> bool:
    key, effect = toleration["key"].text(), toleration["effect"].text()
    if effect and effect != taint["effect"].text():
        return False
    if toleration["operator"].text() == "Exists":
        return not key or key == taint["key"].text()
    return key == taint["key"].text() and toleration["value"].scalar() == taint["value"].scalar()


def _takes(term: Field, node: str, labels: Mapping[str, str]) -> bool:
    """Check whether all expressions of a node selector term match.

    A term without expressions matches no node.
    """
    by_label, by_field = list(term["matchExpressions"]), list(term["matchFields"])
    if not by_label and not by_field:
        return False
    named = {"metadata.name": node}
    return all(_holds(each, labels) for each in by_label) and all(_holds(each, named) for each in by_field)


def _holds(expression: Field, labels: Mapping[str, str]) -> bool:
    key, operator = expression["key"].text(), expression["operator"].text()
    values = [each.scalar() for each in expression["values"]]
    found = labels.get(key)
    if operator in ("In", "NotIn"):
        return (found in values) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (found is not None) == (operator == "Exists")
    if operator not in ("Gt", "Lt"):
        expression["operator"].refuse("must be In, NotIn, Exists, DoesNotExist, Gt or Lt")
    return _compares(expression, operator, found)


def _compares(expression: Field, operator: str, found: str | None) -> bool:
    bounds = [each.whole() for each in expression["values"]]
    if len(bounds) != 1:
        expression["values"].refuse("must be one number")
    try:
        number = int(found or "")
    except ValueError:
        return False
    return number > bounds[0] if operator == "Gt" else number < bounds[0]
