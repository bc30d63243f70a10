// Elements that are too wide for the screen scroll; make them reachable by keyboard.
(function () {
  function mark() {
    const wide = "div.math, p:has(> math), .pst-scrollable-table-container, .cell_output .text_html";
    document.querySelectorAll(wide).forEach((box) => {
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    });
  }
  // docutils marks the bibliography as a list whose entries are not list items; without the role it is read correctly.
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".citation-list").forEach((list) => list.removeAttribute("role"));
  });
  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
})();

// Pages opened from a folder may not read each other, so search lists its hits without text.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined")
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
