"""The driver of `spark-submit`: Spark's own session, then any command of `halfway`.

`halfway cluster pack` copies this file. Spark starts the copy, which finds Halfway in an archive.
"""

import sys

from halfway.pipeline.spark.shipping import use_unpacked_copy


def main() -> int:
    """Open the session that `spark-submit` describes, and run the command of the arguments."""
    use_unpacked_copy()  # before compiled modules are imported
    from halfway.cli import main as command
    from halfway.pipeline.spark.session import submitted_session

    with submitted_session():
        return command()


if __name__ == "__main__":
    sys.exit(main())
