// The page that follows the paper: "?show=refuted" selects rows. Without this script every row is listed.
(function () {
  const rows = [...document.querySelectorAll(".paper-row")];
  const sections = [...document.querySelectorAll("article section section")];
  const links = [...document.querySelectorAll("article .tally a, .paper-choices a")];
  const said = document.querySelector(".paper-shown");
  if (!said) return;
  const AMENDED = [".was-holds-with-a-caveat", ".was-misprint", ".was-slip", ".was-refuted"].join();
  said.setAttribute("role", "status");
  const asked = (url) => new URL(url, location.href).searchParams.get("show") || "";

  function show(kind) {
    const wanted = kind === "amended" ? AMENDED : `.was-${CSS.escape(kind)}`;
    const chosen = (row) => !kind || (row.matches(".paper-own") ? kind === "own" : row.querySelector(wanted));
    rows.forEach((row) => (row.hidden = !chosen(row)));
    sections.forEach((section) => (section.hidden = kind && !section.querySelector(".paper-row:not([hidden])")));
    links.forEach((link) => link.toggleAttribute("aria-current", asked(link.href) === kind));
    const count = rows.filter((row) => !row.hidden).length;
    said.textContent = kind ? ` (${count} of ${rows.length} rows shown)` : "";
  }

  // A claim in the address is shown, whatever was selected; the browser opens its row.
  function follow() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const row = target && target.closest(".paper-row, section");
    if (!row || !row.closest("[hidden]")) return;
    show("");
    target.scrollIntoView();
  }

  links.forEach((link) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.replaceState(null, "", link.href);
    show(asked(link.href));
  }));
  if (asked(location.href)) show(asked(location.href));
  follow();
  addEventListener("hashchange", follow);
})();
