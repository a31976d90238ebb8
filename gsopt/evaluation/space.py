"""Space: a finite set of small instances, up to symmetry, that can be counted and enumerated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice, permutations
from math import comb
from typing import Any, NamedTuple

from gsopt.core.problem import Problem

#: A function that creates an instance from its items, or returns None if such an instance does not exist or a
#: simpler one is equivalent.
Make = Callable[[Sequence[Any]], Problem[Any] | None]


class Pick(NamedTuple):
    """An instance of a space, identified by the index of its setting and the indices of its items in order."""

    setting: int
    items: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.setting}:{','.join(map(str, self.items))}"

    @classmethod
    def read(cls, text: str) -> "Pick":
        """Parse the string form of an instance, such as ``0:1,1,4``.

        Examples
        --------
        >>> Pick.read("0:1,1,4"), str(Pick(0, (1, 1, 4)))
        (Pick(setting=0, items=(1, 1, 4)), '0:1,1,4')
        """
        setting, _, items = text.partition(":")
        return cls(int(setting), tuple(int(item) for item in items.split(",") if item))


class Part(NamedTuple):
    """A part of a space: the combinations of `size` items of one setting from number `start` to `stop` - 1.

    Combinations may repeat items, but ignore their order. They are numbered from 0 in lexicographic order. A
    class (see `Setting.count`) belongs to the part that contains its first member.
    """

    setting: int
    size: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Setting:
    """The instances of a space that differ only in their items.

    Attributes
    ----------
    items
        The items that an instance may contain, such as jobs. Each item may occur any number of times. The items
        are ordered from simple to complex.
    make
        Function that creates the instance from its items, or returns None if there is no such instance or a
        simpler one is equivalent. The optimum does not depend on the order of the items, but methods may use
        this order to break ties.
    symmetries
        Permutations of the items' indices that do not change the optimum, such as exchanges of two servers.
        Together with the identity they form a group.
    """

    items: tuple[Any, ...]
    make: Make
    symmetries: tuple[tuple[int, ...], ...] = ()

    def count(self, size: int) -> int:
        """Return the number of classes of instances with the given number of items, by Burnside's lemma.

        The instances of a class differ only by the order of their items or by a symmetry. Instances for which
        `make` returns None are counted too.

        Examples
        --------
        >>> def nothing(items):
        ...     return None
        >>> Setting(("a", "b"), nothing).count(2), Setting(("a", "b"), nothing, ((1, 0),)).count(2)
        (3, 2)
        """
        group = [tuple(range(len(self.items))), *self.symmetries]
        return sum(_fixed(symmetry, size) for symmetry in group) // len(group)

    def is_first(self, items: tuple[int, ...]) -> bool:
        """Check whether the given items, in ascending order, are the first member of their class."""
        return all(tuple(sorted(each[item] for item in items)) >= items for each in self.symmetries)

    def members(self, items: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every member of a class once: all orders of the items and of their symmetric images."""
        images = {items} | {tuple(sorted(each[item] for item in items)) for each in self.symmetries}
        for image in sorted(images):
            yield from sorted(set(permutations(image)))


def _fixed(symmetry: Sequence[int], size: int) -> int:
    """Count the multisets of a given size that a permutation maps to themselves, which are unions of cycles."""
    counts = [1, *[0] * size]
    for length in _cycles(symmetry):
        for total in range(length, size + 1):
            counts[total] += counts[total - length]
    return counts[size]


def _cycles(symmetry: Sequence[int]) -> Iterator[int]:
    """Yield the lengths of the cycles of a permutation."""
    seen: set[int] = set()
    for first in range(len(symmetry)):
        length, item = 0, first
        while item not in seen:
            seen.add(item)
            length, item = length + 1, symmetry[item]
        if length:
            yield length


@dataclass(frozen=True, eq=False)
class Space:
    """All instances with one of several settings and a limited number of items.

    Attributes
    ----------
    word
        The decision.
    about
        A short description of the instances, such as ``"at most 3 jobs on 2 GPUs"``.
    settings
        The settings.
    most
        Largest number of items in an instance.
    method
        Name of the exact method that finds the optima.
    least
        Smallest number of items in an instance.

    Examples
    --------
    >>> from gsopt.problems.allocation import Allocation, ElasticJob
    >>> jobs = [ElasticJob(name="j", min_workers=1, max_workers=2, time_at_min=time) for time in (1, 2)]
    >>> def make(items):
    ...     named = [job.model_copy(update={"name": str(index)}) for index, job in enumerate(items)]
    ...     return Allocation(capacity=3, jobs=named)
    >>> space = Space("allocation", "at most 2 jobs", (Setting(tuple(jobs), make),), most=2)
    >>> space.size, [pick.items for pick in space.picks()]
    (5, [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)])
    """

    word: str
    about: str
    settings: tuple[Setting, ...]
    most: int
    method: str = "exact"
    least: int = 1

    @property
    def size(self) -> int:
        """Number of classes of instances, including those for which `make` returns None."""
        return sum(setting.count(size) for setting in self.settings for size in self.sizes)

    @property
    def sizes(self) -> range:
        """The possible numbers of items in an instance."""
        return range(self.least, self.most + 1)

    def parts(self, length: int) -> list[Part]:
        """Divide the space into parts of at most `length` classes, in ascending order of item count."""
        return [
            Part(number, size, start, min(start + length, total))
            for size in self.sizes
            for number, setting in enumerate(self.settings)
            for total in [comb(len(setting.items) + size - 1, size)]
            for start in range(0, total, length)
        ]

    def classes(self, part: Part | None = None) -> Iterator[Pick]:
        """Yield the first instance of each class in a part or, without a part, in the whole space."""
        for each in [part] if part else self.parts(2**62):
            setting = self.settings[each.setting]
            every = combinations_with_replacement(range(len(setting.items)), each.size)
            chosen = islice(every, each.start, each.stop)
            yield from (Pick(each.setting, items) for items in chosen if setting.is_first(items))

    def picks(self, part: Part | None = None) -> Iterator[Pick]:
        """Yield the instances of a part or, without a part, of the whole space, class by class."""
        for first in self.classes(part):
            if self.problem(first) is not None:
                members = self.settings[first.setting].members(first.items)
                yield from (Pick(first.setting, items) for items in members)

    def problem(self, pick: Pick) -> Problem[Any] | None:
        """Return the instance that `pick` identifies; None if there is none or a simpler one is equivalent."""
        setting = self.settings[pick.setting]
        return setting.make([setting.items[item] for item in pick.items])
