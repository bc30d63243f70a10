"""The explorer's numbers, and the same numbers in the page (book/static/counts.js)."""

from fractions import Fraction

import numpy as np
import pytest

import crowder as cr
from book.companion.charts import explorer
from book.project import ROOT
from crowder.counting.bounds import edge_bound, node_bound
from crowder.models import common_steps

SCRIPT = ROOT / "book" / "static" / "counts.js"
#: The names of the numbers in the page.
IN_PAGE = {
    "edge": "edge, exact", "node": "node, exact",
    "edgePrinted": "edge, bound as printed", "nodePrinted": "node, bound as printed",
    "edgeCorrected": "edge, bound that holds", "nodeCorrected": "node, bound that holds",
    "fewest": "least possible",
}  # fmt: skip


@pytest.mark.parametrize("sizes", [[3, 2], [4, 1, 1]])
def test_each_number_is_the_one_it_is_called(sizes):
    model = cr.dist2(0.2)
    counted = explorer.questions(model, sizes)
    # Compare the exact counts with the same in fractions.
    for name in ("edge", "node"):
        exact = cr.expected_queries_exact(cr.dist2(Fraction(1, 5)), sizes, name)
        assert counted[f"{name}, exact"] == pytest.approx(float(exact), rel=1e-10)
    for name, bound in (("edge", edge_bound), ("node", node_bound)):
        assert counted[f"{name}, bound as printed"] == bound(model, sizes)
        assert counted[f"{name}, bound that holds"] == bound(model, sizes, printed=False) >= counted[f"{name}, exact"]
    n, k = sum(sizes), len(sizes)
    assert counted["least possible"] == n - k + k * (k - 1) / 2 and counted["nk"] == n * k


# --- the same in the page ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_page(browser):
    """Evaluate an expression in a page that has only the script of the formulas."""
    page = browser.new_page()
    page.add_script_tag(path=SCRIPT)
    yield page.evaluate
    page.close()


def heights(rng):
    """Ten random heights with mass one, about a third of them zero."""
    drawn = rng.gamma(0.5, size=10) * (rng.random(10) > 0.3)
    drawn[rng.integers(10)] += 0.1
    return drawn / drawn.mean()


def settings():
    """Models and cluster sizes: the presets with many kinds of clusters, and random ones."""
    rng, clusters = np.random.default_rng(2017), [[1], [1, 1, 1], [20] * 12, [120, 40, 40, 40], [30, 7, 7, 1, 1, 1]]
    presets = [cr.uniform(), *(make(epsilon) for make in (cr.dist1, cr.dist2) for epsilon in (0.02, 0.26, 0.48))]
    found = [(model, sizes) for model in presets for sizes in clusters]
    for largest in (3, 12, 40) * 15:
        sizes = rng.integers(1, largest, size=rng.integers(1, 7), endpoint=True).tolist()
        found.append((cr.SimilarityModel.from_steps(np.linspace(0, 1, 11), heights(rng), heights(rng)), sizes))
    return found


def as_json(model):
    """The model in the form of the page."""
    edges, green, red = common_steps(model.green, model.red)
    return {"edges": edges.tolist(), "green": green.tolist(), "red": red.tolist()}


def test_the_page_computes_what_the_package_computes(in_page):
    """In eighty settings, to eleven digits; with the few nodes of a moving bar, to four."""
    times = [0, 1, 2.5, 7, 60, 4000]
    for model, sizes in settings():
        counted = explorer.questions(model, sizes, nodes=24)
        given = [as_json(model), sizes]
        found = in_page("([m, s]) => counts.questions(m, s)", given)
        moving = in_page("([m, s]) => counts.questions(m, s, 4)", given)
        for key, name in IN_PAGE.items():
            assert found[key] == pytest.approx(counted[name], rel=1e-11, abs=1e-11), (name, given)
            assert moving[key] == pytest.approx(counted[name], rel=1e-4, abs=1e-4), (name, given)
        assert found["hellinger2"] == pytest.approx(model.hellinger2, abs=1e-14)
        values = in_page("([m, ts]) => ts.map(t => counts.L(m, t))", [given[0], times])
        assert values == pytest.approx(cr.L(model, times).tolist(), rel=1e-11, abs=1e-300)


def test_clusters_are_read_as_they_are_typed_and_what_cannot_be_is_explained(in_page):
    for text, sizes in (("50, 30, 20", [50, 30, 20]), (" 3 * 2,1 ;4 5×2", [3, 3, 1, 4, 5, 5]),
                        ("200*2, 100*4", [200] * 2 + [100] * 4)):  # fmt: skip
        assert in_page("text => counts.parseClusters(text)", text) == {"sizes": sizes}
        again = in_page("text => counts.clustersText(counts.parseClusters(text).sizes)", text)
        assert in_page("text => counts.parseClusters(text).sizes", again) == sorted(sizes, reverse=True)
        assert explorer.setting(f"model=uniform&clusters={again}")[1] == sorted(sizes, reverse=True)
    for text, said in (
        ("", "Type the sizes"), ("20*12, abc", "“abc” is neither a size"), ("2.5, 3", "“2.5” is neither"),
        ("0, 3", "start at 1"), ("501", "up to 500 records"), ("1*99999", "up to 5,000 clusters"),
        (", ".join(map(str, range(1, 70))), "60 different sizes"),
    ):  # fmt: skip
        found = in_page("text => counts.parseClusters(text)", text)
        assert list(found) == ["error"] and said in found["error"]
