"""The errors of the command line's parser, in the words of all other errors."""

import re

# An error of the parser, and its words here. `{0}` is the first group.
_ERRORS = (
    (r"No such option: (\S+) \(Possible options: (.+)\)", "unknown option {0}; similar: {1}"),
    (r"No such option: (\S+)", "unknown option {0}"),
    (r"No such command '(.+?)'\. Did you mean '(.+?)'\?", "unknown command {0}; similar: {1}"),
    (r"No such command '(.+?)'", "unknown command {0}"),
    (r"Missing (argument|option|parameter) '(.+?)'", "the {0} {1} is missing"),
    (r"Option '(.+?)' requires an argument", "{0}: expected a value after the option"),
    (r"Option '(.+?)' does not take a value", "{0}: expected no value"),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.+)\)", "{0}: expected no further argument"),
)
# What follows "Invalid value for 'OPTION': ", and what follows the option here.
_VALUE = re.compile(r"Invalid value for '(.+?)': (.+)", re.DOTALL)
_VALUES = (
    (r"Input should be a valid integer\b.*", ": expected a whole number"),
    (r"Input should be a valid number\b.*", ": expected a number"),
    (r"Input should be greater than or equal to (\S+)", ": expected {0} or more"),
    (r"Input should be less than or equal to (\S+)", ": expected at most {0}"),
    (r"Input should be greater than (\S+)", ": expected a number above {0}"),
    (r"Input should be less than (\S+)", ": expected a number below {0}"),
    (r"'(.*)' is not one of '(.+)'", " = {0}: expected one of {1}"),
    (r"(\S+): (expected .+)", " = {0}: {1}"),
    (r"(.+)", ": {0}"),
)


def misuse(message: str) -> str:
    """Return an error of the parser in plain words; an unknown error stays as it is."""
    message = message.replace("Value error, ", "").rstrip(".")
    if value := _VALUE.fullmatch(message):
        return value[1] + _translated(value[2], _VALUES).replace("', '", ", ")
    return _translated(message, _ERRORS)


def _translated(message: str, table: tuple[tuple[str, str], ...]) -> str:
    for pattern, words in table:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return words.format(*found.groups())
    return message
