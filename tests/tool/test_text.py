"""Text is compared as people read it, in many scripts."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowder_tool import nearest_pairs
from crowder_tool.text import compared, words

#: Letters of names, of which strangers are made.
LETTERS = {
    "Latin": "abcdeghiklmnorstuv",
    "Han": "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗",
    "Kana": "アイウエオカキクケコサシスセソ",
    "Hangul": "김이박최정강조윤장임한오서신권",
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "Hebrew": "אבגדהוזחטילמנסעפצקרשת",
    "Cyrillic": "абвгдежзийклмнопрстуфхчшя",
    "Greek": "αβγδεζηθικλμνοπρστυφχψω",
    "Thai": "กขคงจชซดตทนบปผพมยรลวสหอ",
    "Hindi": "कखगघचछजझटठडढतथदधनपफबभमयरलवशसह",
}

#: Two ways to write one name, and the name of somebody else.
CASES = [
    ("Latin", "Zoë Straße", "ZOE STRASSE", "Zora Strauß"),
    ("Latin", "ＡＢＣ－１２ mug", "abc-12 mug", "abd-12 mug"),  # full width
    ("Latin", "Łukasz Sørensen", "Lukasz Sorensen", "Lukas Severin"),  # letters that do not decompose
    ("Latin", "İstanbul Isparta", "ISTANBUL ISPARTA", "İzmir Isparta"),
    ("Latin", "Nguyễn Thị Đặng Hòa", "Nguyen Thi Dang Hoa", "Nguyễn Văn Dũng Hải"),  # tones, too, are often left out
    ("Latin", "Müller, Jörg", unicodedata.normalize("NFD", "Müller, Jörg"), "Möller, Jürgen"),
    ("Latin", "O’Brien\u200b\u00ad Co", "O'Brien Co", "O'Bryan Co"),  # punctuation, and what cannot be seen
    ("Han", "李明", "李 明", "李朋"),
    ("Han", "株式会社　山田", "株式会社山田", "株式会社 山本"),
    ("Kana", "ガギグ", "ｶﾞｷﾞｸﾞ", "カキク"),  # half width; without the dots the sounds are others
    ("Kana", "アンナ・スミス", "アンナスミス", "アンナ・シミズ"),
    ("Hangul", "김철수", unicodedata.normalize("NFD", "김철수"), "김철호"),
    ("Hangul", "서울 특별시", "서울특별시", "부산광역시"),  # spaces are often left out
    ("Arabic", "أَحْمَد مُحَمَّد", "احمد محمد", "حامد محمود"),  # vowel signs, hamza
    ("Arabic", "ســـلام علی", "سلام علي", "سالم عالي"),  # tatweel; the Persian letter
    ("Hebrew", "שָׁלוֹם כֹּהֵן", "שלום כהן", "שלמה כהנא"),
    ("Cyrillic", "Королё́в Пётр", "КОРОЛЕВ ПЕТР", "Ковалёв Пётр"),  # stress, and the dots of ё
    ("Cyrillic", "Андрій Їжак", unicodedata.normalize("NFD", "андрій їжак"), "Андріи Іжак"),  # й and ї are letters
    ("Greek", "Ἀθήνα Παπαδόπουλος", "ΑΘΗΝΑ ΠΑΠΑΔΟΠΟΥΛΟΣ", "Αθηνά Παπανδρέου"),
    ("Thai", "สมชาย ใจดี", "สมชายใจดี", "สมชัย จดดา"),  # vowel signs stay
    ("Hindi", "हिन्दी १२", "हिन्दी 12", "हन्द 12"),  # digits; vowel signs stay
]


@pytest.mark.parametrize(("script", "one", "other", "stranger"), CASES)
def test_two_ways_to_write_a_name_are_near_and_another_name_is_not(script, one, other, stranger):
    """Of twenty-three records, the two are the nearest of each other."""
    rng = np.random.default_rng(3)
    others = ["".join(rng.choice([*LETTERS[script], " "], size=len(one))) for _ in range(20)]
    found = nearest_pairs(pd.DataFrame({"name": [one, other, stranger, *others]}), neighbours=2)
    near = {tuple(pair): value for pair, value in zip(found.pairs.tolist(), found.similarity, strict=True)}
    assert near[0, 1] > 0.5 and all(near[0, 1] > value + 0.05 for pair, value in near.items() if pair != (0, 1))
    assert compared(stranger) != compared(one)


@given(st.text())
def test_compared_text_is_compared_as_itself(text):
    once = compared(text)
    assert compared(once) == once and compared(unicodedata.normalize("NFD", text)) == once


@pytest.mark.parametrize("text", ["7", "李", "か", "ك", "ж", "x y"])
def test_the_shortest_texts_have_words(text):
    assert words(compared(text)) == text.split()
