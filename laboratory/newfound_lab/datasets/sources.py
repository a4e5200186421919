"""Where the official tables come from, and what must be found in them.

Facts only: :mod:`newfound_lab.datasets.transfer` downloads, :mod:`newfound_lab.datasets.raw` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import urlsplit

__all__ = ["SOURCES", "Source"]


@dataclass(frozen=True)
class Source:
    """The official files of a benchmark, and the table that they hold.

    Attributes
    ----------
    addresses : tuple of str
        One for each file.
    format : str
        Which reader of :mod:`newfound_lab.datasets.raw` understands the files.
    licence : str
        Terms of the data, not of newfound.
    rows, columns : int
        Size of the table; the class and the split are not counted as columns.
    class_counts : mapping of int or str to int or None
        Rows of each class; None where the number is not known and only the class is expected.
    regime : str or None
        Regime of the benchmark on this table, where its prepared file holds only a part of it; else None.
    not_features : tuple of str or None
        Columns that are no features, where they are others than in the prepared file; else None.
    largest_mib : int
        Neither a file nor what is unpacked from it may have more MiB; more is an accident or an attack.
    """

    addresses: tuple[str, ...]
    format: str
    licence: str
    rows: int
    columns: int
    class_counts: Mapping[int, int | None] | Mapping[str, int | None] = field(hash=False)
    regime: str | None = None
    not_features: tuple[str, ...] | None = None
    largest_mib: int = 64

    @property
    def files(self) -> tuple[str, ...]:
        """Name of each file, the last part of its address."""
        return tuple(PurePosixPath(urlsplit(address).path).name for address in self.addresses)

    @property
    def address(self) -> str:
        """Where to get the file; where there are several, the folder of the server that they are in."""
        return self.addresses[0] if len(self.addresses) == 1 else self.addresses[0].rpartition("/")[0]


_CC_BY = "CC BY 4.0"
_UCI = "https://archive.ics.uci.edu/static/public"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"

# fmt: off
SOURCES: dict[str, Source] = {
    "mnist": Source(
        addresses=(
            f"{_MNIST}/train-images-idx3-ubyte.gz",
            f"{_MNIST}/train-labels-idx1-ubyte.gz",
            f"{_MNIST}/t10k-images-idx3-ubyte.gz",
            f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
        ),
        format="mnist",
        licence="CC BY-SA 3.0",
        rows=70_000,
        columns=784,
        class_counts=dict(enumerate((6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958))),
    ),
    "forest": Source(
        addresses=(f"{_UCI}/31/covertype.zip",),
        format="covertype",
        licence=_CC_BY,
        rows=581_012,
        columns=54,
        class_counts={1: 211_840, 2: 283_301, 3: 35_754, 4: 2_747, 5: 9_493, 6: 17_367, 7: 20_510},
        largest_mib=128,
    ),
    "letter": Source(
        addresses=(f"{_UCI}/59/letter+recognition.zip",),
        format="letter",
        licence=_CC_BY,
        rows=20_000,
        columns=16,
        class_counts=dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
            789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792, 783, 753, 803, 783, 758, 748, 796, 813,
            764, 752, 787, 786, 734,
        ), strict=True)),
    ),
    # all 561 features and the subject, as in the paper
    "human": Source(
        addresses=(f"{_UCI}/240/human+activity+recognition+using+smartphones.zip",),
        format="human",
        licence=_CC_BY,
        rows=10_299,
        columns=562,
        class_counts={
            "LAYING": 1944, "SITTING": 1777, "STANDING": 1906, "WALKING": 1722, "WALKING_DOWNSTAIRS": 1406,
            "WALKING_UPSTAIRS": 1544,
        },
        regime="paper",
        not_features=(),
        largest_mib=256,
    ),
    "satimage": Source(
        addresses=(f"{_UCI}/146/statlog+landsat+satellite.zip",),
        format="satimage",
        licence=_CC_BY,
        rows=6_435,
        columns=36,
        class_counts={1: 1533, 2: 703, 3: 1358, 4: 626, 5: 707, 7: 1508},
    ),
    "pendigits": Source(
        addresses=(f"{_UCI}/81/pen+based+recognition+of+handwritten+digits.zip",),
        format="pendigits",
        licence=_CC_BY,
        rows=10_992,
        columns=16,
        class_counts=dict(enumerate((1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055))),
    ),
    # caseid and the class under its own name are among the columns
    "census": Source(
        addresses=(f"{_UCI}/116/us+census+data+1990.zip",),
        format="census",
        licence=_CC_BY,
        rows=2_458_285,
        columns=69,
        class_counts=dict.fromkeys(range(18)),
        regime="paper",
        largest_mib=512,
    ),
    "optdigits": Source(
        addresses=(f"{_UCI}/80/optical+recognition+of+handwritten+digits.zip",),
        format="optdigits",
        licence=_CC_BY,
        rows=5_620,
        columns=64,
        class_counts=dict(zip("0123456789", (554, 571, 557, 572, 568, 558, 558, 566, 554, 562), strict=True)),
    ),
    "adult_education": Source(
        addresses=(f"{_UCI}/2/adult.zip",),
        format="adult",
        licence=_CC_BY,
        rows=48_842,
        columns=15,
        class_counts={
            "10th": 1389, "11th": 1812, "12th": 657, "1st-4th": 247, "5th-6th": 509, "7th-8th": 955, "9th": 756,
            "Assoc-acdm": 1601, "Assoc-voc": 2061, "Bachelors": 8025, "Doctorate": 594, "HS-grad": 15_784,
            "Masters": 2657, "Preschool": 83, "Prof-school": 834, "Some-college": 10_878,
        },
    ),
    "soybean": Source(
        addresses=(f"{_UCI}/90/soybean+large.zip",),
        format="soybean",
        licence=_CC_BY,
        rows=683,
        columns=35,
        class_counts={
            "2-4-d-injury": 16, "alternarialeaf-spot": 91, "anthracnose": 44, "bacterial-blight": 20,
            "bacterial-pustule": 20, "brown-spot": 92, "brown-stem-rot": 44, "charcoal-rot": 20, "cyst-nematode": 14,
            "diaporthe-pod-&-stem-blight": 15, "diaporthe-stem-canker": 20, "downy-mildew": 20,
            "frog-eye-leaf-spot": 91, "herbicide-injury": 8, "phyllosticta-leaf-spot": 20, "phytophthora-rot": 88,
            "powdery-mildew": 20, "purple-seed-stain": 20, "rhizoctonia-root-rot": 20,
        },
    ),
    "dermatology": Source(
        addresses=(f"{_UCI}/33/dermatology.zip",),
        format="dermatology",
        licence=_CC_BY,
        rows=366,
        columns=34,
        class_counts={"1": 112, "2": 61, "3": 72, "4": 49, "5": 52, "6": 20},
    ),
}
"""By name of the benchmark; NSL-KDD has none, and digits needs none."""
# fmt: on
