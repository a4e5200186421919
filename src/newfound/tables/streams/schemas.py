"""Files of one table that were not written alike: their columns are converted where nothing is lost by it."""

from __future__ import annotations

import re
from typing import Any

from newfound.errors import TABLE, InputError, Message
from newfound.extras import load_extra

_INDEX = re.compile(r"__index_level_\d+__")  # how pandas stores the numbers of its rows
_PURPOSE = "A table that is read batch by batch"


def own_columns(schema: Any, place: object) -> Any:
    """Return the schema of a file or batch in terms that do not depend on which of its cells happen to be there.

    Any cell may be missing, categories that are texts are texts, and other dictionaries have room for more. What pandas
    adds, the numbers of rows and facts about itself, is left out.

    Parameters
    ----------
    schema : pyarrow.Schema
    place : object
        Where it was found, for messages.
    """
    arrow = load_extra("pyarrow", _PURPOSE)
    fields = [arrow.field(field.name, _plain(field.type)) for field in schema if not _INDEX.fullmatch(field.name)]
    names = [field.name for field in fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(Message(TABLE, f" has two columns {twice!r} in {place}. Give each column a name of its own."))
    return arrow.schema(fields)


def common_schema(first: Any, other: Any, places: tuple[object, object]) -> Any:
    """Return the schema to which rows of two others can be converted.

    A month in which a cell is missing has fractions where others have whole numbers; one without any value has no type
    at all. Columns may stand in another order.

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
    arrow = load_extra("pyarrow", _PURPOSE)
    here, there = ({field.name: field.type for field in schema} for schema in (first, other))
    fields = []
    for name in dict.fromkeys([*here, *there]):
        kinds = [types.get(name) for types in (here, there)]
        try:
            if None in kinds:
                raise arrow.ArrowTypeError("is in one of them only")
            pair = [arrow.schema([(name, kind)]) for kind in kinds]
            fields.extend(arrow.unify_schemas(pair, promote_options="permissive"))
        except (arrow.ArrowTypeError, arrow.ArrowInvalid) as error:
            types = [kind or "missing" for kind in kinds]
            what = f"{places[1]} differs, column {name!r} is {types[1]} there and {types[0]} in {places[0]}"
            told = Message(TABLE, f" has files with different columns: {what}. Make them alike, or leave it out.")
            raise InputError(told, cure="make the files alike") from error
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
        if table.schema.field(place) != field:
            try:
                column = table.column(place).cast(field.type)
            except arrow.ArrowException as error:
                told = f" has files with different types of column {field.name!r}, of which {field.type} holds all but "
                reason = " ".join(str(error).split())[:200]
                raise InputError(Message(TABLE, f"{told}some values ({reason}). Make them alike.")) from error
            table = table.set_column(place, field, column)
    return table


def nested_columns(schema: Any) -> list[str]:
    """Names of the columns that hold lists or structures."""
    types = load_extra("pyarrow.types", _PURPOSE)
    return [field.name for field in schema if types.is_nested(field.type)]


def _plain(kind: Any) -> Any:
    """Return the type of the texts of a dictionary, a dictionary with room for more, or any other type as it is."""
    arrow, types = load_extra("pyarrow", _PURPOSE), load_extra("pyarrow.types", _PURPOSE)
    if not types.is_dictionary(kind):
        return kind
    is_text = types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    return kind.value_type if is_text else arrow.dictionary(arrow.int32(), kind.value_type)
