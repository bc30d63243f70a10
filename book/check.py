"""Whether the book says, shows and draws what its chapters computed: a line for each difference.

    python -m book.check             the last execution
    python -m book.check 05 A2       these chapters alone, without links and pages
    python -m book.check --accept    let texts and book/data/results have what was computed; git diff shows the changes

A line says ``where: what: the book has …; computed: …``. What the book has are the numbers and links of its texts, the
declared claims, the numbers printed in the paper, recorded results, and ``book/data/results``: of each chapter the
data of its figures and tables, and in ``shown.yml`` what its cells show, assert and draw.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from book.companion.results import as_json
from book.project import ROOT, BuildError
from book.reports import about, ledger, printed
from book.reports.executed import Book
from book.text.chapters import Chapter, read_chapters, read_notebook
from book.text.texts import Texts
from book.text.to_myst import kind_of

HELD = ROOT / "book" / "data" / "results"
RECORDED = ROOT / "book" / "data" / "recorded"
#: Integers are equal; another processor may change the last digits of other numbers, relatively by so much,
WITHIN = 1e-5
#: and what is left where rounding errors cancel: in a text so much, and in a column, relative to its largest number.
ZERO = 1e-12
LEFT = (1e-17, 1e-14)
#: Chapters whose numbers may differ more: of a learned similarity, the training ends elsewhere if last digits differ.
EXCEPTIONS = {"16-your-data": 1e-4}
#: At most so many lines are printed.
MOST = 100

_NUMBER = re.compile(r"(?<![\w.#])-?\d+(?:,\d{3})*(?:\.\d*)?(?:e[-+]?\d+)?")


def line(where: str, what: str, book: object, found: object) -> str:
    return f"{where}: {what}: the book has {book}; computed: {found}"


# --- what a chapter shows -----------------------------------------------------------------------------------------


def shown(folder: Path) -> dict[str, Any]:
    """All that the cells of an executed chapter show, draw and assert, by name, from its folder."""
    parts: dict[str, Any] = {}
    for cell in read_notebook(folder / f"{folder.name}.ipynb")["cells"]:
        if cell["cell_type"] == "code" and (checks := asserted(cell["source"])):
            parts[f"{cell['id']} asserts"] = checks
        for output in cell.get("outputs", ()):
            facts, data = output.get("metadata", {}).get("crowder", {}), output.get("data", {})
            name, kind = facts.get("name", ""), kind_of(output)
            text = "".join(data.get("text/markdown") or data.get("text/plain") or output.get("text", ""))
            if kind == "claim":
                made = _read(folder / "claims" / f"{name}.json")
                each = zip(made["code"], made["compared"], made["evidence"], strict=True)
                pieces = [{"code": code, "compares": forms, "shows": piece["figure"], "at": piece["where"]}
                          for code, forms, piece in each]  # fmt: skip
                parts[name] = {"says": made["says"], "evidence": pieces}  # its verdict is declared in claims.yml
            elif kind in ("figure", "table"):
                made = _read(folder / f"{name}.json")
                parts[name] = {key: made[key] for key in ("caption", "alt", "drawn") if key in made}
                parts[name] |= {"shown": text.splitlines()} if kind == "table" else {}
            elif kind == "slider":
                parts[f"{name} slider"] = _read(folder / "sliders" / f"{name}.json")
            elif kind and kind != "caption":  # a caption stands with its figure
                for own in (json.loads(data[mime]) for mime in data if mime.startswith("application/vnd.crowder.")):
                    parts[f"{name} {kind}"] = {key: json.dumps(each, ensure_ascii=False) for key, each in own.items()}
            elif text.strip() and not kind:
                parts.setdefault(cell["id"], []).extend(text.splitlines())
    for path in sorted((folder / "published").glob("*.json")):
        parts[f"printed {path.stem}"] = {n["name"]: _compared(n) for n in _read(path)["numbers"]}
    return parts


def asserted(source: str) -> list[str]:
    """The assertions in a cell, and the evidence that gets a name there, by which alone its check knows it.

    >>> asserted("found = ev.identity(x - y)\\nassert x == 3")
    ['x == 3', 'found = ev.identity(x - y)']
    """
    nodes = list(ast.walk(ast.parse(source)))
    named = [ast.unparse(n) for n in nodes if isinstance(n, ast.Assign) and ast.unparse(n.value).startswith("ev.")]
    return [ast.unparse(node.test) for node in nodes if isinstance(node, ast.Assert)] + named


def _compared(number: dict[str, Any]) -> str:
    shown = f"{printed.show(number['printed'])} printed, {printed.regenerated(number)} computed"
    return f"{shown}: {printed.agreement(number)}"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts in nested mappings and lists, with the names that lead to them."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value, 1):
            yield from flat(each, f"{name} {key}".strip())
    else:
        yield name, " ".join(str(value).split())


# --- what differs -------------------------------------------------------------------------------------------------


def alike(held: str, found: str, within: float) -> bool:
    """Whether two texts have the same words, the same integers, and other numbers as close as that.

    >>> alike("5 of 0.3333333", "5 of 0.3333334", 1e-5), alike("5 of 0.33", "6 of 0.33", 1e-5)
    (True, False)
    """
    if held == found:
        return True
    numbers = [[n.replace(",", "") for n in _NUMBER.findall(text)] for text in (held, found)]
    return _NUMBER.sub("#", held) == _NUMBER.sub("#", found) and all(
        a == b or (not a.lstrip("-").isdigit() and math.isclose(float(a), float(b), rel_tol=within, abs_tol=ZERO))
        for a, b in zip(*numbers, strict=True)
    )


def cut(held: str, found: str) -> tuple[str, str]:
    """Two texts from shortly before the place where they begin to differ."""
    at = next((i for i, (a, b) in enumerate(zip(held, found, strict=False)) if a != b), min(len(held), len(found)))
    start = max(0, at - 30)
    return tuple(("… " * (start > 0) + text[start : at + 60] or "nothing") for text in (held, found))


def frames(held: pd.DataFrame, found: pd.DataFrame, within: float) -> Iterator[tuple[str, object, object]]:
    """For each column that differs where it does first, and both values."""
    if [*held] != [*found] or len(held) != len(found):
        yield "rows and columns", f"{len(held)} of {[*held]}", f"{len(found)} of {[*found]}"
        return
    for name in held:
        a, b = held[name], found[name]
        if all(pd.api.types.is_numeric_dtype(x) for x in (a, b)) and pd.api.types.is_float_dtype(a):
            low, high = np.array(LEFT) * np.abs(a[np.isfinite(a)].to_numpy()).max(initial=0)
            rounding = [(x == 0) | ((np.abs(x) >= low) & (np.abs(x) <= high)) for x in (a, b)]
            same = np.isclose(b, a, rtol=within, atol=0, equal_nan=True) | np.all(rounding, axis=0)
        else:
            same = (a.map(str) == b.map(str)).to_numpy()
        if not same.all():
            row = int(np.argmin(same))
            yield f"{name}, row {row + 1} ({(~same).sum()} of {len(same)} differ)", a[row], b[row]


def results(folder: Path) -> Iterator[str]:
    """What a chapter, executed in this folder, shows otherwise than book/data/results has it."""
    slug, held = folder.name, HELD / folder.name
    within = EXCEPTIONS.get(slug, WITHIN)
    if not (held / "shown.yml").exists():
        yield line(slug, "shown.yml", "none", "a file")
        return
    was = dict(flat(yaml.load((held / "shown.yml").read_text(encoding="utf-8"), yaml.CSafeLoader)))
    now = dict(flat(shown(folder)))
    for name in was | now:
        texts = was.get(name, ""), now.get(name, "")
        code = re.search(r" asserts \d+$| code$", name)  # in which 1e-12 is not about 1e-13
        if texts[0] != texts[1] if code else not alike(*texts, within):
            yield line(slug, name, *cut(*texts))
    for name in sorted({path.name for at in (held, folder) for path in at.glob("*.csv")}):
        there = [(at / name).exists() for at in (held, folder)]
        if not all(there):
            yield line(slug, name, *("a file" if has else "none" for has in there))
        elif (held / name).read_bytes() != (folder / name).read_bytes():
            for what, a, b in frames(pd.read_csv(held / name), pd.read_csv(folder / name), within):
                yield line(slug, f"{name}, {what}", a, b)


def recorded(folder: Path) -> Iterator[str]:
    """What a chapter computed anew otherwise than book/data/recorded has it."""
    for path in computed(folder):
        made, known = _read(path.with_suffix(".json")), RECORDED / path.name
        if not known.exists():
            yield line(folder.name, f"recorded {path.stem}", "none", "a file")
        elif (was := _read(known.with_suffix(".json"))["parameters"]) != made["parameters"]:
            yield line(folder.name, f"recorded {path.stem}, parameters", was, made["parameters"])
        else:
            for what, a, b in frames(pd.read_csv(known), pd.read_csv(path), made["within"]):
                yield line(folder.name, f"recorded {path.stem}, {what}", a, b)


def computed(folder: Path) -> list[Path]:
    """The tables of results that a chapter computed and did not read."""
    return [
        path for path in sorted((folder / "recorded").glob("*.csv")) if not _read(path.with_suffix(".json"))["read"]
    ]


def judged(entries: Sequence[dict[str, Any]], folders: Sequence[Path]) -> Iterator[str]:
    """Claims that are not found as declared, and printed numbers that should agree and do not."""
    for entry in entries:
        if entry["changed"]:
            found = f"{ledger.status_and_basis(entry)} ({': '.join(filter(None, (entry['what'], entry['figure'])))})"
            yield line(entry["chapter"] or "no chapter", entry["id"], entry["expected"], found)
    for group in printed.read(folders):
        for number in group["numbers"]:
            if printed.agreement(number) == "disagrees":
                what = f"printed {group['group']}, {number['name']} ({group['rule']})"
                yield line(group["chapter"], what, printed.show(number["printed"]), printed.regenerated(number))


# --- the whole book, and a run with parameters --------------------------------------------------------------------


def differences(book: Book) -> Iterator[str]:
    """All differences of a book. Profiles with other parameters have other numbers, but the same claims."""
    folders = [*book.folders.values()]
    yield from judged(book.entries, folders)
    if book.whole:
        yield from (line(slug, "link", said, right) for slug, said, right in book.texts.wrong_links())
    if book.profile == "full":
        yield from (line(*found) for found in book.texts.wrong_numbers(pages=book.whole))
        for folder in folders:
            yield from results(folder)
        for stray in sorted({path.name for path in HELD.iterdir()} - {c.slug for c in read_chapters(ROOT)}):
            yield line(stray, "book/data/results", "a folder", "no such chapter")
    if book.profile in ("full", "complete"):
        for folder in folders:
            yield from recorded(folder)
    if book.profile == "complete" and book.whole:
        made = {path.name for folder in folders for path in computed(folder)}
        for name in sorted({path.name for path in RECORDED.glob("*.csv")} - made):
            yield line("no chapter", f"recorded {name}", "a file", "none")


def accept(book: Book) -> None:
    """Let the sources have what was computed; of the profile complete, the recorded results."""
    for folder in book.folders.values():
        if book.profile == "complete":
            record(folder)
        elif book.profile == "full":
            held = HELD / folder.name
            shutil.rmtree(held, ignore_errors=True)
            held.mkdir(parents=True)
            for path in folder.glob("*.csv"):
                shutil.copy(path, held)
            text = yaml.dump(shown(folder), Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=120)
            (held / "shown.yml").write_text(text, encoding="utf-8")
    if book.profile == "full":
        book.texts.write()


def record(folder: Path) -> None:
    """Record what a chapter computed, with the date and the commit of the sources; what is as recorded stays."""
    sources, today = about.commit(but="book/data/recorded"), datetime.date.today().isoformat()
    for path in computed(folder) if [*recorded(folder)] else ():
        made = _read(path.with_suffix(".json")) | {"chapter": folder.name, "date": today, "commit": sources}
        made.pop("read")
        RECORDED.mkdir(exist_ok=True)
        shutil.copy(path, RECORDED / path.name)
        (RECORDED / f"{path.stem}.json").write_bytes(as_json(made))


def beside(chapters: Sequence[Chapter], out: Path) -> Iterator[str]:
    """What a run with other parameters finds otherwise than the book: claims, printed numbers, text, files of data."""
    folders = [out / chapter.slug for chapter in chapters]
    entries = ledger.judge(ledger.read_declared(ROOT), ledger.read_records(folders), complete=False)
    yield from judged(entries, folders)
    run = Texts(ROOT, dict(zip(chapters, folders, strict=True)), {e["id"]: e["status"] for e in entries})
    yield from (line(*found) for found in run.wrong_numbers(pages=False))
    for folder in folders:
        found = [*results(folder)]
        files = [each for each in found if ".csv" in each]
        yield from files
        if rest := len(found) - len(files):
            yield f"{folder.name}: {rest} more differences in captions, tables, drawings and other output"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m book.check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapters", nargs="*", metavar="NN", help="compare only these (default: the whole book)")
    parser.add_argument("--profile", default=os.environ.get("PROFILE") or "full")
    parser.add_argument("--accept", action="store_true", help="let the sources have what was computed")
    args = parser.parse_args()
    if args.accept and args.chapters:
        parser.error("--accept is for the whole book")
    book = Book(args.profile, args.chapters)
    if args.accept:
        accept(book)
        return 0
    found = list(differences(book))
    more = [f"and {len(found) - MOST} more"] * (len(found) > MOST)
    print(
        "\n".join([*found[:MOST], *more, *["if this is meant: make accept"] * bool(found)]),
        file=sys.stderr,
        end="\n" * bool(found),
    )
    if not found:
        counts = ledger.tally(book.entries).items()
        print(f"claims: {', '.join(ledger.counted(status, count) for status, count in counts)}")
        print(f"printed numbers: {printed.tally(printed.read(book.folders.values()))}")
    return bool(found)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BuildError as error:
        sys.exit(f"error: {error}")
