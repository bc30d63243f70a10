"""Accessibility problems of a page, found by axe."""

# Repeats tell axe nothing new, and it looks at each for long: of every kind of code token the page keeps one, of its
# formulas the first eight (all are set in the letters of one font, in the colour of the text around them), of a table
# five rows; and what is folded is not seen.
_THIN = """() => {
    const seen = new Set();
    for (const token of document.querySelectorAll('article .highlight span[class]')) {
        if (token.children.length) continue;
        const kind = token.closest('.highlight').parentElement.className + ' ' + token.className;
        if (seen.has(kind)) token.replaceWith(token.textContent);
        else seen.add(kind);
    }
    document.querySelectorAll('article .highlight pre').forEach(code => code.normalize());
    document.querySelectorAll('article details:not([open]) > :not(summary)').forEach(e => e.remove());
    document.querySelectorAll('article tbody').forEach(table => [...table.rows].slice(5).forEach(row => row.remove()));
    document.querySelectorAll('article math').forEach((formula, i) => { if (i >= 8) formula.remove(); });
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
