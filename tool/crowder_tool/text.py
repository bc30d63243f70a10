"""Text as people read it: what looks alike, or is commonly written in either way, is compared as equal."""

from __future__ import annotations

import re
import sys
import unicodedata
from itertools import pairwise

__all__ = ["compared", "words", "written"]

#: What is dropped from decomposed text: accents of Latin and Greek; in Cyrillic stress and the dots of ё (but й, ў and
#: ї are letters of their own); Hebrew points; Arabic vowel signs, hamza above or below a letter, and tatweel; and what
#: cannot be seen. The marks of all other scripts, such as the vowels of Thai and Hindi or the two dots of が, are kept.
DROPPED = re.compile(
    "(?<![ИиУуІі])[\u0306\u0308]|[\u0300-\u0305\u0307\u0309-\u0337\u0339-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8"
    "\u06ea-\u06ed\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]"
)

#: Letters that do not decompose, the Persian letters that look like Arabic ones, and punctuation.
REPLACED = str.maketrans(dict(zip("đðħıłøŧ‘’ʼ“”„‐–—−یىک", "ddhilot'''\"\"\"----ييك", strict=True))
                         | {"æ": "ae", "œ": "oe", "þ": "th"})  # fmt: skip

#: Scripts whose words are not separated by spaces: Thai, Lao, Myanmar, Khmer, kana and Han. Those of Korean may be.
UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
)
BETWEEN, BY_CHARACTER = re.compile(f"(?<=[{UNSPACED}]) (?=[{UNSPACED}])"), f"{UNSPACED}ᄀ-ᇿ가-힣"

#: A word is letters, digits and marks, which ``\w`` has not; and its parts by how they are compared.
MARKS = "".join(c for c in map(chr, range(sys.maxunicode // 8)) if unicodedata.category(c)[0] == "M")
WORD = re.compile(rf"\w+(?:[{MARKS}]+\w*)*")
PARTS = re.compile(f"([{BY_CHARACTER}]+)|[^{BY_CHARACTER}]+")


def compared(text: str) -> str:
    """The text as it is compared with others; people are shown what is in the file.

    Unicode's compatible forms (full and half width, ligatures, composed or not), upper and lower case, digits of all
    scripts, accents and the like (`DROPPED`), and white space make no difference; nor do spaces in Chinese or Thai.

    >>> compared("Ｚoë  STRAẞE, ١٢"), compared("李 明") == compared("李明"), compared("か") == compared("が")
    ('zoe strasse, 12', True, False)
    """
    if not text.isascii():
        text = DROPPED.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(REPLACED)
        text = unicodedata.normalize("NFKC", text)
        text = re.sub(r"(?![0-9])\d", lambda digit: str(unicodedata.decimal(digit[0])), text)
        return BETWEEN.sub("", " ".join(text.split()))
    return " ".join(text.lower().split())


def written(text: str) -> str:
    """The text as far as a person would distinguish it from another one: without a difference of upper and lower case,
    of white space or of the bytes that stand for a character, but with accents and the like.

    >>> written("Mu\u0308ller  LTD") == written("Müller Ltd"), written("Muller") == written("Müller")
    (True, False)
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """The words of a compared text; of scripts without spaces, and of Korean, each character and each two in a row.

    >>> words("5 blue mugs"), words("iphone手机")
    (['5', 'blue', 'mugs'], ['iphone', '手', '机', '手机'])
    """
    if text.isascii():
        return WORD.findall(text)
    found = list[str]()
    for part in (part for word in WORD.findall(text) for part in PARTS.finditer(word)):
        run = part[0]
        found += [*run, *map("".join, pairwise(run))] if part[1] else [run]
    return found
