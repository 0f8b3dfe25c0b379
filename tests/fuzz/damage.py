"""Ways to damage a value, a run's database or a file: plain data, from fixed seeds."""

import copy
import json
import random
import sqlite3
from contextlib import closing

FILE = "run.sqlite"
HUGE = 10**30
REMOVED = object()

# What stands in place of a value of JSON, as it would be written.
JSON_VALUES = {
    "removed": REMOVED,
    "text": '"x"',
    "empty text": '""',
    "number in text": '"1"',
    "null": "null",
    "true": "true",
    "nan": "NaN",
    "infinity": "Infinity",
    "beyond floats": "1e400",
    "negative": "-1",
    "fraction": "0.5",
    "zero": "0",
    "huge": str(HUGE),
    "digits": "9" * 5_000,
    "list": "[]",
    "nested list": "[[[1]]]",
    "deep": "[" * 2_000 + "]" * 2_000,
    "mapping": '{"x": {}}',
    "long text": '"' + "x" * 200_000 + '"',
    "long list": "[" + "0," * 100_000 + "0]",
    "half a pair": '"\\ud800"',
    "no JSON": "{",
}

# What stands in place of a value of a table.
SQL_VALUES = {
    "text": "'x'",
    "empty": "''",
    "null": "NULL",
    "infinity": "9e999",
    "minus infinity": "-9e999",
    "negative": "-1",
    "fraction": "0.5",
    "zero": "0",
    "63 bits": str(2**63 - 1),
    "1e300": "1e300",
    "blob": "x'00ff'",
    "long text": "hex(zeroblob(100000))",
    "no text": "CAST(x'ff' AS TEXT)",
    "list": "'[1, 2]'",
    "deep": f"'{'[' * 3_000}'",
    "NaN in a list": "'[NaN]'",
}


def paths(value, at=()):
    """Every place in a value of JSON, from the outside in."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(inner)[:8]:
        yield from paths(part, (*at, key))


def replaced(value, at, text):
    """JSON of a value with other text at a place, or with the place removed."""
    mark = "@here@"
    if not at:
        return None if text is REMOVED else text
    changed = copy.deepcopy(value)
    inner = changed
    for key in at[:-1]:
        inner = inner[key]
    if text is REMOVED:
        del inner[at[-1]]
        return json.dumps(changed)
    inner[at[-1]] = mark
    return json.dumps(changed).replace(f'"{mark}"', text)


def change(folder, *statements):
    """Run statements on a run's file; what the tables themselves refuse is no damage. Returns whether it was done."""
    with closing(sqlite3.connect(folder / FILE)) as connection:
        try:
            for statement in statements:
                connection.execute(*(statement if isinstance(statement, tuple) else (statement,)))
            connection.commit()
        except (sqlite3.IntegrityError, sqlite3.OperationalError):
            return False
    return True


def flipped(content, seed, most=8):
    """Bytes with some of them changed."""
    dice, changed = random.Random(seed), bytearray(content)
    for _ in range(dice.randint(1, most)):
        changed[dice.randrange(len(changed))] ^= dice.randint(1, 255)
    return bytes(changed)
