"""The example that follows live traces with Structured Streaming, and the data source on traces."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from halfway.comparison.spark_source import HalfwaySource
from halfway.pipeline.spark.session import session
from halfway.scenario.build import simulation_of
from halfway.scenario.schema import Scenario, UnitDisk
from tests.house.sources import REPOSITORY
from tests.live.trace.test_folder import traced
from tests.loops import run

pytestmark = pytest.mark.slow


@pytest.fixture
def follow_traces() -> ModuleType:
    """The module of the example."""
    spec = importlib.util.spec_from_file_location(
        "follow_traces", REPOSITORY / "examples/live/follow_traces.py"
    )
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def notifications(lines: list[str], node: str) -> int:
    """The number of notifications at a node in the lines that the example prints."""
    return sum(int(line.split()[2]) for line in lines if node in line)


def test_windows_have_every_notification_and_drop_and_both_traces_are_read_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], follow_traces: ModuleType
) -> None:
    live, path = tmp_path / "live", tmp_path / "run.parquet"
    run(traced(live))
    # A later trace lets the watermark pass, so that the windows of the first one are complete.
    run(traced(live, ahead_s=300.0))
    simulation_of(Scenario(network=UnitDisk(n=20, degree=6.0), seconds=5.0), trace=path).run()
    with session("local[1]") as spark:
        spark.dataSource.register(HalfwaySource)
        frames = [spark.read.format("halfway").load(str(one)) for one in (live, path)]
        assert frames[0].columns == frames[1].columns
        assert frames[0].where("what = 'reported' and node = 'n-1'").count() == 40
        assert frames[1].where("hlc is null and what = 'received'").count() > 0
        query = follow_traces.windows(spark, live, 60.0).writeStream.foreachBatch(
            follow_traces.show
        )
        query.trigger(availableNow=True).start().awaitTermination()
    lines = capsys.readouterr().out.splitlines()
    # Of the first trace: the windows of the second are not complete.
    assert notifications(lines, "n-1") == 20
    assert sum(int(line.split()[-2]) for line in lines if "n-2" in line) == 3


def test_files_that_come_between_two_batches_complete_the_windows_of_earlier_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], follow_traces: ModuleType
) -> None:
    live = tmp_path / "live"
    run(traced(live))
    with session("local[1]") as spark:
        windows = follow_traces.windows(spark, live, 60.0)
        query = windows.writeStream.foreachBatch(follow_traces.show).start()
        try:
            query.processAllAvailable()
            assert capsys.readouterr().out == ""  # rows may still come for all windows
            run(traced(live, ahead_s=300.0))
            query.processAllAvailable()
            lines = capsys.readouterr().out.splitlines()
            assert query.isActive
            batches = [one for one in query.recentProgress if one["numInputRows"] > 0]
        finally:
            query.stop()
    assert len(batches) >= 2
    assert notifications(lines, "n-1") == 20
