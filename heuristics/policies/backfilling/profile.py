"""Profile: the number of free GPUs over time, if every job ends when it is expected to."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import inf, nextafter
from typing import Any, NamedTuple


class Slot(NamedTuple):
    """The GPUs that one job occupies from its start to its expected end.

    Attributes
    ----------
    start
        Time when the job starts, in seconds.
    end
        Time when the job is expected to end, in seconds.
    gpus
        Number of the job's GPUs of each kind.
    """

    start: Any
    end: Any
    gpus: tuple[int, ...]


class Profile:
    """The number of free GPUs of each kind, as a step function of time that begins now.

    Adjacent steps always differ, so there are at most two steps per slot, plus one.

    Examples
    --------
    >>> profile = Profile(0, (4,))
    >>> profile.take(Slot(0, 10, (3,)))
    >>> profile.earliest(2, (0,), 5), profile.earliest(1, (0,), 5)
    (Slot(start=10, end=15, gpus=(2,)), Slot(start=0, end=5, gpus=(1,)))
    """

    def __init__(self, now: Any, free: Sequence[int]) -> None:
        self._times = [now]
        self._free = [[number] for number in free]  # number of free GPUs, by kind and step

    @property
    def free(self) -> tuple[int, ...]:
        """Number of GPUs of each kind that are free now."""
        return tuple(column[0] for column in self._free)

    def advance(self, now: Any) -> None:
        """Remove the steps that lie in the past."""
        past = bisect_right(self._times, now) - 1
        if past > 0:
            del self._times[:past]
            for column in self._free:
                del column[:past]
        self._times[0] = now

    def take(self, slot: Slot) -> None:
        """Take the GPUs in a slot, except for the part of the slot that is in the past."""
        self._add(slot, -1)

    def give_back(self, slot: Slot) -> None:
        """Release the GPUs of a slot, except for the part of the slot that is in the past."""
        self._add(slot, 1)

    def earliest(self, count: int, kinds: Sequence[int], length: Any, before: Any = None) -> Slot | None:
        """Return the earliest slot of the given length with enough GPUs of the given kinds, or None.

        The kinds are in order of preference. If there is one kind and `before` is set, the slot must start
        before that time, and free GPUs are checked only until then, because the job already has a reservation
        from then on.
        """
        if len(kinds) == 1:
            return self._earliest_of_one(count, kinds, length, before)
        times = self._times
        begin = 0
        while begin < len(times):
            end = _end(times[begin], length)
            least = [self._free[kind][begin] for kind in kinds]
            step = begin
            while sum(least) >= count:
                step += 1
                if step == len(times) or times[step] >= end:
                    return Slot(times[begin], end, self._chosen(count, kinds, least))
                least = [min(most, self._free[kind][step]) for kind, most in zip(kinds, least, strict=True)]
            is_short = sum(self._free[kind][step] for kind in kinds) < count
            begin = step + 1 if is_short else begin + 1
        return None

    def now(self, count: int, kinds: Sequence[int], length: Any) -> Slot | None:
        """Return the slot of the given length that starts now, or None if too few GPUs stay free."""
        times = self._times
        end = _end(times[0], length)
        last = max(bisect_left(times, end), 1)
        least = [min(self._free[kind][:last]) for kind in kinds]
        return Slot(times[0], end, self._chosen(count, kinds, least)) if sum(least) >= count else None

    def _earliest_of_one(self, count: int, kinds: Sequence[int], length: Any, before: Any) -> Slot | None:
        times, column = self._times, self._free[kinds[0]]
        last = len(times) if before is None else bisect_left(times, before)
        begin = 0
        while begin < last:
            if column[begin] < count:
                begin += 1
                continue
            end = _end(times[begin], length)
            step = begin + 1
            while step < last and times[step] < end and column[step] >= count:
                step += 1
            if step >= last or times[step] >= end:
                return Slot(times[begin], end, self._chosen(count, kinds, (count,)))
            begin = step + 1
        return None

    def _chosen(self, count: int, kinds: Sequence[int], free: Sequence[int]) -> tuple[int, ...]:
        """Return the number of GPUs to use of each kind, with as many as possible of the preferred kinds."""
        chosen = [0] * len(self._free)
        for kind, most in zip(kinds, free, strict=True):
            chosen[kind] = min(most, count)
            count -= chosen[kind]
        return tuple(chosen)

    def _add(self, slot: Slot, sign: int) -> None:
        begin = max(slot.start, self._times[0])
        if slot.end <= begin:
            return
        first, last = self._step_at(begin), self._step_at(slot.end)
        for column, number in zip(self._free, slot.gpus, strict=True):
            if number:
                for step in range(first, last):
                    column[step] += sign * number
        self._join(last)
        self._join(first)

    def _step_at(self, time: Any) -> int:
        """Return the index of the step that begins at the given time, which is created if necessary."""
        step = bisect_left(self._times, time)
        if step == len(self._times) or self._times[step] != time:
            self._times.insert(step, time)
            for column in self._free:
                column.insert(step, column[step - 1])
        return step

    def _join(self, step: int) -> None:
        """Merge a step with the previous one if they are equal."""
        if step and all(column[step] == column[step - 1] for column in self._free):
            del self._times[step]
            for column in self._free:
                del column[step]


def _end(begin: Any, length: Any) -> Any:
    """Return the end of a slot, which is after its start even if the sum is rounded."""
    end = begin + length
    return end if end > begin else nextafter(begin, inf)
