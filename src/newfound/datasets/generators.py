"""Tables made up on the spot, whose difficulty is a matter of choice."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.datasets.dataset import Dataset
from newfound.datasets.splits import hide, stratified_split, take_rows
from newfound.errors import InputError
from newfound.parameters import check_integer, check_real, pick_generator

if TYPE_CHECKING:
    import pandas as pd

    from newfound.tables.schema import Kind

__all__ = ["make_table"]

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

# with fewer rows, some part of a stratified split may have none of the class
_MIN_CLASS_ROWS = 4
# Student's t with three degrees of freedom: the heaviest tails that still have a variance
_TAIL_DEGREES = 3
# a rule asks each of its columns for the low, the middle or the high third of its values
_PARTS = 3
_LEVELS = range(3, 9)
_FIRST_DAY = np.datetime64("2024-01-01", "D")
_DAYS = 60


@dataclass(frozen=True)
class _Shape:
    """How many columns of each kind tell classes apart, and how far the tails of numbers reach."""

    n_numbers: int
    n_levels: tuple[int, ...]
    heavy_tails: bool


def make_table(
    n_rows: int = 1000,
    n_numeric: int = 6,
    n_categorical: int = 4,
    n_known: int = 4,
    n_novel: int = 3,
    *,
    n_dates: int = 0,
    n_noise: int = 0,
    separation: float = 4.0,
    imbalance: float = 1.0,
    heavy_tails: bool = False,
    missing: float = 0.0,
    rules: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Make a table of known and novel classes, for tests, examples and measurements.

    Numbers have units of their own; some are skewed, some are counts. Categories are text. The classes are either
    clouds or rules:

    - Clouds: numbers scatter around the centre of their class, in the same directions for all classes, so that known
      classes teach what is within a class and what is between classes. Each class has its own shares of the categories.
    - Rules: a class is a combination of conditions on few columns, such as "number_2 is high and category_0 is a or d".
      All other columns say nothing.

    Parameters
    ----------
    n_rows : int, default=1000
        Rows for training and testing together; 30 % of each class test.
    n_numeric, n_categorical : int, default=6, 4
        Columns that may tell classes apart: "number_0", ..., and "category_0", ..., with 3 to 8 categories each.
    n_known, n_novel : int, default=4, 3
        Number of classes: "class_0", ..., the known ones first.
    n_dates : int, default=0
        Columns with a day, "date_0", ..., which may tell classes apart as well.
    n_noise : int, default=0
        Columns that have nothing to do with the classes, "noise_0", ..., of numbers and categories in turn.
    separation : float, default=4.0
        How well classes can be told apart; with 0, not at all. For clouds, the mean distance between a centre and its
        nearest one, in standard deviations of a class; for rules, each condition holds in all but a share
        ``exp(-separation)`` of the rows, and there as often as by chance.
    imbalance : float, default=1.0
        How many times as many rows the largest novel class has as the smallest; those between follow a geometric
        series. Known classes are equally large.
    heavy_tails : bool, default=False
        Whether numbers follow Student's t distribution with three degrees of freedom, and not the normal one.
    missing : float, default=0.0
        Share of the cells that are missing, at random: NaN, None or NaT.
    rules : bool, default=False
        Whether classes are rules, and not clouds.
    random_state : int, RandomState or None, default=None
        A number makes the same table each time.

    Returns
    -------
    Dataset
        With pandas DataFrames, or, where pandas is not installed, arrays with columns "x0", "x1", and so on.

    Raises
    ------
    InputError
        For a parameter out of its range, and where a class would have less than four rows.

    Examples
    --------
    >>> from newfound import datasets
    >>> table = datasets.make_table(n_rows=700, n_noise=2, imbalance=3, missing=0.05, random_state=0)
    >>> table
    Dataset 'made table' (generated)
      columns: 12 (7 numeric, 5 categorical)
      train:   490 rows, 280 labelled, 210 unlabelled
      test:    210 rows, 120 known, 90 novel
      known:   4 classes: class_0, class_1, class_2, class_3
      novel:   3 classes: class_4, class_5, class_6
    """
    n_numeric = check_integer("n_numeric", n_numeric, low=0)
    n_categorical = check_integer("n_categorical", n_categorical, low=0)
    n_dates = check_integer("n_dates", n_dates, low=0)
    n_noise = check_integer("n_noise", n_noise, low=0)
    separation = check_real("separation", separation, low=0)
    missing = check_real("missing", missing, low=0, high=0.95)
    if n_numeric + n_categorical + n_dates == 0:
        raise InputError(
            "Got n_numeric=0, n_categorical=0 and n_dates=0, but expected at least one column that may tell classes "
            "apart.",
            parameter="n_numeric",
            value=n_numeric,
            expected="at least one column",
        )
    sizes = _class_sizes(n_rows, n_known, n_novel, imbalance)
    rng = pick_generator(random_state)
    codes: Codes = np.repeat(np.arange(len(sizes)), sizes)
    rng.shuffle(codes)

    shape = _Shape(n_numeric + n_dates, _draw_levels(n_categorical, rng), heavy_tails)
    draw = _draw_rules if rules else _draw_clouds
    numbers, categories = draw(shape, codes, len(sizes), separation, rng)
    columns: dict[str, tuple[Kind, NDArray[Any]]] = {}
    for i in range(n_numeric):
        columns[f"number_{i}"] = "numeric", _with_unit(numbers[:, i], i, rng)
    for i in range(n_categorical):
        columns[f"category_{i}"] = "categorical", _as_text(categories[:, i])
    for i in range(n_dates):
        columns[f"date_{i}"] = "date", _as_days(numbers[:, n_numeric + i])
    for i in range(n_noise):
        columns[f"noise_{i}"] = _draw_noise(i, len(codes), heavy_tails, rng)
    _remove_cells([cells for _, cells in columns.values()], missing, rng)
    return _as_dataset(columns, codes, len(sizes), n_known, rng)


