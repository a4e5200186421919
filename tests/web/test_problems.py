from __future__ import annotations

import pytest

from newfound.errors import Message, Parameter
from newfound.web.problems import told

PLACES = {"/bench/tables/0/table.csv": "my table.csv"}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("rows with '?' are taken as unlabelled.", "Rows with '?' are taken as unlabelled."),
        ("/bench/tables/0/table.csv is empty.", "my table.csv is empty."),
        (Message("use ", Parameter("unlabelled", "novel"), "."), "Use \u201cAll of novel classes\u201d."),
        (Message("add ", Parameter("unlabelled", "none"), "."), "Add \u201cmeans: no label\u201d under Known classes."),
        (Message("use ", Parameter("method", "kmeans or spectral"), "."), "Use K-means or Spectral."),
        (Message("Got ", Parameter("target", "age"), "."), "Got age as the column of the classes."),
        (Message("give ", Parameter("encoding"), "."), "Give the file saved as UTF-8."),
        (Message("Got ", Parameter("epochs", 0), "."), "Got epochs=0."),
    ],
)
def test_messages_speak_of_what_the_pages_show(message: str, words: str) -> None:
    assert told(message, PLACES) == words
