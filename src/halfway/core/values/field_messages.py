"""The messages of failed checks of fields, as libraries write them, in the words of a user."""

import re

# The names of types in the messages of a check of fields, and what a user writes for them.
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_BOUNDS = {">=": "of {} or more", ">": "above {}", "<=": "of at most {}", "<": "below {}"}
_EXPECTED = re.compile(r"Expected `([^`]+)`(?: (>=|>|<=|<) ([-+.\de]+))?(?:, got `(\w+)`)?")
_LENGTH = re.compile(r"Expected `array` of length (\d+), got (\d+)")
_UNKNOWN = re.compile(r"Object contains unknown field (`[^`]+`)")
_MISSING = re.compile(r"Object missing required field (`[^`]+`)")
_KEYS = re.compile(r"\('[^()]*'(?:, '[^()]*')*,?\)")  # of tables, as tomllib writes them
_KEY = re.compile(r"'([^']*)'")
_PLACE = re.compile(r" - at `(?:key in )?([^`]+)`")


def plain_words(message: str) -> str:
    """Return the message of a failed check of fields without names of types. A place in the
    message precedes it.
    """
    place = _PLACE.search(message)
    if place is not None:
        field = place[1].removeprefix("$").lstrip(".").replace("[...]", ".NAME")
        what = plain_words(message[: place.start()])
        return f"{field}: {what}" if field else what
    if length := _LENGTH.fullmatch(message):
        return f"expected a list of {length[1]} values, not {length[2]}"
    if unknown := _UNKNOWN.fullmatch(message):
        return f"unknown field {unknown[1]}"
    if missing := _MISSING.fullmatch(message):
        return f"the field {missing[1]} is missing"
    if expected := _EXPECTED.fullmatch(message):
        return f"expected {_value_words(expected[1])}{_limits(expected)}"
    message = _KEYS.sub(lambda keys: ".".join(_KEY.findall(keys[0])), message)
    return message[:1].lower() + message[1:]


def _value_words(types: str) -> str:
    """Return the words for a union of types, such as `int | float | null`."""
    names = [name for name in types.split(" | ") if name != "null"]
    if "float" in names and "int" in names:
        names.remove("int")
    *most, last = (_WORDS.get(name, name) for name in names or ["null"])
    return f"{', '.join(most)} or {last}" if most else last


def _limits(expected: re.Match[str]) -> str:
    """Return the words for the bound of a number, and for the type of a wrong value."""
    types, sign, bound, wrong = expected.groups()
    limit = ""
    if sign is not None:
        size = f"{int(bound):,}" if bound.lstrip("-").isdigit() else f"{float(bound):g}"
        limit = f" {_BOUNDS[sign].format(size)}"
    if wrong is None or (types, wrong) == ("int", "float"):
        return limit
    return f"{limit}, not {_WORDS.get(wrong, wrong)}"
