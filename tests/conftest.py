from __future__ import annotations

import os
import signal

from hypothesis import settings

from tests.browsers import browser
from tests.scheduling import pytest_collection_modifyitems, pytest_xdist_make_scheduler
from tests.uninstalling import uninstall

__all__ = ["browser", "pytest_collection_modifyitems", "pytest_xdist_make_scheduler", "uninstall"]

# Several pytest workers share few cores: if each opened a thread for every core they would wait for one another, and
# sums split over threads would make results depend on the machine. Set before anything is imported that reads it.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one example takes is luck on a shared machine, so no test fails on it.
settings.register_profile("newfound", deadline=None)
settings.load_profile("newfound")
