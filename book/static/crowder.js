// Elements that are too wide for the screen scroll; make them reachable by keyboard.
(function () {
  const PHONE = 576, FITS = 475, LEAST = 0.79; // text of the least size, 14 pixels (book/companion/figures.py), is 11 on a phone

  function mark() {
    document.querySelectorAll("figure > img.drawn").forEach((image) => {
      const wide = innerWidth <= PHONE && image.naturalWidth > FITS;
      image.style.minWidth = wide ? `${LEAST * image.naturalWidth}px` : "";
    });
    const wide = "div.math, p:has(math), .pst-scrollable-table-container, .cell_output .text_html, .bd-article pre, figure:has(.drawn)";
    document.querySelectorAll(wide).forEach((box) => {
      const scrolls = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      box.classList.toggle("scrolls", scrolls);
      if (scrolls) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    });
  }
  // docutils marks the bibliography as a list whose entries are not list items; without the role it is read correctly.
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".citation-list").forEach((list) => list.removeAttribute("role"));
  });
  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true); // what was folded has no width
})();

// On paper, proofs and the rows of the paper are open.
addEventListener("beforeprint", () => {
  document.querySelectorAll(":is(details.proof, .paper-row):not([open])").forEach((fold) => fold.toggleAttribute("open", true));
});
