"""The option `--account`: where the time of a sweep went, from Spark's own log."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halfway.cli.terminal.screen import console, warn
from halfway.files import write_whole


@contextmanager
def accounted(file: Path | None, quiet: bool) -> Iterator[Path | None]:
    """Return the folder for Spark's event log during the block, or None if the user asked for no
    account.

    At the end of the block, write the account to the file, and print it unless `quiet`.
    """
    if file is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="halfway-account-") as folder:
        yield Path(folder)
        _write_account(Path(folder), file, quiet)


def _write_account(folder: Path, file: Path, quiet: bool) -> None:
    from halfway.pipeline.spark.sweep_account import account_of
    from halfway.report.terminal.account_report import account_csv, print_account

    account = account_of(folder)
    if account is None:
        warn(
            "--account: Halfway wrote no account, because the runs did not need Spark, or Spark "
            "runs on another machine"
        )
        return
    write_whole(file, account_csv(account))
    if not quiet:
        print_account(console(), account)