def _class_sizes(n_rows: int, n_known: int, n_novel: int, imbalance: float) -> Codes:
    """Rows of each class, shape (n_known + n_novel,); they sum to ``n_rows``."""
    n_rows = check_integer("n_rows", n_rows, low=1)
    n_known = check_integer("n_known", n_known, low=1)
    n_novel = check_integer("n_novel", n_novel, low=1)
    imbalance = check_real("imbalance", imbalance, low=1)
    novel = imbalance ** -np.linspace(0, 1, n_novel)
    shares = np.concatenate([np.ones(n_known), novel * (n_novel / novel.sum())]) / (n_known + n_novel)
    # cutting the cumulated rows makes the sizes sum up, each less than one row from its share
    ends: Codes = np.rint(np.cumsum(shares) * n_rows).astype(np.int64)
    sizes: Codes = ends - np.concatenate([[0], ends[:-1]])
    if sizes.min() < _MIN_CLASS_ROWS:
        needed = ceil(_MIN_CLASS_ROWS / shares.min())
        raise InputError(
            f"Got n_rows={n_rows} for {n_known} known and {n_novel} novel classes with imbalance={imbalance:g}, but "
            f"expected at least {_MIN_CLASS_ROWS} rows in the smallest class. Ask for about {needed} rows, fewer "
            "classes or less imbalance.",
            parameter="n_rows",
            value=n_rows,
            expected=f"at least {_MIN_CLASS_ROWS} rows in the smallest class",
            cure=f"Ask for about {needed} rows, fewer classes or less imbalance.",
        )
    return sizes


def _draw_levels(n_columns: int, rng: np.random.RandomState) -> tuple[int, ...]:
    """How many categories each of some columns has."""
    return tuple(int(n) for n in rng.randint(_LEVELS.start, _LEVELS.stop, size=n_columns))


# ---- classes as clouds, and as rules


