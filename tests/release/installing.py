"""Install the built wheel into clean environments, one without extras and one for each extra, and try it.

`make install-check` calls it. The environment of an extra lies over the one without extras, so that torch is unpacked
once; each has that and its own packages, and nothing else.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.release.environments import ROOT, call, extras, fresh, wheel

SMOKE = Path(__file__).with_name("smoke.py").resolve()


def main(folder: str, *chosen: str) -> None:
    """Try the wheel in the folder, with all extras or with those that are named."""
    built, pins = wheel(Path(folder)), ("-c", str(ROOT / "constraints.txt"))
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        python = fresh(here / "base", *pins, str(built))
        call(python, SMOKE, "base", cwd=here)
        call(python.with_name("newfound"), "info", cwd=here)
        for extra in chosen or extras():
            python = fresh(here / extra, *pins, f"{built}[{extra}]", over=here / "base")
            call(python, "-m", "pip", "check", "--disable-pip-version-check", cwd=here)
            call(python, SMOKE, extra, cwd=here)


if __name__ == "__main__":
    main(*sys.argv[1:])
