from __future__ import annotations

import inspect
from typing import get_args

from newfound.registry import BUILT_IN
from newfound.tables.schema import KINDS
from newfound.web import schemas
from newfound.web.catalogue import discoverers


def test_knobs_are_parameters_with_their_defaults() -> None:
    offered = {one.method: one for one in discoverers()}
    for one in BUILT_IN:
        parameters = inspect.signature(one.load()).parameters
        found = offered[one.method]
        assert found.needs_labels == one.needs_labels
        assert found.name != one.class_name or one.class_name in ("TabularNCD", "PBN")
        assert found.knobs or one.class_name == "AutoDiscoverer"  # which has nothing to tune
        for knob in found.knobs:
            assert knob.default == parameters[knob.name].default, (one.method, knob.name)
            assert knob.low is not None
            assert knob.high is not None
            assert knob.low <= float(knob.default or 0) <= knob.high


def test_kinds_of_columns_are_those_of_tables() -> None:
    assert get_args(schemas.Kind) == KINDS
