"""The session of the pipeline's tests, for what is measured on a scenario."""

from tests.pipeline.conftest import spark

__all__ = ["spark"]
