"""Options FIELD=VALUE of commands, such as --set and --need, as a mapping."""

from halfway.problem import Problem


def assignments(
    given: list[str] | None,
    option: str,
    example: str = "workload.events=20",
    remedy: str = "give it once",
) -> dict[str, str]:
    """Return options FIELD=VALUE from the terminal as a mapping; Problem for any other form."""
    found = {}
    for one in given or []:
        field, equals, value = one.partition("=")
        if not equals or not field.strip():
            what = f"{option} {one}: expected FIELD=VALUE"
            raise Problem(what, remedy=f"for example {option} {example}")
        if field.strip() in found:
            what = f"{option} {field.strip()}: expected once, and it is given twice"
            raise Problem(what, remedy=remedy)
        found[field.strip()] = value.strip()
    return found
