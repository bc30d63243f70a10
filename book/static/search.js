// Under each hit of a search, the line of the page that has most of the words.
(function () {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // Sphinx would fetch the pages, which a folder does not allow
  const query = new URLSearchParams(location.search).get("q") || "";
  const words = [...new Set(query.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) || [])].filter((word) => word.length > 1);
  // A plural and its singular are one word.
  const stems = words.map((word) => word.replace(/(?<=\p{Letter}{3})(?:es|s)$/u, ""));
  const pattern = new RegExp(`(?<![\\p{Letter}\\p{Number}])(?:${stems.join("|")})\\p{Letter}*`, "giu");

  function best(page, section) {
    const lines = SEARCH_TEXT[page] || [];
    // The words may stand in the title or in code only: then, how it begins.
    let found = (lines.find(([place]) => !section || place === section) || lines[0] || [])[1], most = 0;
    for (const [place, text] of lines) {
      const seen = new Set([...text.matchAll(pattern)].map((hit) => stems.findIndex((stem) => hit[0].toLowerCase().startsWith(stem))));
      const weight = seen.size + (section && place === section ? words.length + 1 : 0); // a statement itself comes first
      if (weight > most) [found, most] = [text, weight];
    }
    return found;
  }

  // About two lines of text around the first word that was found.
  function excerpt(text) {
    const at = text.search(pattern), from = at < 110 ? 0 : text.indexOf(" ", at - 90) + 1;
    const short = text.slice(from, from + 220).replace(from + 220 < text.length ? /\s\S*$/ : "", "");
    return (from ? "… " : "") + short + (from + 220 < text.length ? " …" : "");
  }

  function describe(item) {
    const link = item.querySelector(":scope > a");
    if (!link || !stems.length || item.querySelector(".search-line")) return;
    const [page, section] = link.getAttribute("href").split("#");
    const text = best(page.replace(/\.html$/, ""), section);
    if (!text) return;
    const line = item.appendChild(document.createElement("p"));
    line.className = "search-line";
    const shown = excerpt(text);
    let end = 0;
    for (const hit of shown.matchAll(pattern)) {
      line.append(shown.slice(end, hit.index));
      line.appendChild(document.createElement("mark")).textContent = hit[0];
      end = hit.index + hit[0].length;
    }
    line.append(shown.slice(end));
  }

  new MutationObserver(() => document.querySelectorAll("#search-results li").forEach(describe))
    .observe(document.getElementById("search-results"), { childList: true, subtree: true });
})();
