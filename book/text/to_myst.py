"""Turn an executed notebook into a page with numbered, captioned figures and tables that link to their data.

A chapter passes a figure and its caption to `book.companion.figures.show`, which leaves caption, kind, name and
alternative text in the metadata of the output. Here the output becomes the MyST directive that Sphinx numbers and
cross-references: `_directive` decides how a caption ends, and what surrounds a figure. The output that shows the
caption to readers of the notebook is left out. A recorded claim becomes a box after its cell (see
`book.sphinx_ext.claims`). Folded cells that follow each other become one, whose label says what each draws or checks.
Text and captions become MyST (see `book.text.plain`). The executed notebook itself is not changed.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from book.project import BuildError, number_of
from book.text.plain import FENCE, Page

#: What draws each kind of chart, in place of the figure before it, or in it.
SCRIPTS = {
    "explorer": ("counts.js", "explorer.js"),
    "races": ("races.js",),
    "slider": ("slider.js",),
    "stepper": ("stepper.js",),
}


def to_myst(notebook: dict[str, Any], text: Page, files: str) -> dict[str, Any]:
    """The notebook of a chapter for Sphinx, among whose sources its figures and data are in the folder `files`."""
    page = copy.deepcopy(notebook)
    _join_parameters(page)
    _label_folded_cells(page, number_of(text.path.stem))
    _join_folded_cells(page)
    for cell in page["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = text.myst("".join(cell["source"]))
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if kind_of(output) != "caption"]
        for output in cell.get("outputs", []):
            facts = output.get("metadata", {}).pop("crowder", None)
            if facts and facts["kind"] == "claim":
                output["verdict"] = facts["name"]
            elif facts:
                made = _directive(facts, output["data"], text.path, files)
                output["data"] = {"text/markdown": text.links(made) if facts["kind"] in ("figure", "table") else made}
    page["cells"] = [made for cell in page["cells"] for made in _with_verdicts(cell)]
    return page


def kind_of(output: Mapping[str, Any]) -> str:
    """What an output is for the book, such as "figure" or "caption"; empty if it is nothing but output."""
    return output.get("metadata", {}).get("crowder", {}).get("kind", "")


def check(notebook: Mapping[str, Any]) -> None:
    """Refuse what cannot be on a page: an image without a description, and anything on standard error."""
    for at, cell in enumerate(notebook["cells"], start=1):
        for output in cell.get("outputs", []):
            images = [mime for mime in output.get("data", {}) if mime.startswith("image/")]
            if images and not kind_of(output):
                raise BuildError(f"cell {at} shows an image ({images[0]}) without caption and alt text; "
                                 "pass the figure to book.companion.figures.show")  # fmt: skip
            if output.get("name") == "stderr":
                text = "".join(output["text"]).strip()[:600].replace("\n", "\n      ")
                raise BuildError(f"cell {at} writes to standard error:\n      {text}")


def chart(facts: Mapping[str, str], data: Mapping[str, Any], page: Path, figure: str, more: str = "") -> str:
    """The settings of a chart in place of a figure, and its scripts: run later, they would move what follows."""
    settings = json.loads(data[f"application/vnd.crowder.{facts['kind']}+json"])
    # With "<" escaped, no text in the settings can end the script.
    text = json.dumps(settings, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    head = f'<script type="application/json" class="{facts["kind"]}-settings" data-figure="{figure}"{more}>'
    static = "../" * (len(page.parts) - 1) + "_static"
    return f"{head}{text}</script>" + "".join(f'<script src="{static}/{s}"></script>' for s in SCRIPTS[facts["kind"]])


def _directive(facts: dict[str, str], data: dict[str, Any], page: Path, folder: str) -> str:
    """A figure or table with its caption, its number and a link to its data; or the settings of a chart."""
    kind, name = facts["kind"], facts["name"]
    if kind in ("figure", "table"):
        caption = f"{facts['caption']} {{download}}`data (CSV) <{folder}/{name}.csv>`"
    if kind == "figure":
        alt = json.dumps(facts["alt"], ensure_ascii=False)
        head, options, body = f"figure}} {folder}/{name}.svg", [f":alt: {alt}", ":class: drawn"], caption
    elif kind == "table":
        head, options, body = f"table}} {caption}", [], "".join(data["text/markdown"])
    else:
        return "\n".join([f"{FENCE}{{raw}} html", chart(facts, data, page, name), FENCE])
    return "\n".join([f"{FENCE}{{{head}", f":name: {name}", *options, "", body, FENCE])


def _with_verdicts(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """The cell, and in a cell of their own the boxes of the claims that it checks.

    The boxes are not outputs, because on a wide screen they stand in the margin of the text.
    """
    checked = [output["verdict"] for output in cell.get("outputs", []) if "verdict" in output]
    if not checked:
        return [cell]
    cell["outputs"] = [output for output in cell["outputs"] if "verdict" not in output]
    boxes = {"cell_type": "markdown", "id": f"{cell['id'][:56]}-claims", "metadata": {},
             "source": "\n\n".join(f"{FENCE}{{verdict}} {name}\n{FENCE}" for name in checked)}  # fmt: skip
    return [cell, boxes]


def _join_parameters(page: dict[str, Any]) -> None:
    """Put the values that papermill injected below those of the chapter, so that a page looks the same with any."""
    for cell, injected in list(pairwise(page["cells"])):
        if "injected-parameters" in injected["metadata"].get("tags", []):
            cell["source"] = "\n".join(["".join(cell["source"]), "".join(injected["source"])])
            page["cells"].remove(injected)


def _label_folded_cells(page: dict[str, Any], number: str) -> None:
    """Label each folded cell with its first comment, in which its figures and tables have their numbers."""
    counts = {"figure": 0, "table": 0}
    for cell in page["cells"]:
        shown = []
        for output in cell.get("outputs", []):
            kind = kind_of(output)
            if kind in counts:
                counts[kind] += 1
                shown.append(f"{kind.title()} {number}.{counts[kind]}")
        if _fold(cell):
            label = "".join(cell["source"]).partition("\n")[0].removeprefix("#").strip()
            if shown:  # in place of the word "Figure" or "Table"
                label = f"Code of {', '.join(shown)}: {re.sub('^(Figure|Table)s?: ', '', label)}"
            cell["metadata"]["mystnb"] = {"code_prompt_show": label, "code_prompt_hide": label}


def _fold(cell: dict[str, Any]) -> set[str]:
    """How a cell is folded: without its outputs, with them, or not at all."""
    return {"hide-input", "hide-cell"} & set(cell["metadata"].get("tags", []))


def _join_folded_cells(page: dict[str, Any]) -> None:
    """Make one of the labelled cells that follow each other and are folded alike."""
    for first, cell in reversed([*pairwise(page["cells"])]):
        if _fold(cell) and _fold(first) == _fold(cell):
            first["source"] = "\n\n".join("".join(part["source"]) for part in (first, cell))
            first["outputs"] += cell["outputs"]
            labels = first["metadata"]["mystnb"]
            for way, label in cell["metadata"]["mystnb"].items():
                labels[way] += f" · {label}"
            page["cells"].remove(cell)
