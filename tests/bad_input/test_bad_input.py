"""What users may really pass by mistake raises an error that names the argument or the file.

A table is a file ``bad_….py``: what it is about, and rows of a call, the class of the error, and text of its message.
"""

import importlib
import re
from pathlib import Path

import pytest
from bad_material import PLACE

ROOT = Path(__file__).resolve().parents[2]
TABLES = [importlib.import_module(path.stem).TABLE for path in sorted(Path(__file__).parent.glob("bad_*.py"))
          if path.stem != "bad_material"]  # fmt: skip

#: Parts of messages of Python and NumPy when an argument was not checked.
FROM_INSIDE = (
    "NoneType", "object is not subscriptable", "object is not iterable", "cannot unpack", "unhashable",
    "could not convert", "setting an array element", "not supported between", "SeedSequence", "has no attribute",
    "cannot be interpreted as an integer", "object is not callable", "zero-size array", "zip() argument",
    "invalid literal", "empty sequence",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory):
    """A folder for the files."""
    PLACE["folder"] = str(tmp_path_factory.mktemp("bad"))


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{about} {number}") for table in TABLES for about, rows in table.items()
            for number, row in enumerate(rows)]
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_bad_input_is_refused_by_a_message_that_names_it(row):
    with pytest.raises(row.error) as caught:
        row.call()
    message = re.sub(re.escape(PLACE["folder"]) + r"/(?:bad-\w+/?)?", "", " ".join(str(caught.value).split()))
    assert caught.type is row.error and row.says in message
    assert not any(words in message for words in FROM_INSIDE)
