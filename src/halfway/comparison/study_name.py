"""The name of the study of a comparison, which follows from its question, and not from its title or
file.
"""

import json
import re
from collections.abc import Iterable

from halfway.comparison.plan import plain_of, point_of
from halfway.comparison.request import Request
from halfway.core.values.digest import short_digest
from halfway.pipeline.plan.sweep_plan import ROOT_SEED
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import StudyRequest, read_requests

_PREFIX = "compare "  # a result folder may also hold studies of papers
_LONGEST = 60  # characters of the folder's name


def study_name(request: Request, store: Store, seed: int | None = None) -> str:
    """Return the name of a request's study in a result folder: the `slug` of the scenario's title.

    A second scenario with the same title gets a digest of its content behind the name. Systems,
    replicates and needs do not change the name.
    """
    with store.reading():
        return free_name(request, read_requests(store.studies), seed)


def free_name(request: Request, recorded: Iterable[StudyRequest], seed: int | None) -> str:
    """Return the name of a request's study, given the studies that a result folder has."""
    own, plain = identity(request, seed), slug(request.scenario.title)
    taken = {one.name: one.identity for one in recorded}
    # A study of an older version has no identity.
    return plain if taken.get(_PREFIX + plain, own) == own else f"{plain}-{own[:8]}"


def recorded_name(study: str) -> str:
    """Return the name under which a result folder records a comparison's study.

    A prefix separates it from the studies of papers.
    """
    return _PREFIX + study


def identity(request: Request, seed: int | None = None) -> str:
    """Return the digest of a comparison's question, by which the names of studies differ: its
    scenario, points and seed.

    The title, the systems and the needs are not part of the question.
    """
    plain = plain_of(request.scenario)
    varies = [dict(point.varies) for point in request.points]
    del plain["title"], plain["sweep"], plain["decision"]
    files = point_of(request.scenario, request.systems[0]).parameters.get("inputs", "")
    words = [plain, varies, files, ROOT_SEED if seed is None else seed]
    text = json.dumps(words, sort_keys=True, default=str)
    return short_digest(text)


def slug(title: str) -> str:
    """Return the name of a study that follows from a title, fit for a folder: letters, digits and
    dashes.
    """
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")
    return words[:_LONGEST].rstrip("-") or "comparison"
