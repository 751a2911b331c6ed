"""The errors of the command line's parser, in the words of all other errors."""

import re

# An error of the parser, and its words here. `{0}` is the first group.
_ERRORS = (
    (
        r"Invalid value for '(.+?)': Input should be a valid integer\b.*",
        "{0}: expected a whole number",
    ),
    (r"Invalid value for '(.+?)': Input should be a valid number\b.*", "{0}: expected a number"),
    (
        r"Invalid value for '(.+?)': Input should be greater than or equal to (\S+)",
        "{0}: expected {1} or more",
    ),
    (
        r"Invalid value for '(.+?)': Input should be less than or equal to (\S+)",
        "{0}: expected at most {1}",
    ),
    (
        r"Invalid value for '(.+?)': Input should be greater than (\S+)",
        "{0}: expected a number above {1}",
    ),
    (
        r"Invalid value for '(.+?)': Input should be less than (\S+)",
        "{0}: expected a number below {1}",
    ),
    (r"Invalid value for '(.+?)': '(.*)' is not one of (.+)", "{0} = {1}: expected one of {2}"),
    (r"No such option: (\S+) \(Possible options: (.+)\)", "unknown option {0}; similar: {1}"),
    (r"No such option: (\S+)", "unknown option {0}"),
    (r"No such command '(.+?)'\. Did you mean '(.+?)'\?", "unknown command {0}; similar: {1}"),
    (r"No such command '(.+?)'", "unknown command {0}"),
    (r"Missing (argument|option|parameter) '(.+?)'", "the {0} {1} is missing"),
    (r"Option '(.+?)' requires an argument", "{0}: expected a value after the option"),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.+)\)", "{0}: expected no further argument"),
    (r"Option '(.+?)' does not take a value", "{0}: expected no value"),
    (r"Invalid value for '(.+?)': (\S+): (expected .+)", "{0} = {1}: {2}"),
    (r"Invalid value for '(.+?)': (.+)", "{0}: {1}"),
)


def misuse(message: str) -> str:
    """Return an error of the parser in plain words; an unknown error stays as it is."""
    message = message.replace("Value error, ", "").rstrip(".")
    for pattern, words in _ERRORS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return words.format(*found.groups()).replace("'", "")
    return message
