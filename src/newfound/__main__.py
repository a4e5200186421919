"""`python -m newfound` is the command `newfound`, for where that is not on the path."""

import os  # this and the next are there since Python started: nothing is looked for
import sys


def _leave_out_current_folder() -> None:
    """Have modules not be looked for in the current folder, which Python puts first for -m, and not for a command."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        return
    if not sys.flags.safe_path and sys.path[:1] == [here]:
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_current_folder()
    from newfound.cli import main

    main()
