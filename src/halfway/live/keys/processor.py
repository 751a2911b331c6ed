"""The faster cipher on this processor: AES-256-GCM with AES instructions, else ChaCha20."""

import platform
from pathlib import Path

AES_GCM, CHACHA20 = 0, 1  # indices of noise.CIPHERS


def suitable_cipher(cpuinfo: Path = Path("/proc/cpuinfo")) -> int:
    """Return the index of the faster cipher on this processor; AES if the processor is unknown.

    Linux lists the instructions in a file. Other operating systems run on processors that have AES.
    """
    if platform.system() != "Linux":
        return AES_GCM
    try:
        text = cpuinfo.read_text("utf-8", errors="ignore")
    except OSError:
        return AES_GCM
    names = [line for line in text.splitlines() if line.lower().startswith(("flags", "features"))]
    has_aes = not names or any("aes" in line.split() for line in names)
    return AES_GCM if has_aes else CHACHA20