def _draw_clouds(
    shape: _Shape, codes: Codes, n_classes: int, separation: float, rng: np.random.RandomState
) -> tuple[Numbers, Codes]:
    """Draw numbers around the centres of classes and categories by their shares in classes.

    Returns
    -------
    numbers : ndarray of shape (n, n_numbers)
    categories : ndarray of shape (n, n_categorical)
    """
    noise = _draw_numbers((len(codes), shape.n_numbers), shape.heavy_tails, rng)
    centres = separation * _unit_apart(rng.standard_normal((n_classes, shape.n_numbers)))
    # the same mixture for all classes: what varies within known classes varies within novel ones
    mixture = rng.standard_normal((shape.n_numbers, shape.n_numbers)) / np.sqrt(max(shape.n_numbers, 1))
    numbers = (noise + centres[codes]) @ (np.eye(shape.n_numbers) + mixture)
    categories = np.empty((len(codes), len(shape.n_levels)), dtype=np.int64)
    for i, n_levels in enumerate(shape.n_levels):
        scores = rng.standard_normal(n_levels) + separation / 2 * rng.standard_normal((n_classes, n_levels))
        categories[:, i] = _draw_categories(scores[codes], rng)
    return numbers, categories


def _unit_apart(centres: Numbers) -> Numbers:
    """Scale centres so that the mean distance to the nearest other one is 1; shape (n_classes, d)."""
    if centres.shape[1] == 0:
        return centres
    from scipy.spatial.distance import pdist, squareform

    distances = squareform(pdist(centres))
    np.fill_diagonal(distances, np.inf)
    return centres / float(distances.min(axis=1).mean())


def _draw_categories(scores: Numbers, rng: np.random.RandomState) -> Codes:
    """Draw a category for each row with probability softmax(scores); shape (n,)."""
    codes: Codes = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    return codes


def _draw_rules(
    shape: _Shape, codes: Codes, n_classes: int, separation: float, rng: np.random.RandomState
) -> tuple[Numbers, Codes]:
    """Draw rows that satisfy the conditions of their classes; shapes as from :func:`_draw_clouds`."""
    n, n_numbers = len(codes), shape.n_numbers
    conditions = _draw_conditions(n_numbers + len(shape.n_levels), n_classes, rng)
    # where a cell lies in the order of the values of its column, from 0 to 1
    places = rng.random_sample((n, n_numbers + len(shape.n_levels)))
    for column, parts in conditions.items():
        obeyed = rng.random_sample(n) >= np.exp(-separation)
        within = (parts[codes] + places[:, column]) / _PARTS
        places[:, column] = np.where(obeyed, within, places[:, column])
    categories = np.empty((n, len(shape.n_levels)), dtype=np.int64)
    for i, n_levels in enumerate(shape.n_levels):
        # in a random order, or the conditions of all columns would ask for neighbours in the alphabet
        categories[:, i] = rng.permutation(n_levels)[_level_at(places[:, n_numbers + i], n_levels)]
    return _number_at(places[:, :n_numbers], heavy_tails=shape.heavy_tails), categories


