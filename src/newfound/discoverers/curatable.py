"""What people do with the novel classes of a fitted discoverer: name, merge and split them, and go on with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from newfound.clustering.centroids import fit_centroids
from newfound.discoverers.curation import Curation, Merge, Split, Step
from newfound.discoverers.naming import carried_names, check_name, part_names, plain
from newfound.discoverers.parameters import check_integer, check_real
from newfound.errors import LABELS, InputError, Message, Parameter, warn_user
from newfound.tables import all_classes, read_labels
from newfound.tables.cells import shown
from newfound.tables.labels import class_array, mark_unlabelled

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

_N_INIT = 10


class Curatable:
    """Part of a discoverer: curation of its novel classes, and labels for the next fit.

    It keeps what the discoverer found apart from what people made of it: ``curation_`` leads from the one to the other.
    A discoverer that has more labels of training rows than ``labels_`` names them in `_class_labels`; numbers for each
    novel class, such as a confidence, in `_class_facts`.
    """

    _class_labels: ClassVar[tuple[str, ...]] = ("labels_",)
    _class_facts: ClassVar[tuple[str, ...]] = ()

    known_classes_: NDArray[Any]
    novel_classes_: NDArray[Any]
    classes_: NDArray[Any]
    labels_: NDArray[Any]
    curation_: Curation

    _used_names: tuple[Any, ...]

    # ---- what the discoverer brings

    predict_proba: Callable[[Any], Floats]
    _encode: Callable[[Any], Floats]
    _curated_proba: Callable[[Floats], Floats]
    _latent: Callable[[Floats], Floats]
    _codes_of: Callable[[NDArray[Any]], NDArray[np.int32]]
    _check_is_fitted: Callable[[], None]

    # ---- what users call

    def rename(self, names: Mapping[Any, Any]) -> Self:
        """Give novel classes other names.

        Parameters
        ----------
        names : dict
            The new name of each class to rename, in the type of the classes. Two classes can swap their names.

        Returns
        -------
        self
            On an error nothing is renamed.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> model = KMeansDiscoverer(1).fit([[0.0], [1.0], [9.0]], ["ant", "ant", None])
        >>> model.rename({"novel_0": "bee"}).predict([[8.0]]).tolist()
        ['bee']
        """
        if not isinstance(names, Mapping):
            raise InputError.of("names", names, "a dict from present to new names")
        novel = self._novel_names()
        for old, new in names.items():
            novel[self._novel_place(old) - len(self.known_classes_)] = check_name(new, self.novel_classes_)
        return self._adopt(novel)

    def merge(self, classes: Iterable[Any], into: Any = None) -> Self:
        """Make one class of several.

        Parameters
        ----------
        classes : list
            At least two classes, of which at most one is a known class: the others are then that class after all.
        into : class name, optional
            Name of the merged class. By default it is that of the known class, or else of the first in the list.

        Returns
        -------
        self
            Probabilities of the merged classes are added from now on. On an error nothing is merged.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> model = KMeansDiscoverer(2, random_state=0).fit([[0.0], [1.0], [9.0], [5.0]], ["ant", "ant", None, None])
        >>> model.merge(["novel_0", "novel_1"], into="bee").classes_.tolist()
        ['ant', 'bee']
        """
        places = self._places_to_merge(classes)
        step = Merge(tuple(sorted(places)))
        names = [self._name(place) for place in range(len(self.classes_)) if place not in step.classes[1:]]
        names[step.classes[0]] = self._merged_name(places, into)
        return self._adopt(names[len(self.known_classes_) :], step)

    def split(self, class_: Any, n: int, X: Any, *, training: bool = False) -> Self:
        """Divide a novel class, by k-means among its rows in the latent space.

        Parameters
        ----------
        class_ : class name
            A novel class.
        n : int
            Number of parts, at least 2. The largest comes first. Parts of "name" are called "name_1", "name_2", ...;
            where classes are numbers, the parts get the next free ones.
        X : table of shape (n_rows, n_columns)
            Rows to learn the parts from: those that are predicted to be of the class.
        training : bool, default=False
            True says that `X` is the table of `fit`, row by row. Its rows of the class are then those that ``labels_``
            names, and ``labels_`` says which part each of them belongs to. Otherwise ``labels_`` names the largest
            part for all of them.

        Returns
        -------
        self
            The probability of the class is divided among its parts from now on. On an error nothing is split.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> X, y = [[0.0], [9.0], [9.5], [5.0]], ["ant", None, None, None]
        >>> model = KMeansDiscoverer(1, random_state=0).fit(X, y)
        >>> model.split("novel_0", 2, X, training=True).labels_.tolist()
        ['ant', 'novel_0_1', 'novel_0_1', 'novel_0_2']
        """
        place = self._novel_place(class_)
        check_integer("n", n, low=2)
        if X is None:
            raise InputError.of("X", None, "a table with rows of the class to split")
        rows = self._encode(X)
        of_class = (self._training_codes(len(rows)) if training else self._curated_codes(rows)) == place
        if not of_class.any():
            problem = f"has no rows of {shown(self._name(place))} to divide"
            raise InputError.about("X", problem, "Pass a table with rows of that class.")
        latent = self._latent(rows[of_class])
        step = _split_of(place, latent, n, self._name(place))
        parts = np.zeros(len(self.labels_), dtype=np.int64)
        if training:
            parts[of_class] = step.shares(latent).argmax(axis=1)
        else:
            self._warn_of_unplaced(class_)
        names = part_names(self._name(place), n, self.known_classes_, self._used_names)
        novel, at = self._novel_names(), place - len(self.known_classes_)
        return self._adopt([*novel[:at], *names, *novel[at + 1 :]], step, parts)

    def keep_names(self, earlier: Any, X: Any) -> Self:
        """Call novel classes as an earlier discoverer does, where they have mostly the same rows.

        Parameters
        ----------
        earlier : discoverer
            Fitted, with classes of the same type.
        X : table of shape (n, n_columns)
            Rows to compare by, such as the table of `fit`. Only those count that this discoverer predicts to be novel.

        Returns
        -------
        self
            A novel class takes the name of an earlier one if the two share at least half of the rows that are in
            either. All others get names that the earlier discoverer never used.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> X, y = [[0.0], [1.0], [9.0], [5.0]], ["ant", "ant", None, None]
        >>> before = KMeansDiscoverer(2, random_state=0).fit(X, y).rename({"novel_0": "bee"})
        >>> KMeansDiscoverer(2, random_state=0).fit(X, y).keep_names(before, X).classes_.tolist()
        ['ant', 'bee', 'novel_1']
        """
        self._check_is_fitted()
        if not hasattr(earlier, "_used_names"):
            raise InputError.of("earlier", earlier, "a fitted discoverer")
        own, others = self.novel_classes_.dtype.kind, earlier.novel_classes_.dtype.kind
        if own != others:
            raise InputError(
                f"Got an earlier discoverer whose classes are such as {shown(plain(earlier.classes_[0]))}, but those "
                f"of this one are such as {shown(plain(self.classes_[0]))}; names are kept among classes of one type."
            )
        codes = self._curated_codes(self._encode(X))
        novel, n_known = codes >= len(self.known_classes_), len(self.known_classes_)
        before = earlier.novel_classes_[:0]
        if len(earlier.novel_classes_) and novel.any():
            before = earlier.predict_novel(X)[novel]
        found, used = codes[novel] - n_known, earlier._used_names
        names = carried_names(before, found, len(self.novel_classes_), self.known_classes_, used).tolist()
        self._adopt(names)
        self._used_names = tuple(dict.fromkeys([*used, *names]))
        return self

    def to_labels(
        self, X: Any, y: Any = None, *, accept: Iterable[Any] | None = None, abstain: float | None = None
    ) -> NDArray[Any]:
        """Labels for the next fit, in which accepted novel classes are known classes.

        Parameters
        ----------
        X : table of shape (n, n_columns)
        y : labels of shape (n,), optional
            Labels that stay as they are; rows without one get the class that is predicted for them.
        accept : list, optional
            Novel classes to accept; all by default. Rows of others stay unlabelled.
        abstain : float, optional
            Rows stay unlabelled, too, if no class has at least this probability.

        Returns
        -------
        ndarray of shape (n,)
            In the type of `y`, or of the classes without one. Unlabelled rows are marked with -1 among integers, with
            NaN among floats, with None among text and booleans. Accepted novel classes turn booleans into integers.

        Examples
        --------
        >>> from newfound import KMeansDiscoverer
        >>> X, y = [[0.0], [1.0], [9.0], [5.0]], ["ant", "ant", None, None]
        >>> model = KMeansDiscoverer(2, random_state=0).fit(X, y).rename({"novel_0": "bee"})
        >>> sorted(model.to_labels(X, y, accept=["bee"]).tolist(), key=str)
        [None, 'ant', 'ant', 'bee']
        """
        proba = self.predict_proba(X)
        n_known = len(self.known_classes_)
        accepted = self._accepted(accept)
        pool = all_classes(self.known_classes_, self.novel_classes_[accepted - n_known])
        places = np.full(len(self.classes_), -1)
        places[np.concatenate([np.arange(n_known), accepted])] = np.arange(len(pool))
        codes = places[proba.argmax(axis=1)]
        if abstain is not None:
            codes[proba.max(axis=1) < check_real("abstain", abstain, low=0, high=1)] = -1
        given = read_labels(y, len(proba))
        own, pool = _of_one_type(given.known_classes, pool if len(pool) else self.classes_[:0])
        codes = np.where(given.labelled, given.codes, np.where(codes < 0, -1, len(own) + codes))
        classes = np.concatenate([own, pool, self.classes_[:1].astype(pool.dtype)])  # the last stands for no class
        return mark_unlabelled(classes[codes], codes < 0)

    # ---- inside

    def _adopt(self, novel_names: list[Any], step: Step | None = None, parts: Codes | None = None) -> Self:
        """Take a step and new names of the novel classes, all at once."""
        self._check_unique(novel_names)
        novel = class_array(novel_names, self.novel_classes_)
        classes = all_classes(self.known_classes_, novel)
        changed: dict[str, Any] = {"novel_classes_": novel, "classes_": classes}
        for name in self._class_labels:
            codes = self._codes_of(getattr(self, name)).astype(np.int64)
            changed[name] = classes[codes if step is None else step.codes(codes, parts)]
        if step is not None:
            changed |= {name: self._facts_after(step, getattr(self, name)) for name in self._class_facts}
            changed["curation_"] = self.curation_.then(step)
        changed["_used_names"] = tuple(dict.fromkeys([*self._used_names, *novel_names]))
        vars(self).update(changed)
        return self

    def _facts_after(self, step: Step, numbers: Floats) -> Floats:
        n_known = len(self.known_classes_)
        sizes = np.bincount(self._codes_of(self.labels_), minlength=len(self.classes_))
        return step.facts(np.concatenate([np.zeros(n_known), numbers]), sizes)[n_known:]

    def _check_unique(self, novel_names: list[Any]) -> None:
        taken = set(self.known_classes_.tolist())
        for name in novel_names:
            if name in taken:
                raise InputError(
                    f"Got {shown(name)} as the name of a novel class, but a class of that name is there already; "
                    "choose another name, or merge the two classes."
                )
            taken.add(name)

    def _name(self, place: int) -> Any:
        return plain(self.classes_[place])

    def _novel_names(self) -> list[Any]:
        self._check_is_fitted()
        return list(self.novel_classes_.tolist())

    def _place(self, class_: Any) -> int:
        """Place of a class among all classes."""
        self._check_is_fitted()
        for place, name in enumerate(self.classes_.tolist()):
            if isinstance(class_, (str, Real, np.bool_)) and class_ == name:
                return place
        raise InputError(
            f"Got {shown(class_)}, which is none of the classes; novel classes are "
            f"{shown(self.novel_classes_.tolist(), 200)}."
        )

    def _novel_place(self, class_: Any) -> int:
        place = self._place(class_)
        if place < len(self.known_classes_):
            raise InputError(
                f"Got {shown(class_)}, which is a known class, but expected a novel class, one of "
                f"{shown(self.novel_classes_.tolist(), 200)}."
            )
        return place

    def _places_to_merge(self, classes: Iterable[Any]) -> list[int]:
        if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
            raise InputError.of("classes", classes, "a list of at least two classes")
        places = [self._place(name) for name in classes]
        n_known = sum(place < len(self.known_classes_) for place in places)
        if len(set(places)) < len(places) or len(places) < 2 or n_known > 1:
            given = [self._name(place) for place in places]
            raise InputError.of(
                "classes", given, "at least two different classes, of which at most one is a known class"
            )
        return places

    def _merged_name(self, places: list[int], into: Any) -> Any:
        if min(places) >= len(self.known_classes_):
            return self._name(places[0]) if into is None else check_name(into, self.novel_classes_)
        known = self._name(min(places))
        if into is not None and plain(into) != known:
            problem = f"but the known class {shown(known)} among the classes to merge keeps its name"
            raise InputError.of("into", into, problem=problem, cure=Message("leave ", Parameter("into"), " out"))
        return known

    def _accepted(self, accept: Iterable[Any] | None) -> NDArray[np.intp]:
        """Places of the novel classes to accept."""
        if accept is None:
            return np.arange(len(self.known_classes_), len(self.classes_))
        if isinstance(accept, (str, bytes)) or not isinstance(accept, Iterable):
            raise InputError.of("accept", accept, "a list of novel classes, or None for all")
        return np.array(sorted({self._novel_place(name) for name in accept}), dtype=np.intp)

    def _training_codes(self, n_rows: int) -> NDArray[np.int32]:
        """Places of the training rows' classes, for a table of so many rows that is said to be that of `fit`."""
        if n_rows != len(self.labels_):
            raise InputError(
                Message(
                    "Got ",
                    Parameter("training", True),
                    f" with a table of {n_rows} rows, but that of fit had {len(self.labels_)}; pass the table of fit, "
                    "or leave ",
                    Parameter("training"),
                    " out.",
                )
            )
        return self._codes_of(self.labels_)

    def _curated_codes(self, rows: Floats) -> NDArray[np.intp]:
        """Places of the classes that are predicted for encoded rows (n, d)."""
        codes: NDArray[np.intp] = self._curated_proba(rows).argmax(axis=1)
        return codes

    def _warn_of_unplaced(self, class_: Any) -> None:
        n_rows = int((self.labels_ == class_).sum())
        if n_rows:
            warn_user(
                Message(
                    f"The {n_rows} training rows of {shown(plain(class_))} all count to its largest part. To have each "
                    "placed in its own part, pass the table of fit, with ",
                    Parameter("training", True),
                    ".",
                )
            )


