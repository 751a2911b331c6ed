"""Options FIELD=VALUE of commands, such as --set and --need, as a mapping."""

from halfway.problem import Problem


def assignments(
    texts: list[str] | None,
    option: str,
    example: str = "workload.events=20",
    remedy: str = "give each field once",
) -> dict[str, str]:
    """Return options FIELD=VALUE from the terminal as a mapping; Problem for any other form."""
    values = {}
    for text in texts or []:
        field, equals, value = text.partition("=")
        if not equals or not field.strip():
            what = f"{option} {text}: expected FIELD=VALUE"
            raise Problem(what, remedy=f"for example {option} {example}")
        if field.strip() in values:
            what = f"{option} {field.strip()}: the field is given twice"
            raise Problem(what, remedy=remedy)
        values[field.strip()] = value.strip()
    return values
