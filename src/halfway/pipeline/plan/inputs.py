"""The input files of a run, identified by a digest of their content and not by their path.

A point's parameter `inputs` is JSON, name -> path. Other parameters refer to the file by its name.
The path gives the place of the file.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from halfway.core.values.digest import short_digest
from halfway.files import check_regular
from halfway.pipeline.plan.run import Scalar
from halfway.problem import Problem


def name_of(file: str) -> str:
    """Return the name of a run's input file: 16 hex digits of its content, and its suffixes.

    Raises Problem for a file that cannot be read.
    """
    path = Path(file)
    inner = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else ""
    try:
        check_regular(path)
        stat = path.stat()
        digest = _digest(file, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        what = f"{str(error.strerror).lower()}: expected a readable file"
        raise Problem(what, where=file) from None
    return f"{digest}{inner}{path.suffix}".lower()


def inputs_of(parameters: Mapping[str, Scalar]) -> dict[str, str]:
    """Return the paths of a run's input files by name; {} without input files."""
    found: dict[str, str] = json.loads(str(parameters.get("inputs", "{}")))
    return found


def check_inputs(parameters: Mapping[str, Scalar]) -> None:
    """Raise Problem if an input file of a run has changed since it was planned."""
    for name, path in inputs_of(parameters).items():
        if name_of(path) != name:
            what = "the file has changed since the run was planned"
            raise Problem(what, where=path, remedy="repeat the command, which plans the runs again")


@lru_cache(maxsize=64)
def _digest(file: str, _changed_ns: int, _size: int) -> str:
    return short_digest(Path(file).read_bytes())
