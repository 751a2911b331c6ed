"""Files that a run reads beside its parameters: named by what is in them, wherever they lie.

A point's parameter `inputs` is JSON, name -> path. The name may stand in other parameters for the
file; the path is only where to look for it.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from halfway.pipeline.plan.run import Scalar
from halfway.problem import Problem


def name_of(file: str) -> str:
    """16 hex digits of a file's content, with the endings by which its format is known.

    Raises Problem for a file that cannot be read.
    """
    path = Path(file)
    inner = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else ""
    try:
        stat = path.stat()
        digest = _digest(file, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise Problem(str(error.strerror).lower(), where=file) from None
    return f"{digest}{inner}{path.suffix}".lower()


def inputs_of(parameters: Mapping[str, Scalar]) -> dict[str, str]:
    """Name -> path of the files of a run; {} where it reads none."""
    found: dict[str, str] = json.loads(str(parameters.get("inputs", "{}")))
    return found


def check_inputs(parameters: Mapping[str, Scalar]) -> None:
    """Raise Problem where a file of a run is not, or no longer, the one that was planned."""
    for name, path in inputs_of(parameters).items():
        if name_of(path) != name:
            raise Problem("this is not the file that was planned, it has changed", where=path)


@lru_cache(maxsize=64)
def _digest(file: str, _changed_ns: int, _size: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
