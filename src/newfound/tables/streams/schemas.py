"""Files of one table that were not written alike: their columns are converted where nothing is lost by it."""

from __future__ import annotations

import re
from typing import Any

from newfound.errors import TABLE, InputError, Message
from newfound.extras import load_extra

_INDEX = re.compile(r"__index_level_\d+__")  # how pandas stores the numbers of its rows
_PURPOSE = "A table that is read batch by batch"


def own_columns(schema: Any) -> Any:
    """Return a schema without the numbers of rows that pandas adds, and without what it tells of itself."""
    arrow = load_extra("pyarrow", _PURPOSE)
    return arrow.schema([field for field in schema if not _INDEX.fullmatch(field.name)])


def common_schema(first: Any, other: Any, places: tuple[object, object]) -> Any:
    """Return the schema to which rows of two others can be converted.

    A month in which a cell is missing has fractions where others have whole numbers; one without any value has no type
    at all; categories of one program are texts of another. Columns may stand in another order.

    Parameters
    ----------
    first, other : pyarrow.Schema
        As `own_columns` returns them.
    places : tuple of two
        Where they were found, for messages.

    Raises
    ------
    InputError
        If a column is in only one of them, or is of different types that do not go together.
    """
    if first.equals(other):
        return first
    arrow = load_extra("pyarrow", _PURPOSE)
    types = [{field.name: field.type for field in schema} for schema in (first, other)]
    for name in dict.fromkeys([*first.names, *other.names]):
        if not all(name in of_file for of_file in types):
            raise _different(name, types, places)
    fields = []
    for name in first.names:
        pair = [arrow.schema([(name, _plain(of_file[name]))]) for of_file in types]
        if types[0][name] == types[1][name]:
            fields.append(first.field(name).with_nullable(True))
            continue
        try:
            fields.extend(arrow.unify_schemas(pair, promote_options="permissive"))
        except (arrow.ArrowTypeError, arrow.ArrowInvalid) as error:
            raise _different(name, types, places) from error
    return arrow.schema(fields)


def as_in(schema: Any, table: Any) -> Any:
    """Return a pyarrow table with the columns of a schema, converted to its types.

    Raises
    ------
    InputError
        If a cell would not be the same any more, such as a whole number of 17 digits as a fraction.
    """
    arrow = load_extra("pyarrow", _PURPOSE)
    table = table.select(schema.names)
    for place, field in enumerate(schema):
        if table.schema.field(place).type != field.type:
            try:
                column = table.column(place).cast(field.type)
            except arrow.ArrowException as error:
                told = f" has files with different types of column {field.name!r}, of which {field.type} holds all but "
                reason = " ".join(str(error).split())[:200]
                raise InputError(Message(TABLE, f"{told}some values ({reason}). Make them alike.")) from error
            table = table.set_column(place, field, column)
    return table


def _plain(kind: Any) -> Any:
    """Return the type of the texts of a dictionary, any other type as it is."""
    types = load_extra("pyarrow.types", _PURPOSE)
    is_texts = types.is_dictionary(kind) and (
        types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    )
    return kind.value_type if is_texts else kind


def _different(name: str, types: list[dict[str, Any]], places: tuple[object, object]) -> InputError:
    here, there = (of_file.get(name, "missing") for of_file in types)
    what = f"{places[1]} differs, column {name!r} is {there} there and {here} in {places[0]}"
    cure = "make the files alike"
    return InputError(
        Message(TABLE, f" has files with different columns: {what}. Make them alike, or leave it out."), cure=cure
    )
