"""Reading measurements."""

import pytest

from book.companion.measured import read


def test_without_the_files_it_says_how_to_get_them(tmp_path):
    with pytest.raises(FileNotFoundError, match="make bench"):
        read("orderings", tmp_path)
