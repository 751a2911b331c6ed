"""The example that follows live traces with Structured Streaming, and the data source on traces."""

import importlib.util
from pathlib import Path

import pytest

from halfway.comparison.spark_source import HalfwaySource
from halfway.pipeline.spark.session import session
from halfway.scenario.build import simulation_of
from halfway.scenario.schema import Scenario, UnitDisk
from tests.house.sources import REPOSITORY
from tests.live.trace.test_folder import traced
from tests.loops import run

pytestmark = pytest.mark.slow


def test_windows_have_every_notification_and_drop_and_both_traces_are_read_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location(
        "follow_traces", REPOSITORY / "examples/live/follow_traces.py"
    )
    assert spec is not None
    assert spec.loader is not None
    follow_traces = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(follow_traces)
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
    counts = [int(line.split()[2]) for line in lines if "n-1" in line]
    assert sum(counts) == 20  # of the first trace; the windows of the second are not complete
    assert sum(int(line.split()[-2]) for line in lines if "n-2" in line) == 3
