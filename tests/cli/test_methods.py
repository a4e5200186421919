from __future__ import annotations

import json
from pathlib import Path

import pytest

from newfound.cli.methods import read_settings
from newfound.errors import InputError


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"method": "kmeans", "settings": ' + '{"a":' * 50_000,
        f'{{"method": "kmeans", "settings": {{"encoder__kinds": {nested(900)}}}}}',
        f'{{"method": "kmeans", "settings": {{"n_init": {nested(5)}}}}}',
        '{"method": "kmeans", "settings": {"n_init": ' + "1" * 5_000 + "}}",
        '{"method": ["kmeans"], "settings": {}}',
        "\0",
        "NaN",
        " " * 2_000_000,
    ],
)
def test_what_tune_never_wrote_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(InputError, match="not such a file"):
        read_settings(tmp_path / "settings.json")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="not such a file"):
        read_settings(Path("/dev/zero"))


def test_lists_and_dicts_of_plain_values_are_settings(tmp_path: Path) -> None:
    settings = {"hidden_layers": [8, 8], "w1": 0.5, "encoder__kinds": {"a": "numeric"}, "dropout": None}
    (tmp_path / "settings.json").write_text(json.dumps({"method": "tabular_ncd", "settings": settings}))
    assert read_settings(tmp_path / "settings.json") == ("tabular_ncd", settings)
