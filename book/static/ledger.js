// The ledger: tabs for the paper's claims, errata and the book's own statements; filters; the address of a row or a view.
//
// "#ledger-c09" opens that row, "#tab=B&status=holds" shows a selection. Without this script every row is listed.
(function () {
  const place = document.querySelector(".ledger-controls");
  const lists = [...document.querySelectorAll(".ledger-list")];
  if (!place || !lists.length) return;
  const panels = lists.map((list) => list.closest("section"));
  const rows = lists.map((list) => [...list.querySelectorAll(".ledger-row")]);
  const FILTERS = ["status", "basis", "weight", "chapter"];
  rows.flat().forEach((row) => {
    const classes = [...row.querySelector(".verdict").classList];
    const named = (kind) => classes.find((name) => name.startsWith(kind))?.slice(kind.length).replaceAll("-", " ") || "none";
    Object.assign(row.dataset, { status: named("status-"), basis: named("basis-") });
  });
  let current = 0;

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    node.append(...children);
    return node;
  }

  // Tabs: the arrow keys, Home and End go from one to the next.
  const tabs = lists.map((list, i) => {
    const words = `${list.dataset.label} (${rows[i].length})`;
    const tab = make("button", { type: "button", role: "tab", id: `tab-${list.dataset.tab}`, "aria-controls": panels[i].id }, words);
    panels[i].setAttribute("role", "tabpanel");
    panels[i].setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => (show(i), remember()));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
    return tab;
  });

  const selects = FILTERS.map((name) => {
    const values = new Set(rows.flat().map((row) => row.dataset[name]));
    const listed = [...values];
    if (name === "chapter") listed.sort();
    const options = listed.map((value) => make("option", { value }, value));
    const select = make("select", { name }, make("option", { value: "" }, "all"), ...options);
    select.addEventListener("change", () => (filter(), remember()));
    return select;
  });
  const count = make("output", { "aria-live": "polite" });
  const all = make("button", { type: "button" }, "Show all");
  all.addEventListener("click", () => {
    selects.forEach((select) => (select.value = ""));
    filter();
    remember();
  });
  const fields = selects.map((select, i) => make("label", {}, FILTERS[i][0].toUpperCase() + FILTERS[i].slice(1), select));
  const list = make("div", { class: "ledger-tabs", role: "tablist", "aria-label": "Kinds of claims" }, ...tabs);
  place.append(
    make("div", { class: "ledger-head" }, list, count),
    make("div", { class: "ledger-filters", role: "group", "aria-label": "Filters" }, ...fields, all),
  );

  function filter() {
    rows.flat().forEach((row) => {
      row.hidden = selects.some((select) => select.value && row.dataset[select.name] !== select.value);
    });
    const shown = rows[current].filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${rows[current].length} shown`;
    all.disabled = selects.every((select) => !select.value);
  }

  function show(i) {
    current = i;
    tabs.forEach((tab, j) => {
      tab.setAttribute("aria-selected", j === i);
      tab.tabIndex = j === i ? 0 : -1;
      panels[j].hidden = j !== i;
    });
    filter();
  }

  function remember() {
    const facts = new URLSearchParams();
    if (current) facts.set("tab", lists[current].dataset.tab);
    selects.forEach((select) => select.value && facts.set(select.name, select.value));
    history.replaceState(null, "", `${facts}` ? `#${facts}` : location.pathname);
  }

  // What the address asks for: a row, a selection, or a heading.
  function follow() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const target = hash && document.getElementById(hash);
    if (target) {
      const i = panels.findIndex((panel) => panel.contains(target));
      if (i < 0) return show(current);
      if (target.hidden) selects.forEach((select) => (select.value = ""));
      show(i);
      if (target.matches(".ledger-row")) target.open = true;
      target.scrollIntoView();
      return;
    }
    const facts = new URLSearchParams(location.hash.slice(1));
    selects.forEach((select) => {
      const value = facts.get(select.name) || "";
      select.value = [...select.options].some((option) => option.value === value) ? value : "";
    });
    show(Math.max(0, lists.findIndex((list) => list.dataset.tab === facts.get("tab"))));
  }

  follow();
  document.documentElement.classList.add("ledger-ready");
  window.addEventListener("hashchange", follow);
})();
