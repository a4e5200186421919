"""What each benchmark is: its file, classes, rows for training and testing, and columns.

Facts only; :mod:`newfound_lab.datasets.loaders` turns an entry into a :class:`~newfound.datasets.Dataset`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from newfound_lab.datasets import columns
from newfound_lab.datasets.sources import SOURCES, Source

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "CappedSplit",
    "ColumnSplit",
    "FirstRowsSplit",
    "IndexSplit",
    "PaperCounts",
    "RandomSplit",
    "SizedSplit",
    "Split",
]


@dataclass(frozen=True)
class ColumnSplit:
    """The table says it itself: its column ``split`` holds "train" or "test"; other rows are left out."""


@dataclass(frozen=True)
class FirstRowsSplit:
    """The first ``train`` rows of the file train, the next ``test`` rows test."""

    train: int
    test: int


@dataclass(frozen=True)
class SizedSplit:
    """``train`` random rows train and ``test`` others test, not stratified."""

    train: int
    test: int
    seed: int = 0


@dataclass(frozen=True)
class IndexSplit:
    """Row numbers of the raw table (from 0), in two arrays of an npz file; their order is kept.

    The order carries no information that a discoverer may use; it only fixes which rows a seed draws. Where the file is
    missing, ``instead`` draws other rows.
    """

    file: str
    sha256: str
    train: str
    test: str
    instead: SizedSplit | None = None


@dataclass(frozen=True)
class RandomSplit:
    """70 % train, 30 % test, stratified by class, by scikit-learn's ``train_test_split``.

    ``max_per_class`` first cuts each class to its first rows of the file.
    """

    seed: int = 0
    max_per_class: int | None = None


@dataclass(frozen=True)
class CappedSplit:
    """70/30 at random, not stratified (some classes have one row), then the first rows of each part.

    At most ``known`` training rows of known classes, ``novel`` of novel ones, and ``test`` test rows are kept.
    """

    known: int
    novel: int
    test: int
    seed: int = 0


Split = ColumnSplit | FirstRowsSplit | IndexSplit | SizedSplit | RandomSplit | CappedSplit


class PaperCounts(NamedTuple):
    """Columns, classes and rows that the paper reports (its Table I), with its own words."""

    attributes: int
    known_classes: int
    novel_classes: int
    train_labeled: int
    train_unlabeled: int
    test_labeled: int
    test_unlabeled: int


@dataclass(frozen=True)
class Benchmark:
    """One table with known and novel classes and fixed rows for training and testing.

    Attributes
    ----------
    name : str
        What :func:`newfound.datasets.load` is called with.
    file, sha256 : str
        The table: parquet, or npz for MNIST. Empty for digits, which scikit-learn brings along.
    known, novel : tuple of int or tuple of str
        Rows of any other class are left out.
    split : Split
        Which rows train and test.
    regime : str
        "paper" where rows and columns are the paper's own, so that scores compare; else what differs.
    target : str
        Column with the class ("y_train/y_test" for arrays).
    not_features : tuple of str
        Columns that are neither features nor target: identifiers, and what would give the target away.
    categorical : tuple of str
        Categorical columns.
    boolean : tuple of str
        Columns of 0 and 1 that stand for categories; every other feature is numeric.
    numeric_scaling : {"standard", "none"}, categorical_scaling : {"none", "standard"}
        How the benchmark prepares its columns, in the words of ``TableEncoder``.
    scoreable : bool
        False where the file is only a sample, enough to test a loader and never to report a score.
    paper : PaperCounts or None
        None where the paper does not use this table.
    source : Source or None
        Where the official table can be had; None where it cannot.
    """

    name: str
    file: str
    sha256: str
    known: tuple[int, ...] | tuple[str, ...]
    novel: tuple[int, ...] | tuple[str, ...]
    split: Split
    regime: str
    target: str = "target"
    not_features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    numeric_scaling: Literal["standard", "none"] = "standard"
    categorical_scaling: Literal["none", "standard"] = "none"
    scoreable: bool = True
    paper: PaperCounts | None = None
    source: Source | None = None

    def on_official(self, file: str, sha256: str) -> Benchmark:
        """Return the benchmark as it is on the whole official table, which has been read into ``file``."""
        assert self.source is not None
        no_features = self.source.not_features
        return replace(
            self,
            file=file,
            sha256=sha256,
            regime=self.source.regime or self.regime,
            not_features=self.not_features if no_features is None else no_features,
            scoreable=True,
        )


SPLITS_FILE = "tabularncd_splits.npz"
SPLITS_SHA256 = "a84ff721768d8b74ba5742a1e64ae26eaae36365a84023df24d6c83f6c83cf80"

_ALL = (
    Benchmark(
        name="digits",
        file="",
        sha256="",
        known=(0, 1, 2, 3, 4),
        novel=(5, 6, 7, 8, 9),
        split=RandomSplit(),
        regime="demo",
    ),
    # pixels are divided by 255 when loaded and not standardised, as in the paper's experiments
    Benchmark(
        name="mnist",
        file="mnist.npz",
        sha256="06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
        known=(0, 1, 2, 3, 4),
        novel=(5, 6, 7, 8, 9),
        split=ColumnSplit(),
        regime="paper",
        target="y_train/y_test",
        numeric_scaling="none",
        paper=PaperCounts(784, 5, 5, 30596, 29404, 5139, 4861),
    ),
    # the 44 binary columns are two one-hot categories, standardised too: otherwise the paper's figures are not reached
    Benchmark(
        name="forest",
        file="covertype.parquet",
        sha256="62756e0160b2691b9f33493aab2942e7455862ae718faf75a1e57bd0e04f5266",
        known=(7, 3, 2, 4),
        novel=(1, 6, 5),
        split=FirstRowsSplit(train=11_340, test=50_000),
        regime="paper",
        boolean=columns.COVERTYPE[10:],
        categorical_scaling="standard",
        paper=PaperCounts(54, 4, 3, 6480, 4860, 36568, 13432),
    ),
    # raw row 0 is in neither part; the order of the paper's training rows is not known, so they are in file order
    Benchmark(
        name="letter",
        file="letter.parquet",
        sha256="852cacff98fa5af20551edd96975b871971ac4c2ae718259eb570c1265a5bdb1",
        known=tuple("BCEFGIJKLNOQRSTUWYZ"),
        novel=tuple("ADHMPVX"),
        split=IndexSplit(
            SPLITS_FILE,
            SPLITS_SHA256,
            train="letter_train_unordered",
            test="letter_test",
            instead=SizedSplit(13_999, 6_000),
        ),
        regime="paper",
        paper=PaperCounts(16, 19, 7, 10229, 3770, 4296, 1704),
    ),
    # 66 of the 561 features, without the subject that the paper counts as its 562nd: rows compare, scores do not
    Benchmark(
        name="human",
        file="har_meanstd66.parquet",
        sha256="d742e190bcb3159ad60edf014cdb9bfe8cec53e3436d1abbd6477a8aabc47e43",
        known=("SITTING", "STANDING", "WALKING_UPSTAIRS"),
        novel=("LAYING", "WALKING", "WALKING_DOWNSTAIRS"),
        split=ColumnSplit(),
        regime="paper, reduced",
        not_features=("subject",),
        paper=PaperCounts(562, 3, 3, 3733, 3619, 1494, 1453),
    ),
    # the paper's own random rows, not the table's official split; 5 of the 6,435 rows are in neither part
    Benchmark(
        name="satimage",
        file="satimage.parquet",
        sha256="fb7a1cd8db4984ceaad7737f78e5cfe484440635c98563bed1cdface3b89c2d4",
        known=(7, 3, 2),
        novel=(4, 1, 5),
        split=IndexSplit(
            SPLITS_FILE, SPLITS_SHA256, train="satimage_train", test="satimage_test", instead=SizedSplit(4_501, 1_929)
        ),
        regime="paper",
        paper=PaperCounts(36, 3, 3, 2525, 1976, 1042, 887),
    ),
    Benchmark(
        name="pendigits",
        file="pendigits.parquet",
        sha256="a542f03a0707c7b821eb75b4db118e049c5a72a924465c31f0c0e33727d66a5d",
        known=(2, 8, 4, 9, 1),
        novel=(6, 7, 3, 0, 5),
        split=ColumnSplit(),
        regime="paper",
        paper=PaperCounts(16, 5, 5, 3777, 3717, 1764, 1734),
    ),
    # a 221-row sample: the loader can be tested on it, nothing can be scored
    Benchmark(
        name="census",
        file="census1990_tiny.parquet",
        sha256="18679073997a3d48149cef88b12ed6e7ee97bd667858365a006c6aa1666b3fde",
        known=(1, 6, 8, 10, 14, 4, 2, 16, 17, 9, 7, 13),
        novel=(11, 3, 0, 5, 15, 12),
        split=CappedSplit(known=50_000, novel=50_000, test=50_000),
        regime="paper, data not available here",
        not_features=("caseid", "iYearsch"),
        scoreable=False,
        paper=PaperCounts(67, 12, 6, 50000, 50000, 31343, 18657),
    ),
    Benchmark(
        name="optdigits",
        file="optdigits.parquet",
        sha256="8ab21d7ff4c2b9869d6da086216c85b363e5d0470da937d0d8fecfd6bfaf08b3",
        known=("1", "2", "7", "8", "9"),
        novel=("0", "3", "4", "5", "6"),
        split=ColumnSplit(),
        regime="extra",
    ),
    # the classes 1st-4th and Preschool are left out
    Benchmark(
        name="adult_education",
        file="adult_education.parquet",
        sha256="edac0d0ce041a0571de5c86e51a897f0e6a48a6341b901fdd8d2e50eaa526aa1",
        known=("HS-grad", "Some-college", "Bachelors", "Masters", "Assoc-voc", "11th", "Assoc-acdm", "10th"),
        novel=("7th-8th", "Prof-school", "9th", "12th", "Doctorate", "5th-6th"),
        split=ColumnSplit(),
        regime="extra, heterogeneous",
        not_features=("education", "education-num"),
        categorical=(
            "workclass",
            "education",
            "marital-status",
            "occupation",
            "relationship",
            "race",
            "sex",
            "native-country",
            "income",
        ),
    ),
    Benchmark(
        name="nsl_kdd",
        file="nsl_kdd.parquet",
        sha256="8e70f041ccdcdfe472670f5eea12146e4325e23d3639bcef43f76da086819d51",
        known=("normal", "neptune", "satan", "ipsweep", "smurf", "portsweep", "back", "teardrop"),
        novel=("nmap", "guess_passwd", "mscan", "warezmaster", "warezclient", "apache2", "processtable"),
        split=RandomSplit(max_per_class=10_000),
        regime="extra, heterogeneous",
        not_features=("difficulty", "attack_category"),
        categorical=("protocol_type", "service", "flag"),
    ),
    Benchmark(
        name="soybean",
        file="soybean.parquet",
        sha256="63b3603f5bcbd6d16cf7d0d8d6a17f01528eda0a21b4a829f472984098fd2880",
        known=(
            "brown-spot",
            "alternarialeaf-spot",
            "phytophthora-rot",
            "anthracnose",
            "charcoal-rot",
            "powdery-mildew",
            "bacterial-blight",
            "purple-seed-stain",
            "diaporthe-stem-canker",
        ),
        novel=(
            "frog-eye-leaf-spot",
            "brown-stem-rot",
            "rhizoctonia-root-rot",
            "downy-mildew",
            "bacterial-pustule",
            "phyllosticta-leaf-spot",
        ),
        split=RandomSplit(),
        regime="extra, heterogeneous",
        categorical=tuple(columns.SOYBEAN),
    ),
    Benchmark(
        name="dermatology",
        file="dermatology.parquet",
        sha256="db0764557ead958790b2c50e8665c7573301fa2935d4e2c2c39ee6d2d4456091",
        known=("1", "2", "4"),
        novel=("3", "5", "6"),
        split=RandomSplit(),
        regime="extra, heterogeneous",
        categorical=columns.DERMATOLOGY_GRADES,
    ),
)

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: replace(benchmark, source=SOURCES.get(benchmark.name)) for benchmark in _ALL
}
"""Every benchmark by name, digits first."""
