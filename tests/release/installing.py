"""Install the built wheel into clean environments, one without extras and one for each extra, and try it.

`make install-check` calls it. It takes minutes and gigabytes, one environment after the other.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.release.environments import ROOT, call, extras, fresh, wheel

SMOKE = Path(__file__).with_name("smoke.py").resolve()


def main(folder: str, *chosen: str) -> None:
    """Try the wheel in the folder, with all extras or with those that are named ("none" for no extra)."""
    built = wheel(Path(folder))
    for extra in chosen or ("none", *extras()):
        with tempfile.TemporaryDirectory() as place:
            wanted = f"{built}[{extra}]" if extra != "none" else str(built)
            python = fresh(Path(place) / "env", "-c", str(ROOT / "constraints.txt"), wanted)
            call(python, "-m", "pip", "check", "--disable-pip-version-check")
            call(python, SMOKE, *([] if extra == "none" else [extra]), cwd=Path(place))
            call(python.with_name("newfound"), "info", cwd=Path(place))


if __name__ == "__main__":
    main(*sys.argv[1:])
