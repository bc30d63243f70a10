// The order and the names of what was found, and excerpts below it. Sphinx's own order of equal scores is that of their
// titles, "1.", "11.", "5."; its excerpts begin with the list of contents, and stop at a place without a text.
"use strict";

(function () {
  const { order, names } = JSON.parse(document.getElementById("searched").textContent);
  const place = new Map(order.map((page, i) => [page, i / 1000])); // less than a point
  Scorer.score = ([page, , , , score]) => score - (place.get(page) ?? 1);

  // One hit for a place, the best; the last in the list is shown first.
  const found = Search._performSearch;
  Search._performSearch = function (query, ...words) {
    const one = query.trim().toLowerCase().replace(/s$/, ""), known = Search._index.indexentries;
    const hits = found.call(this, one in known ? one : query, ...words).reverse();
    const places = new Set(), here = ([page, , anchor]) => page + anchor;
    return hits.filter((hit) => !places.has(here(hit)) && places.add(here(hit))).map(named).reverse();
  };

  // The title of a hit is that of its page, and the number or the term where it leads.
  function named([page, title, anchor, described, ...rest]) {
    const name = !described && names[page]?.[anchor.slice(1)];
    const [whole, part] = title.split(" > ");
    const whose = !name || part?.trim().startsWith(name) ? title : `${whole} > ${name}${part ? ` ${part.trim()}` : ""}`;
    return [page, whose, anchor, described, ...rest];
  }

  const FIRST = 15, LENGTH = 240; // so many hits have one, so many characters long
  // A page that was opened from a folder may not fetch others.
  Object.defineProperty(DOCUMENTATION_OPTIONS, "SHOW_SEARCH_SUMMARY", {
    get: () => location.protocol !== "file:" && Search.output.children.length < FIRST,
  });

  // What a reader of the page sees without a click; a formula that needs its markup is left out.
  function words(element) {
    const unseen = "h1, .headerlink, .viewcode-link, :is(caption, figcaption) a.download, script, style";
    const folded = "details.hide, details > :not(summary), details:not(.paper-row) > summary";
    element.querySelectorAll(`${unseen}, ${folded}`).forEach((part) => part.remove());
    element.querySelectorAll("math").forEach((formula) => {
      if (formula.querySelector("mfrac, msup, msubsup, munder, munderover, mover, msqrt, mtable")) formula.replaceWith("…");
    });
    element.querySelectorAll("p, li, dt, dd, td, th, caption, div, h2, h3, h4, .row-name").forEach((part) => part.append(" "));
    return element.textContent.replace(/\s+/g, " ").trim();
  }

  // Where the most of the words stand close together; of several such places the first.
  function densest(text, keywords) {
    if (!keywords.size) return 0;
    // Sphinx has left only letters, digits and underscores in them.
    const begins = new RegExp(`(?<![\\p{L}\\p{N}])(?:${[...keywords].join("|")})`, "giu");
    const found = [...text.matchAll(begins)];
    let best = 0, most = 0;
    for (const { index } of found) {
      const near = found.filter((other) => other.index >= index && other.index < index + LENGTH / 2);
      const count = new Set(near.map((other) => other[0].toLowerCase())).size;
      if (count > most) [best, most] = [index, count];
    }
    return best;
  }

  Search.makeSearchSummary = function (html, keywords, anchor) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article") ?? page.body;
    let place = anchor ? page.getElementById(decodeURIComponent(anchor.slice(1))) : null;
    if (place && !place.textContent.trim()) place = place.closest("section"); // a label before a heading
    const text = words(place ?? article);
    const around = place ? 0 : Math.max(0, densest(text, keywords) - LENGTH / 3);
    const from = around && text.indexOf(" ", around) + 1, to = text.lastIndexOf(" ", from + LENGTH);
    const summary = document.createElement("p");
    summary.classList.add("context");
    const all = from + LENGTH >= text.length;
    summary.textContent = (from ? "… " : "") + text.slice(from, all ? text.length : to) + (all ? "" : " …");
    return summary;
  };
})();