def _draw_conditions(n_columns: int, n_classes: int, rng: np.random.RandomState) -> dict[int, Codes]:
    """For each of few columns, the third of its values that each class asks for; no two classes ask for the same."""
    n_asked = max(2, ceil(np.log(n_classes) / np.log(_PARTS)))
    if n_asked > n_columns:
        raise InputError(
            f"Got {n_columns} column(s) that may tell {n_classes} classes apart, but rules for so many need at least "
            f"{n_asked}. Ask for more columns, fewer classes or rules=False."
        )
    asked = rng.choice(n_columns, size=n_asked, replace=False)
    # the thirds that a class asks for are the digits of its number, so no two classes ask for the same ones
    combinations = rng.permutation(_PARTS**n_asked)[:n_classes]
    return {int(column): combinations // _PARTS**i % _PARTS for i, column in enumerate(asked)}


def _level_at(places: Numbers, n_levels: int) -> Codes:
    """Category at each place, so that each third of the places has categories of its own."""
    part = np.minimum((places * _PARTS).astype(np.int64), _PARTS - 1)
    first = np.linspace(0, n_levels, _PARTS + 1).astype(np.int64)
    within = ((places * _PARTS - part) * (first[part + 1] - first[part])).astype(np.int64)
    levels: Codes = np.minimum(first[part] + within, first[part + 1] - 1)
    return levels


def _number_at(places: Numbers, *, heavy_tails: bool) -> Numbers:
    """Quantiles of the distribution of numbers."""
    from scipy.special import ndtri, stdtrit

    inner = np.clip(places, 1e-9, 1 - 1e-9)
    numbers: Numbers = stdtrit(_TAIL_DEGREES, inner) if heavy_tails else ndtri(inner)
    return numbers


# ---- columns


def _draw_numbers(shape: tuple[int, ...], heavy_tails: bool, rng: np.random.RandomState) -> Numbers:
    numbers: Numbers = rng.standard_t(_TAIL_DEGREES, size=shape) if heavy_tails else rng.standard_normal(shape)
    return numbers


def _draw_noise(number: int, n_rows: int, heavy_tails: bool, rng: np.random.RandomState) -> tuple[Kind, NDArray[Any]]:
    """Draw a column that knows nothing of the classes."""
    if number % 2 == 0:
        return "numeric", _with_unit(_draw_numbers((n_rows,), heavy_tails, rng), number, rng)
    (n_levels,) = _draw_levels(1, rng)
    scores = np.broadcast_to(rng.standard_normal(n_levels), (n_rows, n_levels))
    return "categorical", _as_text(_draw_categories(scores, rng))


def _with_unit(numbers: Numbers, number: int, rng: np.random.RandomState) -> Numbers:
    """Give numbers a unit: plain, skewed and whole numbers in turn; larger ones stay larger, or equal."""
    size, offset = 10 ** rng.uniform(-1, 3), rng.uniform(-2, 2)
    if number % 3 == 1:
        # clipped, since heavy tails would overflow
        numbers = size * np.exp(np.clip(numbers, -30, 30) / 2)
    elif number % 3 == 2:
        numbers = np.rint(10 * (numbers - numbers.min()))
    else:
        numbers = size * (numbers + offset)
    return numbers


def _as_text(categories: Codes) -> NDArray[Any]:
    return np.array([*"abcdefgh"], dtype=object)[categories]


def _as_days(numbers: Numbers) -> NDArray[np.datetime64]:
    """Days around the first of 2024; to a hundred years before and after, which heavy tails would leave."""
    days: NDArray[np.datetime64] = _FIRST_DAY + np.rint(np.clip(_DAYS * numbers, -36_500, 36_500)).astype(np.int64)
    return days.astype("datetime64[s]")


def _remove_cells(columns: list[NDArray[Any]], share: float, rng: np.random.RandomState) -> None:
    """Make a share of the cells missing, in place."""
    if share == 0:
        return
    for cells in columns:
        gone = rng.random_sample(len(cells)) < share
        cells[gone] = np.datetime64("NaT") if cells.dtype.kind == "M" else None if cells.dtype == object else np.nan


def _as_dataset(
    columns: dict[str, tuple[Kind, NDArray[Any]]],
    codes: Codes,
    n_classes: int,
    n_known: int,
    rng: np.random.RandomState,
) -> Dataset:
    width = len(str(n_classes - 1))
    classes = [f"class_{code:0{width}}" for code in range(n_classes)]
    features = _as_features({name: cells for name, (_, cells) in columns.items()})
    names = [f"x{i}" for i in range(len(columns))] if isinstance(features, np.ndarray) else list(columns)
    kinds: dict[str, Kind] = dict(zip(names, (kind for kind, _ in columns.values()), strict=True))
    target = np.array(classes, dtype=object)[codes]
    train, test = stratified_split(np.arange(len(target)), target, seed=int(rng.randint(2**31 - 1)))
    novel = np.array(classes[n_known:], dtype=object)
    return Dataset(
        name="made table",
        regime="generated",
        X_train=take_rows(features, train),
        y_train=hide(target[train], novel),
        X_test=take_rows(features, test),
        y_test=target[test],
        y_train_truth=target[train],
        known_classes=np.array(classes[:n_known], dtype=object),
        novel_classes=novel,
        kinds=kinds,
    )


def _as_features(columns: dict[str, NDArray[Any]]) -> pd.DataFrame | NDArray[Any]:
    try:
        import pandas as pd
    except ImportError:
        # of objects, unless all columns are numbers
        return np.stack(
            [cells if _all_numbers(columns) else cells.astype(object) for cells in columns.values()], axis=1
        )
    return pd.DataFrame(columns)


def _all_numbers(columns: dict[str, NDArray[Any]]) -> bool:
    return all(cells.dtype.kind == "f" for cells in columns.values())
