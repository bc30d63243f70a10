"""Text is compared as people read it, in many scripts."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowder_tool import nearest_pairs
from crowder_tool.text import compared, words

#: Two ways to write one name, and the name of somebody else.
CASES = [
    ("Zoë Straße", "ZOE STRASSE", "Zora Strauß"),
    ("ＡＢＣ－１２ mug", "abc-12 mug", "abd-12 mug"),  # full width
    ("Łukasz Sørensen", "Lukasz Sorensen", "Lukas Severin"),  # letters that do not decompose
    ("İstanbul Isparta", "ISTANBUL ISPARTA", "İzmir Isparta"),
    ("Nguyễn Thị Đặng Hòa", "Nguyen Thi Dang Hoa", "Nguyễn Văn Dũng Hải"),  # tones, too, are often left out
    ("Müller, Jörg", unicodedata.normalize("NFD", "Müller, Jörg"), "Möller, Jürgen"),
    ("O’Brien\u200b\u00ad Co", "O'Brien Co", "O'Bryan Co"),  # punctuation, and what cannot be seen
    ("李明", "李 明", "李朋"),
    ("株式会社　山田", "株式会社山田", "株式会社 山本"),
    ("ガギグ", "ｶﾞｷﾞｸﾞ", "カキク"),  # half width; without the dots the sounds are others
    ("アンナ・スミス", "アンナスミス", "アンナ・シミズ"),
    ("김철수", unicodedata.normalize("NFD", "김철수"), "김철호"),
    ("서울 특별시", "서울특별시", "부산광역시"),  # spaces are often left out
    ("أَحْمَد مُحَمَّد", "احمد محمد", "حامد محمود"),  # vowel signs, hamza
    ("ســـلام علی", "سلام علي", "سالم عالي"),  # tatweel; the Persian letter
    ("שָׁלוֹם כֹּהֵן", "שלום כהן", "שלמה כהנא"),
    ("Королё́в Пётр", "КОРОЛЕВ ПЕТР", "Ковалёв Пётр"),  # stress, and the dots of ё
    ("Андрій Їжак", unicodedata.normalize("NFD", "андрій їжак"), "Андріи Іжак"),  # й and ї are letters
    ("Ἀθήνα Παπαδόπουλος", "ΑΘΗΝΑ ΠΑΠΑΔΟΠΟΥΛΟΣ", "Αθηνά Παπανδρέου"),
    ("สมชาย ใจดี", "สมชายใจดี", "สมชัย จดดา"),  # vowel signs stay
    ("हिन्दी १२", "हिन्दी 12", "हन्द 12"),  # digits; vowel signs stay
]


def test_two_ways_to_write_a_name_are_near_and_another_name_is_not():
    """Of all these names, the two are the nearest of each other."""
    found = nearest_pairs(pd.DataFrame({"name": [name for case in CASES for name in case]}), neighbours=3)
    value = np.zeros((found.n, found.n))
    value[tuple(found.pairs.T)] = value[tuple(found.pairs[:, ::-1].T)] = found.similarity
    for one, (name, _, stranger) in zip(range(0, found.n, 3), CASES, strict=True):
        both = value[one, one + 1]
        value[one, one + 1] = value[one + 1, one] = 0.0
        assert both > 0.5 and both > value[[one, one + 1]].max() + 0.05, name
        assert compared(stranger) != compared(name)


@given(st.text())
def test_compared_text_is_compared_as_itself(text):
    once = compared(text)
    assert compared(once) == once and compared(unicodedata.normalize("NFD", text)) == once


@pytest.mark.parametrize("text", ["7", "李", "か", "ك", "ж", "x y"])
def test_the_shortest_texts_have_words(text):
    assert words(compared(text)) == text.split()
