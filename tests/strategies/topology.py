"""Random clusters with levels of their own: some paths lack some levels, and some machines have islands."""

from hypothesis import strategies as st

from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch

#: Levels of switches, outermost first; a path has some of them.
_LEVELS = ("network", "zone", "pod", "rack", "nvlink")

_SIZES = st.integers(1, 4)
_LINKS = st.builds(
    Link,
    bandwidth=st.sampled_from([1.0, 12.5e9, 300e9, 1e-9, 1e9]),
    latency=st.sampled_from([0.0, 2**-20, 0.5, 3.0]),  # sums of which are exact
    capacity=st.sampled_from([None, 0.5, 6e9]),
)


class _Maker:
    """Draws the parts of one cluster, each with a name of its own."""

    def __init__(self, draw: st.DrawFn, *, linked: bool, islands: bool) -> None:
        self._draw, self._linked, self._islands = draw, linked, islands
        self._made = 0

    def switch(self, level: int) -> Switch:
        """Draw a switch of a level and all that is below it."""
        deeper = range(level + 1, len(_LEVELS))
        below = self._draw(st.lists(st.sampled_from(deeper), max_size=2)) if deeper else []
        machines = self._draw(st.integers(0 if below else 1, 2))
        return Switch(
            name=self._name(_LEVELS[level]),
            level=_LEVELS[level],
            machines=[self.machine() for _ in range(machines)],
            switches=[self.switch(each) for each in below],
            uplink=self._link() if level else None,
        )

    def rack(self) -> Rack:
        """Draw a rack and its machines."""
        machines = [self.machine() for _ in range(self._draw(st.integers(1, 2)))]
        return Rack(name=self._name("rack"), machines=machines, uplink=self._link())

    def machine(self) -> Machine:
        """Draw a machine."""
        name = self._name("machine")
        sizes = self._draw(st.lists(_SIZES, max_size=2)) if self._islands else []
        return Machine(
            name=name,
            gpus=sum(sizes) or self._draw(_SIZES),
            gpu_type=self._draw(st.sampled_from(["", "A100"])),
            memory=self._draw(st.sampled_from([None, 80])),
            islands=[Island(name=self._name("island"), gpus=size, uplink=self._link()) for size in sizes],
            gpu_link=self._link(),
            uplink=self._link(),
        )

    def _link(self) -> Link | None:
        return self._draw(_LINKS) if self._linked else None

    def _name(self, kind: str) -> str:
        self._made += 1
        return f"{kind} {self._made}"


@st.composite
def trees(draw: st.DrawFn, *, linked: bool | None = None, islands: bool = True) -> Cluster:
    """Draw a cluster of a network, or of racks, with links or without."""
    if linked is None:
        linked = draw(st.booleans())
    maker = _Maker(draw, linked=linked, islands=islands)
    if draw(st.integers(0, 3)):
        return Cluster(network=maker.switch(0))
    racks = [maker.rack() for _ in range(draw(st.integers(1, 3)))]
    return Cluster(racks=racks)
