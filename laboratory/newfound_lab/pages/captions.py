"""Words for tables and figures: what datasets are called, and where the lines of the results come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from newfound_lab.suites.trials import key_of

Line = Mapping[str, Any]
Lines = Sequence[Line]

DATASETS = {
    "mnist": "MNIST",
    "forest": "Forest",
    "letter": "Letter",
    "human": "Human",
    "satimage": "Satimage",
    "pendigits": "Pendigits",
    "census": "Census",
    "digits": "Digits",
    "optdigits": "Optdigits",
    "nsl_kdd": "NSL-KDD",
    "adult_education": "Adult education",
    "soybean": "Soybean",
    "dermatology": "Dermatology",
}
_REGIMES = {"oracle": "oracle (uses novel labels)", "label-free": "label-free"}


def sorted_lines(lines: Iterable[Line]) -> list[Line]:
    """Sort lines by dataset, those of the paper first, then by seed; lines in any order come out in the same one."""
    place = {name: i for i, name in enumerate(DATASETS)}

    def key(line: Line) -> tuple[int, str, int, str]:
        return place.get(line["dataset"], len(place)), line["dataset"], line["seed"], key_of(line)

    return sorted(lines, key=key)


def datasets_of(lines: Lines) -> list[str]:
    """List the datasets in the order in which they first occur."""
    return list(dict.fromkeys(line["dataset"] for line in lines))


def names_of(lines: Lines) -> dict[str, str]:
    """Name all datasets, those without lines too, so that each has the same place every time."""
    return DATASETS | {line["dataset"]: name_of(line) for line in lines}


def name_of(line: Line) -> str:
    """Name the dataset of a line, and say where the table is not the paper's."""
    name = DATASETS.get(line["dataset"], str(line["dataset"]))
    if line["reduced"]:
        return f"{name} (66 features)" if line["dataset"] == "human" else f"{name} (reduced)"
    return name


def device_of(line: Line) -> str:
    """Name the device that a line was measured on: "CPU", or the GPU's own name."""
    return "CPU" if line["device"] == "cpu" else str(line["device_name"])


def machine_of(line: Line) -> str:
    """Name what the seconds of a line depend on: its device, and the build of torch, one for each kind of machine."""
    return f"{device_of(line)}, torch {line['versions']['torch']}"


def origin(lines: Lines, *, compared: bool = False) -> str:
    """Say which datasets, how many class splits and seeds, which regimes and which devices lines come from.

    Parameters
    ----------
    lines : sequence of mapping
        At least one.
    compared : bool, default=False
        Whether the paper's figures are shown beside; if so, a warning follows where the table is not the paper's.
    """
    datasets, names = datasets_of(lines), names_of(lines)
    seeds = [len({line["seed"] for line in lines if line["dataset"] == dataset}) for dataset in datasets]
    few, many = min(seeds), max(seeds)
    n_seeds = "1 seed" if many == 1 else f"{many} seeds" if few == many else f"{few} to {many} seeds"
    n_splits = len({line.get("class_split", 0) for line in lines})
    if n_splits > 1:
        n_seeds = f"{n_splits} class splits, {n_seeds}"
    regimes = _shared_out((_REGIMES[line["regime"]], name_of(line)) for line in lines)
    devices = _shared_out((device_of(line), name_of(line)) for line in lines)
    text = (
        f"{'Datasets' if len(datasets) > 1 else 'Dataset'}: {', '.join(names[dataset] for dataset in datasets)}; "
        f"{n_seeds}; regime: {regimes}; measured on {devices}."
    )
    if compared and any(line["reduced"] for line in lines):
        text += " Human lacks most columns that the paper had, so the paper's figures for it are no yardstick."
    return text


def _shared_out(pairs: Iterable[tuple[str, str]]) -> str:
    """List values and, if each dataset has one of them only, which datasets; the largest group is "all others"."""
    groups: dict[str, dict[str, None]] = {}
    for value, dataset in pairs:
        groups.setdefault(value, {})[dataset] = None
    ordered = sorted(groups.items(), key=lambda item: len(item[1]))
    n_datasets = len({dataset for group in groups.values() for dataset in group})
    if len(groups) == 1 or sum(map(len, groups.values())) > n_datasets:
        return " and ".join(groups)
    *small, (largest, _) = ordered
    return ", ".join(f"{value} ({', '.join(group)})" for value, group in small) + f" and {largest} (all others)"
