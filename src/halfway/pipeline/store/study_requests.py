"""The requests for studies in a result folder: the plan of each, so that missing runs can be named.

studies/<digest of the name>.parquet      key and point of its runs; the metadata: other fields
studies/<digest of the name>.asked.json   the replicates of each decision, by its question
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halfway.core.values.digest import short_digest
from halfway.core.values.field_messages import plain_words
from halfway.files import write_whole
from halfway.package import __version__
from halfway.pipeline.store.manifest import timestamp
from halfway.problem import Problem, reason_of

_METADATA = b"halfway.study"
_ASKED = msgspec.json.Decoder(dict[str, list[int]])


class StudyPlan(NamedTuple):
    """The plan of a requested study, and what a reader needs to recognise the study."""

    plan: pa.Table
    title: str = ""
    identity: str = ""  # digest of the question: two studies of one name differ in it
    # (key, point) of each run, as "workload.events = 10"; a run may belong to several points.
    points: Sequence[tuple[str, str]] = ()


Plans = Mapping[str, StudyPlan]  # by the study's name, such as "drip/figure-3 (quick)"


class StudyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The latest request for a study in a result folder."""

    name: str
    when: str  # UTC, ISO 8601, whole seconds
    halfway: str  # version that requested it
    points: int
    replicates: int
    title: str = ""
    identity: str = ""
    digest: str = ""  # of the other fields; "" in older folders
    runs: tuple[tuple[str, str], ...] = ()  # (key, point) that it needs; not in the metadata

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a requested study's runs, each once."""
        return tuple(dict.fromkeys(key for key, _ in self.runs))


def record_requests(folder: Path, plans: Plans) -> None:
    """Write a request for each study to a result folder. It replaces one of the same name.

    Only for the holder of the folder's lock.
    """
    for name, study in plans.items():
        plan = study.plan
        points = plan.group_by(["measurement", "parameters"]).aggregate([]).num_rows
        replicates = int(pc.max(plan["replicate"]).as_py() if plan.num_rows else -1) + 1
        request = StudyRequest(
            name, timestamp(), __version__, points, replicates, study.title, study.identity
        )
        target = folder / f"{_stem(name)}.parquet"
        runs = list(study.points) or [(key, "") for key in plan["key"].to_pylist()]
        request = msgspec.structs.replace(request, digest=_digest(request, runs))
        metadata = {_METADATA: msgspec.json.encode(request)}
        schema = pa.schema([("key", pa.string()), ("point", pa.string())], metadata)
        both = [[key for key, _ in runs], [point for _, point in runs]]
        content = pa.BufferOutputStream()
        pq.write_table(pa.table([pa.array(c, pa.string()) for c in both], schema), content)
        write_whole(target, content.getvalue().to_pybytes())


def read_requests(folder: Path) -> Iterator[StudyRequest]:
    """Read the requested studies, by name. Raises Problem for a damaged file."""
    requests = []
    for file in folder.glob("*.parquet"):
        try:
            requests.append(_read(file))
        except (OSError, pa.ArrowException, msgspec.MsgspecError, KeyError, ValueError) as error:
            reason = "the file is damaged"
            if isinstance(error, OSError) and error.strerror:
                reason = reason_of(error)
            what = f"cannot read the study: {reason}"
            remedy = "remove this file; the command of the study writes it again"
            raise Problem(what, where=str(file), remedy=remedy) from None
    yield from sorted(requests, key=lambda request: request.name)


def record_question(folder: Path, name: str, question: str, replicates: int) -> tuple[int, ...]:
    """Record in a result folder a decision of a study on a question, by its number of replicates.

    Return the numbers of replicates of the earlier decisions, in their order. A number that is
    recorded already is not recorded again. Raises Problem for a damaged file.
    """
    file = folder / f"{_stem(name)}.asked.json"
    try:
        asked = _ASKED.decode(file.read_bytes()) if file.exists() else {}
    except msgspec.MsgspecError as error:
        remedy = "remove this file; the next decision then counts as the first on its question"
        what = f"cannot read the questions of the study: {plain_words(str(error))}"
        raise Problem(what, where=str(file), remedy=remedy) from None
    counts = asked.setdefault(question, [])
    if replicates not in counts:
        counts.append(replicates)
        write_whole(file, msgspec.json.encode(asked))
    return tuple(counts[: counts.index(replicates)])


def _stem(name: str) -> str:
    """Return the name of a study's files in the result folder, without the ending."""
    return short_digest(name)


def _read(file: Path) -> StudyRequest:
    """Return a requested study in a file; ValueError if its content does not match its digest."""
    table = pq.read_table(file)
    request = msgspec.json.decode((table.schema.metadata or {})[_METADATA], type=StudyRequest)
    keys = table["key"].to_pylist()
    # Older folders have no points.
    points = table["point"].to_pylist() if "point" in table.column_names else [""] * len(keys)
    runs = tuple(zip(keys, points, strict=True))
    if request.digest and request.digest != _digest(request, runs):
        raise ValueError("its content does not match its digest")
    return msgspec.structs.replace(request, runs=runs)


def _digest(request: StudyRequest, runs: Sequence[tuple[str, str]]) -> str:
    """Return the digest of a requested study and its runs."""
    whole = msgspec.structs.replace(request, digest="", runs=tuple(map(tuple, runs)))
    return short_digest(msgspec.json.encode(whole))
