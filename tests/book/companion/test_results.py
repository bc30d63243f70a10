"""Results as JSON and as text."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from book.companion import results


def test_a_record_is_json_that_people_can_read():
    """Numbers of NumPy are numbers there, what JSON does not know is text, and letters stay letters."""
    record = {"ε": np.float64(0.5), "n": np.int64(3), "w": np.array([1, 2]), "q": Fraction(1, 3), "at": Path("a") / "b"}
    text = results.as_json(record).decode()
    assert json.loads(text) == {"ε": 0.5, "n": 3, "w": [1, 2], "q": "1/3", "at": "a/b"}
    assert text.startswith('{\n  "ε"') and text.endswith("}\n")
