"""What a measurement took, and on what it was made."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from newfound.discoverers.parameters import pick_device

_PACKAGES = ("torch", "numpy", "scikit-learn")


def peak_memory(*, reset: bool = False) -> float:
    """Return the largest resident memory of this process so far, in MiB, or 0 where the system does not tell.

    Counts from now on if ``reset``, where the system allows that: on Linux, but not in every container.
    """
    if reset:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # no Linux
        try:
            import resource
        except ImportError:  # Windows
            return 0.0
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0**2  # macOS counts in bytes
    return next(int(line.split()[1]) / 1024.0 for line in status.splitlines() if line.startswith("VmHWM"))


def circumstances(device: str) -> dict[str, Any]:
    """Device and versions, as a line of the results holds them."""
    from newfound import __version__

    picked = pick_device(device)
    cuda = picked.type == "cuda"
    return {
        "device": picked.type,
        "device_name": torch.cuda.get_device_name(picked) if cuda else platform.machine(),
        "versions": {
            "newfound": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
    }
