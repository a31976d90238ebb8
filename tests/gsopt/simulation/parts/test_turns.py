"""Turns: the order is one, whatever the needs, and closed needs cost nothing."""

from random import Random

import pytest

from gsopt.simulation.parts.turns import Turn, Turns


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_is_a_walk_through_one_sorted_list(seed: int) -> None:
    """Jobs come in order while their needs are open, and who is removed on the way is missing the next time."""
    random = Random(seed)
    turns, all_of_them = Turns(), []
    for job in range(40):
        turn, need = Turn(random.randint(0, 4), random.randint(0, 4), job), random.choice([1, 2, 4, 8])
        turns.add(turn, need)
        all_of_them.append((turn, need))
    for _ in range(6):
        free = random.randint(0, 30)
        expected = []
        seen = []
        left = free
        for turn, need in sorted(all_of_them):
            if need <= left:  # which never becomes true again, since less and less is left
                expected.append((turn, need))
                left -= need if turn.job % 3 else 0
        for turn, need in turns.walk(lambda need: need <= free):  # noqa: B023 - it is meant to be the one of now
            seen.append((turn, need))
            if turn.job % 3:
                free -= need
                turns.remove(turn, need)
                all_of_them.remove((turn, need))
        assert seen == expected
    assert set(turns.needs) == {need for _, need in all_of_them}


def test_closed_needs_are_asked_once() -> None:
    """Of a thousand jobs that need too much none is looked at."""
    turns = Turns()
    for job in range(1000):
        turns.add(Turn(0, job, job), 8)
    turns.add(Turn(1, 0, 1000), 1)
    asked: list[int] = []

    def is_open(need: int) -> bool:
        asked.append(need)
        return need == 1

    assert [turn.job for turn, _ in turns.walk(is_open)] == [1000]
    assert asked == [8, 1]
    assert turns.first(8).job == 0
