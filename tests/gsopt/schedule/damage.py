"""Damage: certificates with something wrong in them."""

import json
from random import Random
from typing import Any

#: What is put in the place of a field or of an entry.
_WRONG: list[Any] = [
    -1,
    0,
    1,
    2**63,
    10**40,
    10**400,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    True,
    None,
    "",
    "1/0",
    "x",
    [],
    {},
]


def damaged(random: Random, text: str) -> str:
    """Return the text of a certificate with something wrong in it."""
    kind, data = random.randrange(9), json.loads(text)
    field = random.choice(list(data))
    lists = [data["edges"], data["prices"], *data.get("parts", ()), *data.get("steps", ())]
    lists += [each[name] for each in data.get("surcharges", ()) for name in ("jobs", "prices")]
    rows = [row for row in (*lists, *data.get("type_prices", {}).values()) if row]
    if kind == 0:
        data[field] = random.choice(_WRONG)
    elif kind == 1:
        del data[field]
    elif kind == 2:
        numbers = random.choice(rows)
        numbers[random.randrange(len(numbers))] = random.choice(_WRONG)
    elif kind == 3:
        random.shuffle(random.choice(rows))
    elif kind == 4:
        data["digest"] = "".join(random.sample(data["digest"], 64))
    elif kind == 5:
        data["total_jct"] = random.choice(
            [f"{random.randint(-9, 10**6)}/{random.randint(1, 10**6)}", "9" * 5000, "1/00"]
        )
    elif kind == 6:
        return text[: random.randrange(len(text) - 2)]
    elif kind == 7:
        place = random.randrange(len(text) - 2)
        return (
            text[:place] + random.choice('0123456789[{,"x\0\u2028') * random.choice([1, 3]) + text[place + 1 :]
        )
    else:
        deep = random.choice(
            ["[" * 100_000, '{"a":' * 100_000, "[" * 2000 + "]" * 2000, '{"kind": 1, "kind": 2}']
        )
        return random.choice([deep, f'{{"prices": {deep}}}'])
    return json.dumps(data)
