"""The daemon of Spark's workers imports pyspark from its folder, if the archives are of it."""

from halfway.pipeline.spark.daemon import without_zipped_copies

SITE = "/env/site-packages"
ARCHIVES = [f"{SITE}/pyspark/python/lib/{name}" for name in ("pyspark.zip", "py4j-0.10-src.zip")]


def test_archives_of_an_installed_pyspark_are_left_out() -> None:
    assert without_zipped_copies([*ARCHIVES, "/app", "/usr/lib/python3.zip", SITE]) == [
        "/app", "/usr/lib/python3.zip", SITE,
    ]  # fmt: skip


def test_archives_of_another_spark_stay() -> None:
    cluster = ["/opt/spark/python/lib/pyspark.zip", *ARCHIVES, "/app"]
    assert without_zipped_copies(cluster) == cluster


def test_the_current_folder_as_an_empty_path_loses_nothing() -> None:
    assert without_zipped_copies(["", *ARCHIVES, SITE]) == ["", SITE]
    assert without_zipped_copies(["", "/app"]) == ["", "/app"]
