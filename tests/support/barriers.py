"""Accessibility problems of a page, found by axe."""

# Repeats tell axe nothing new, and it looks at each for long. What looks alike, because the names and classes from the
# article down to it are the same, is kept three times, a formula eight times, and five rows of a table; and what is
# folded is not seen.
_THIN = """() => {
    const article = document.querySelector('article');
    article.querySelectorAll('details:not([open]) > :not(summary)').forEach(e => e.remove());
    article.querySelectorAll('tbody').forEach(table => [...table.rows].slice(5).forEach(row => row.remove()));
    article.querySelectorAll('math').forEach((formula, i) => { if (i >= 8) formula.replaceWith('x'); });
    const look = e => e === article ? '' : `${look(e.parentElement)} ${e.localName}.${e.className} ${e.style.cssText}`;
    for (let pass = 0; pass < 3; pass++) {  // what is left of a paragraph without its links is like any other
        const seen = {};
        for (const e of article.querySelectorAll('p, span, a, code, em, strong')) {
            if (e.children.length || e.closest('svg')) continue;
            const kind = look(e);
            seen[kind] = (seen[kind] ?? 0) + 1;
            if (seen[kind] > 3) e.localName === 'p' ? e.remove() : e.replaceWith(e.textContent);
        }
    }
    article.normalize();
}"""


def barriers(page, *, contrast_only: bool = False) -> list[str]:
    """What axe finds serious or critical in the article; the page is thinner afterwards.

    In the dark only the colours differ, so there `contrast_only` will do.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(_THIN)
    # From a folder it may not fetch the style sheets; and what passes is not listed.
    options = {"preload": False, "resultTypes": ["violations"]}
    if contrast_only:
        options["runOnly"] = {"type": "rule", "values": ["color-contrast"]}
    found = Axe().run(page, context="article", options=options).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found if v["impact"] in ("critical", "serious")]
