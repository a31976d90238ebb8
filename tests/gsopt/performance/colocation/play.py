"""Two jobs on the same GPUs, played from event to event in fractions, by the model and nothing else."""

from fractions import Fraction
from random import Random
from typing import NamedTuple


class Two(NamedTuple):
    """Solo seconds of a running job A and a new job B, and their slowdowns beside each other."""

    seconds_a: Fraction
    seconds_b: Fraction
    slowdown_a: Fraction
    slowdown_b: Fraction


def drawn(random: Random) -> Two:
    """Draw seconds of all magnitudes and slowdowns from 1 to 6, as fractions with small denominators."""

    def seconds() -> Fraction:
        return Fraction(random.randint(1, 400), random.randint(1, 12)) * Fraction(10) ** random.choice(
            (0, 0, 0, -3, 3)
        )

    def slowdown() -> Fraction:
        return 1 + Fraction(random.randint(0, 60), 12)

    first = seconds()
    second = random.choice((first, first * random.randint(1, 4), seconds(), seconds()))
    return Two(first, second, slowdown(), slowdown())


def completions(two: Two, delay: Fraction) -> tuple[Fraction, Fraction]:
    """Let A run from 0 and B from the delay, each slowed down while both are there; give both ends."""
    now, left_a, left_b = Fraction(0), two.seconds_a, two.seconds_b
    end_a = end_b = None
    while end_a is None or end_b is None:
        here_a, here_b = end_a is None, end_b is None and now >= delay
        speed_a = here_a / (two.slowdown_a if here_b else Fraction(1))
        speed_b = here_b / (two.slowdown_b if here_a else Fraction(1))
        waits = [delay - now] if now < delay else []
        waits += [left_a / speed_a] if here_a else []
        waits += [left_b / speed_b] if here_b else []
        step = min(waits)
        now, left_a, left_b = now + step, left_a - step * speed_a, left_b - step * speed_b
        end_a = now if end_a is None and left_a == 0 else end_a
        end_b = now if end_b is None and now >= delay and left_b == 0 else end_b
    return end_a, end_b
