"""Long numbers as digits: Python converts no more than 4,300 digits at once."""

CHUNK = 4_000
LIMIT = 10**CHUNK


def to_int(digits: tuple[str, ...]) -> int:
    """Returns the number that digits write."""
    value = 0
    for i in range(0, len(digits), CHUNK):
        part = digits[i : i + CHUNK]
        value = value * 10 ** len(part) + int("".join(part))
    return value


def to_digits(value: int) -> tuple[str, ...]:
    """Returns the digits of a number that is not negative."""
    parts = []
    while value >= LIMIT:
        value, rest = divmod(value, LIMIT)
        parts.append(f"{rest:0{CHUNK}d}")
    return tuple("".join([str(value), *reversed(parts)]))
