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
