from __future__ import annotations

import torch
from hypothesis import settings

from tests.browsers import browser
from tests.uninstalling import uninstall

__all__ = ["browser", "uninstall"]

# Several pytest workers share few cores: if each opened a thread for every core they would wait for one another, and
# sums split over threads would make results depend on the machine.
torch.set_num_threads(1)

# How long one example takes is luck on a shared machine, so no test fails on it.
settings.register_profile("newfound", deadline=None)
settings.load_profile("newfound")
