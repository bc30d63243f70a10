"""Accessibility problems of a page, found by axe."""

from functools import cache
from pathlib import Path

# What looks alike, because the names and classes from the article down to it are the same.
_LOOK = """
const looks = new Map();
const look = e => {
    if (e.localName === 'article') return '';
    if (!looks.has(e)) looks.set(e, `${look(e.parentElement)} ${e.localName}${(e.rowIndex ?? 0) % 2}.`
        + `${e.getAttribute('class') ?? ''} ${e.style?.cssText ?? ''}`);
    return looks.get(e);
};
"""

# Repeats tell axe nothing new, and it looks at each for long: what looks alike is kept three times, a formula eight
# times, and five rows of a table; and what is folded is not seen.
_THIN = f"""() => {{
    const article = document.querySelector('article');
    article.querySelectorAll('details:not([open]) > :not(summary)').forEach(e => e.remove());
    article.querySelectorAll('tbody').forEach(table => [...table.rows].slice(5).forEach(row => row.remove()));
    article.querySelectorAll('math').forEach((formula, i) => {{ if (i >= 8) formula.replaceWith('x'); }});
    {_LOOK}
    for (let pass = 0; pass < 3; pass++) {{  // what is left of a paragraph without its links is like any other
        const seen = {{}};
        for (const e of article.querySelectorAll('p, span, a, code, em, strong')) {{
            if (e.children.length || e.closest('svg')) continue;
            const kind = look(e);
            seen[kind] = (seen[kind] ?? 0) + 1;
            if (seen[kind] > 3) e.localName === 'p' ? e.remove() : e.replaceWith(e.textContent);
        }}
    }}
    article.normalize();
}}"""

# Mark the texts whose contrast is to be measured: one of each look that is not known yet. Return these looks.
_MARK = f"""known => {{
    {_LOOK}
    const seen = new Set(known);
    for (const e of document.querySelectorAll('article, article *')) {{
        const says = [...e.childNodes].some(part => part.nodeType === Node.TEXT_NODE && part.data.trim());
        const kind = says && e.checkVisibility() && look(e);
        if (kind === false || seen.has(kind)) e.removeAttribute('data-new-look');
        else e.dataset.newLook = seen.add(kind).size;
    }}
    return [...seen];
}}"""

_RUN = """async ([place, only]) => {
    if (place === 'article') axe.configure({rules: [{id: 'color-contrast', selector: '[data-new-look]'}]});
    // From a folder it may not fetch the style sheets; and what passes is not listed.
    const options = {preload: false, resultTypes: ['violations']};
    const found = await axe.run(place, only ? {...options, runOnly: {type: 'rule', values: [only]}} : options);
    return found.violations.filter(v => ['critical', 'serious'].includes(v.impact))
        .map(v => `${v.id}: ${v.nodes[0].html.slice(0, 120)}`);
}"""


@cache
def _axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def barriers(page, looks: set[str] | None = None, *, contrast_only: bool = False) -> list[str]:
    """What axe finds serious or critical in the article; the page is thinner afterwards.

    The contrast of a text is measured once for each look: not where `looks` has it from another page of the same
    site in the same colours. The new ones are added. In the dark only the colours differ from those in the light, so
    there `contrast_only` will do.
    """
    looks = set() if looks is None else looks
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    page.evaluate(_THIN)
    looks |= {*page.evaluate(_MARK, [*looks])}
    return page.evaluate(_RUN, ["article", "color-contrast" if contrast_only else None])


def barriers_around(page) -> list[str]:
    """What axe finds around the article of a page that has just been opened."""
    page.evaluate(_axe())
    return page.evaluate(_RUN, [{"exclude": [["article"]]}, None])
