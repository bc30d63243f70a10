"""The still picture of the chapter *An explorer*."""

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
from book.companion.charts.explorer import questions, setting, states, tenths
from book.companion.figures import CORRECTED, EDGE, FEWEST, MATCH, NODE, NONMATCH, PRINTED

#: What the explorer shows, as it is drawn: its name here, and its key in `book.companion.charts.explorer.questions`.
ROWS = [
    ("fewest possible", "least possible", FEWEST),
    ("edge ordering", "edge, exact", EDGE),
    ("its corrected bound", "edge, bound that holds", CORRECTED),
    ("its printed bound", "edge, bound as printed", PRINTED),
    ("node ordering", "node, exact", NODE),
    ("its corrected bound", "node, bound that holds", CORRECTED),
    ("its printed bound", "node, bound as printed", PRINTED),
]


#: The states to which the text leads, as the table calls them.
NAMES = {"start": "first state", "dozen": "citations", "proving": "Dist-2", "hinting": "Dist-1",
         "many": "many clusters", "cora": "cora", "raised": "cora, bar raised"}  # fmt: skip


def settings(records, numbers, near):
    """The settings of the explorer, and the numbers of its first state and of those to which the text leads."""
    citations, cora = cr.datasets.citations(), cr.datasets.cora()
    dozen, real = tenths(citations), tenths(cora)
    equal = {k: f"{records // k}*{k}" for k in numbers}
    first, few, many = equal[numbers[0]], equal[min(numbers)], equal[max(numbers)]
    start = f"model=dist1&epsilon=0.26&clusters={first}"
    links = {
        "dozen": f"model=own&{_heights(dozen['green'], dozen['red'])}&clusters=5,4,3",
        "proving": f"model=dist2&epsilon={near}&clusters={few}",
        "hinting": f"model=dist1&epsilon={near}&clusters={few}",
        "many": f"model=dist2&epsilon={near}&clusters={many}",
        "cora": f"model=cora&clusters={first}",
        # more non-matches look alike
        "raised": f"model=own&{_heights(real['green'], np.add(real['red'], [0.0] * 9 + [0.5]))}&clusters={first}",
    }
    clusters = {f"{k} equal clusters": text for k, text in equal.items()} | {
        "one large cluster": f"{records // 2}, {records // 6}*3",
        "those of the citations": ",".join(map(str, citations.sizes)),
        "those of cora": ",".join(map(str, sorted(np.bincount(cora.labels).tolist())[::-1])),
    }
    return {"start": start, "links": links, "clusters": clusters, "cora": real}, states({"start": start} | links, real)


def _heights(green, red):
    """The heights of both densities, as the explorer has them in its address."""
    return "&".join(f"{name}={','.join(f'{h:.4f}' for h in of)}" for name, of in (("green", green), ("red", red)))


def rounded(shown):
    """The states in whole numbers."""
    numbers = shown[[key for _, key, _ in ROWS]].round().astype(int)
    numbers.columns = ["fewest", "edge", "edge corrected", "edge printed", "node", "node corrected", "node printed"]
    numbers.insert(0, "", shown["state"].map(NAMES))
    return numbers


def state(address):
    """Both densities of the model of a state, and its counts and bounds."""
    model, sizes = setting(address)
    counted = questions(model, sizes)
    fig = plt.figure(figsize=(6.4, 3.2))
    left, right = fig.add_gridspec(1, 2, width_ratios=[1, 1.25])
    ax = fig.add_subplot(left)
    for density, look, label in ((model.green, MATCH, "matches, $f_g$"), (model.red, NONMATCH, "non-matches, $f_r$")):
        ax.stairs([float(height) for height in density.heights], [float(edge) for edge in density.edges], baseline=None,
                  lw=1.8, color=look.color, ls=look.line["linestyle"], label=label)  # fmt: skip
    ax.set(xlabel="similarity", ylabel="density", ylim=(0, None))
    fig.legend(loc="outside upper center", ncols=2)
    ax = fig.add_subplot(right)
    low, high = min(counted[key] for _, key, _ in ROWS) / 1.5, max(counted[key] for _, key, _ in ROWS) * 1.5
    for row, (_, key, look) in enumerate(ROWS):
        ax.plot([low, counted[key]], [row, row], color=look.color, ls="-", lw=1, alpha=0.5)
        ax.plot(counted[key], row, **look.points, ms=7, mew=1.6, mfc="none" if look is CORRECTED else look.color)
        ax.annotate(f"{counted[key]:,.0f}", (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=9.5)
    ticks = [base * 10**power for power in range(8) for base in (1, 3)]
    ax.set(xscale="log", xlim=(low, high), xlabel="questions on average")
    ax.set_xticks([tick for tick in ticks if low <= tick <= high])
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.minorticks_off()
    ax.set_yticks(np.arange(len(ROWS)), [name for name, _, _ in ROWS])
    ax.invert_yaxis()
    return fig
