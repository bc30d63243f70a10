"""Compare two builds: byte for byte on one Python and machine, otherwise to a tolerance.

    python -m book.build.compare A B               results and pages of two builds (two _build folders), byte for byte
    python -m book.build.compare A B --tolerance   results only: equal words, numbers to a part in a million

On another Python, processor or C library the last digit of a long sum may differ. Numbers in a text, a table or a
drawing (as SVG; its PNG is left out) may therefore differ by a part in 10⁶, or by 10⁻⁹ near zero; words, and so
statuses, may not. The exit code is 1 if the builds differ by more.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

RELATIVE, ABSOLUTE = 1e-6, 1e-9
#: Numbers in a text, but not digits in a hash or an identifier.
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")


class Difference(NamedTuple):
    """A file in which two builds differ, and how."""

    file: str
    what: str


def files(folder: Path, parts: tuple[str, ...]) -> dict[str, Path]:
    """All files in these folders of a build, by their path in the build."""
    found = (path for part in parts for path in (folder / part).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}


def compare(first: Path, second: Path, *, exact: bool) -> tuple[int, float, list[Difference]]:
    """The number of files compared, the largest difference within the tolerance, and the differences beyond it.

    The difference of two numbers a and b is ``|a - b| / max(|a|, |b|, 10⁻³)``, so that 10⁻⁹ is a part in 10⁶ of zero.
    """
    parts = ("results", "html") if exact else ("results",)
    ours, theirs = files(first, parts), files(second, parts)
    if not ours and not theirs:
        return 0, 0.0, [Difference(", ".join(parts), f"{first} and {second} are both empty")]
    alone = sorted(ours.keys() ^ theirs.keys())
    found = [Difference(name, f"only in {first if name in ours else second}") for name in alone]
    largest = 0.0
    shared = sorted(ours.keys() & theirs.keys())
    for name in shared:
        a, b = ours[name].read_bytes(), theirs[name].read_bytes()
        if a == b or (not exact and name.endswith(".png")):
            continue
        if exact:
            found.append(Difference(name, f"differs at byte {_first_byte(a, b):,} of {len(a):,} and {len(b):,}"))
        else:
            apart, what = _texts(a.decode("utf-8"), b.decode("utf-8"))
            largest = max(largest, apart)
            if what:
                found.append(Difference(name, what))
    return len(shared), largest, found


def _first_byte(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _texts(a: str, b: str) -> tuple[float, str]:
    """The largest difference of numbers within the tolerance, and a description of what else differs, if anything."""
    largest = 0.0
    if _NUMBER.split(a) != _NUMBER.split(b):
        pairs = zip(a.splitlines(), b.splitlines(), strict=False)
        lines = next(((x, y) for x, y in pairs if _NUMBER.split(x) != _NUMBER.split(y)), ("", "a line is missing"))
        return largest, f"other words: {lines[0][:80]!r} and {lines[1][:80]!r}"
    for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True):
        if x == y:
            continue
        if not math.isclose(float(x), float(y), rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return largest, f"{x} and {y}"
        largest = max(largest, abs(float(x) - float(y)) / max(abs(float(x)), abs(float(y)), ABSOLUTE / RELATIVE))
    return largest, ""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path, help="a build: the folder with results/ and html/")
    parser.add_argument("second", type=Path, help="another one")
    parser.add_argument("--tolerance", action="store_true", help="compare only the results, to a tolerance")
    args = parser.parse_args(argv)
    for folder in (args.first, args.second):
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
    number, largest, found = compare(args.first, args.second, exact=not args.tolerance)
    for difference in found:
        print(f"{difference.file}: {difference.what}")
    same = "identical" if not args.tolerance else f"agree; the largest difference of two numbers is {largest:.1e}"
    print(f"{number} files in both; {len(found)} differences" if found else f"{number} files: {same}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
