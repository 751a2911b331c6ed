"""The checks of `halfway doctor` on the machine: keys, clock, disk, and compile cache."""

import ctypes
import os
import statistics
import tempfile
import time
from pathlib import Path

from halfway.core.compiler.cache import CACHE_FOLDER
from halfway.live.doctor.finding import Finding, failed, note, ok
from halfway.live.keys.processor import AES_GCM, CHACHA20, suitable_cipher
from halfway.live.runtime.key_files import keyed_security
from halfway.live.runtime.settings import Settings

_DAY_S = 86_400.0
_SOON_DAYS = 14.0
_BUILT_S = 1_735_689_600.0  # begin of 2025: a clock that shows an earlier time was never set
_CLOCK_ERROR = 5  # result of adjtimex: the clock is not synchronised
_TIMEX_BYTES = 1024  # more than the structure of any architecture
_SYNCS = 16
_SLOW_S = 0.01
_TEMPORARY = "halfway-cache-"
_CIPHERS = {AES_GCM: "AES-256-GCM", CHACHA20: "ChaCha20-Poly1305"}


def keys(certificate: Path | None, key: Path | None) -> Finding:
    """Check the two key files of a node for `halfway doctor`; without files, find the cipher that
    keys would use.

    Raises Problem for a file that is not a certificate or key, and for a certificate that is
    invalid.
    """
    cipher = _CIPHERS[suitable_cipher()]
    if certificate is None or key is None:
        text = f"{cipher}; no certificate given: only the development network on loopback"
        return note(
            "keys",
            text,
            "make a network with `halfway net new`; then run doctor --certificate FILE --key FILE",
        )
    own = keyed_security(Settings(certificate=certificate, key=key)).membership.own
    days = (own.not_after - time.time()) / _DAY_S
    text = f"{cipher}; node {own.name}, valid for {days:.0f} days"
    if days < _SOON_DAYS:
        return note("keys", text, "admit the node again with `halfway net admit`")
    return ok("keys", text)


def clock() -> Finding:
    """Check for `halfway doctor` that the clock is set and synchronised, because certificates
    expire.
    """
    name, now = "clock", time.time()
    day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now))
    if now < _BUILT_S:
        return failed(
            name, f"the clock shows {day}", "set the clock, because certificates depend on it"
        )
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    if state == _CLOCK_ERROR:
        return note(name, f"{day}, not synchronised", "run an NTP client, such as chrony")
    return ok(name, f"{day}, synchronised")


def disk(state: Path | None) -> Finding:
    """Check the disk for `halfway doctor`: measure the time of one sync, which delays each
    acknowledgement.
    """
    folder = state or Path(tempfile.gettempdir())
    name, taken = "disk", []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            file.write(b"\0" * 200)
            file.flush()
            begun = time.monotonic()
            os.fdatasync(file.fileno())
            taken.append(time.monotonic() - begun)
    median = statistics.median(taken)
    text = f"{folder}: a record is on disk after {1000 * median:.2f} ms"
    if median > _SLOW_S:
        return note(
            name, text, "use a faster disk for --state, because each kept event waits for this time"
        )
    return ok(name, text)


def compile_cache() -> Finding:
    """Check for `halfway doctor` that the compile cache is writable, and measure its size."""
    name = "compile cache"
    if CACHE_FOLDER.name.startswith(_TEMPORARY):
        text = "no cache folder is writable, so each command compiles again, for up to a minute"
        return note(name, text, "set XDG_CACHE_HOME to a writable folder")
    kernels = [file.stat().st_size for file in CACHE_FOLDER.glob("*.kernel")]
    size = sum(kernels) / 1e6
    return ok(name, f"{CACHE_FOLDER}: {len(kernels)} kernels, {size:.0f} MB")
