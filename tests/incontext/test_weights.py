"""The weights that come with the package: what the card says is what is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newfound.errors import ModelFileError
from newfound.incontext import MIXED, weights
from newfound.incontext.look import look
from newfound.incontext.reading import context_of
from newfound.tables import Layout

FOLDER = Path(weights.__file__).parent


def test_the_file_is_small_enough_to_ship() -> None:
    assert (FOLDER / "weights.safetensors").stat().st_size <= 12_000_000


def test_a_changed_byte_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = bytearray((FOLDER / "weights.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "weights.safetensors").write_bytes(content)
    (tmp_path / "weights.json").write_bytes((FOLDER / "weights.json").read_bytes())
    monkeypatch.setattr(weights, "files", lambda _: tmp_path)
    with pytest.raises(ModelFileError, match="changed or are incomplete"):
        weights.load_network.__wrapped__()


def test_a_look_tells_known_rows_from_novel_ones() -> None:
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 40)
    rows = rng.normal(size=(160, 5)) + 6 * rng.normal(size=(4, 5))[classes]
    codes = np.where((classes < 2) & (rng.random(160) < 0.5), classes, -1)
    layout = Layout(tuple("abcde"), np.arange(5), np.zeros(5, dtype=bool))
    context = context_of(rows, layout, codes, MIXED)
    found = look(context, 0, n_views=2)
    free = codes < 0
    assert found.novelty[free & (classes < 2)].mean() < found.novelty[free & (classes >= 2)].mean() - 2
    of_known = free & (classes < 2)
    assert (found.known[of_known].argmax(axis=1) == classes[of_known]).mean() > 0.9
    assert found.embedding.shape[0] == 160
    np.testing.assert_allclose(found.n_novel.sum(), 1.0)
    again = look(context, 0, n_views=2)
    np.testing.assert_array_equal(found.novelty, again.novelty)
