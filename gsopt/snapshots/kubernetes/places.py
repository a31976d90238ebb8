"""Places: the nodes on which pods may run, determined once per distinct requirement."""

import json
from collections.abc import Mapping

from gsopt.snapshots.field import Field
from gsopt.snapshots.gang import MOST_ASKED, Where
from gsopt.snapshots.kubernetes.nodes import Site
from gsopt.snapshots.kubernetes.selection import admits, tolerates

_LONGEST_REASON = 200


class KubernetesPlaces:
    """A collector of the sets of nodes on which pods may run.

    Parameters
    ----------
    sites
        The nodes, keyed by name.
    """

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = sites
        self._asked: dict[str, str] = {}
        self._named: dict[tuple[str, ...], Where] = {}

    @property
    def found(self) -> tuple[Where, ...]:
        """The sets of nodes that `of` has named so far, each listed once."""
        return tuple(self._named.values())

    def of(self, spec: Field) -> str:
        """Return the name of the set of nodes, open or not, on which a pod may run; empty for all nodes."""
        asks = {key: spec[key].value for key in ("nodeSelector", "tolerations") if spec[key]}
        asks |= {"nodeAffinity": node.value} if (node := spec["affinity"]["nodeAffinity"]) else {}
        text = json.dumps(asks, sort_keys=True)
        if text not in self._asked:
            if len(self._asked) >= MOST_ASKED:
                spec.refuse(f"must not be more than {MOST_ASKED:,} different requirements on nodes")
            self._asked[text] = self._name(spec)
        return self._asked[text]

    def _name(self, spec: Field) -> str:
        names = tuple(
            name
            for name, site in self._sites.items()
            if tolerates(spec, site.taints) and admits(spec, name, site.labels)
        )
        if len(names) == len(self._sites):
            return ""
        if names not in self._named:
            self._named[names] = Where(name=f"where-{len(self._named) + 1}", reason=_reason(spec), nodes=names)
        return self._named[names].name


def _reason(spec: Field) -> str:
    """Describe, for messages, the node requirements of a pod."""
    wanted = [f"{key}={value}" for key, value in spec["nodeSelector"].texts().items()]
    wanted += ["node affinity"] if spec["affinity"]["nodeAffinity"] else []
    text = ", ".join(wanted) or "tolerates their taints"
    printable = "".join(each if each.isprintable() else "?" for each in text)
    return printable if len(printable) <= _LONGEST_REASON else f"{printable[: _LONGEST_REASON - 3]}..."
