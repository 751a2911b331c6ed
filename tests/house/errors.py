"""Errors for users: each states what is expected, or what to do."""

import ast
from pathlib import Path
from typing import TypeGuard

from tests.house.sources import python_files


def errors_without_remedy(root: Path) -> list[str]:
    """Errors for users that state neither what is expected nor what to do.

    The text of an error is a literal, or a literal that the function gives a name.
    """
    return [
        f"{source.path}:{node.lineno}: {' '.join(texts)}"
        for source in python_files(root, "src")
        for function in source.nodes
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Raise) and _is_problem(node.exc)
        if not any(keyword.arg == "remedy" for keyword in node.exc.keywords)
        for texts in [_texts(node.exc.args[0], function)]
        if texts and not any("expected" in text for text in texts)
    ]


def _is_problem(raised: ast.expr | None) -> TypeGuard[ast.Call]:
    return isinstance(raised, ast.Call) and getattr(raised.func, "id", "") == "Problem"


def _texts(what: ast.expr, function: ast.AST) -> list[str]:
    """The literals of an error's text, or of the names in it."""
    names = {part.id for part in ast.walk(what) if isinstance(part, ast.Name)}
    named = [
        node.value for node in ast.walk(function)
        if isinstance(node, ast.Assign) and names & {ast.unparse(one) for one in node.targets}
    ]  # fmt: skip
    constants = (part for one in (what, *named) for part in ast.walk(one))
    return [
        part.value
        for part in constants
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