def _split_of(place: int, latent: Floats, n: int, name: Any) -> Split:
    """Split a class by k-means on its latent rows (m, n_latent)."""
    n_different = len(np.unique(latent, axis=0))
    if n_different < n:
        problem = f"but there are {n_different} different rows of {shown(name)} to divide"
        cure = "ask for fewer parts, or pass a table with more rows of that class"
        raise InputError.of("n", n, problem=problem, cure=cure)
    nobody = np.full(len(latent), -1)
    # A seed of its own: the same rows give the same parts.
    centroids, variance = fit_centroids(latent, nobody, n, _N_INIT, np.random.RandomState(0))
    return Split(place, centroids, variance)


def _of_one_type(own: NDArray[Any], predicted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bring the classes in y and those to predict to one type, that of y where it can be."""
    if not len(own):
        return predicted[:0], predicted
    kinds = {own.dtype.kind, predicted.dtype.kind}
    if kinds == {"i", "f"}:
        return own, predicted.astype(own.dtype)
    if len(kinds) > 1 and kinds != {"b", "i"}:
        raise labels_of_another_type(own, predicted)
    return own, predicted


def labels_of_another_type(given: NDArray[Any], classes: NDArray[Any]) -> InputError:
    """Make the error for labels that cannot be compared with the classes of a discoverer."""
    cure = "pass labels of the type that was fitted"
    ours, theirs = shown(plain(given[0])), shown(plain(classes[0]))
    such = f" with labels such as {ours}, but the classes are such as {theirs}; "
    return InputError(Message("Got ", LABELS, such, cure, "."), cure=cure)
