// Whatever is too wide for the screen scrolls inside itself; a reader without a mouse must be able to reach it.
(function () {
  function mark() {
    const wide = "mjx-container[display=true], div.math, .pst-scrollable-table-container, .cell_output .text_html";
    document.querySelectorAll(wide).forEach((box) => {
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    });
  }
  // docutils calls the bibliography a list, but its entries are not list items; a plain group of entries reads well.
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".citation-list").forEach((list) => list.removeAttribute("role"));
  });
  window.addEventListener("load", () => {
    const typeset = window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    Promise.resolve(typeset).then(mark);
  });
  window.addEventListener("resize", mark);
})();

// Opened from a folder, a page may not read another one: search then lists its hits without their text.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined")
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// The index of the search holds titles as TeX; a hit shows them as text.
document.addEventListener("DOMContentLoaded", () => {
  const hits = document.getElementById("search-results");
  if (!hits) return;
  const plain = (_, maths) => maths.replace(/[{}\\]/g, "");
  new MutationObserver(() => {
    for (const link of hits.querySelectorAll("a"))
      if (link.textContent.includes("\\(")) link.textContent = link.textContent.replace(/\\\((.*?)\\\)/g, plain);
  }).observe(hits, { childList: true, subtree: true });
});
