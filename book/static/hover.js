// Pointing at a claim, a theorem, an equation, a figure, a table or a citation, or reaching it by keyboard, shows it.
//
// What is on this page is copied; of other pages, book/sphinx_ext/previews.py has made scripts, which are loaded when
// they are first needed. On a screen that one touches, links are only followed.
(function () {
  const article = document.querySelector("article");
  if (!article) return;
  const SHOWN = ".proof, .claim, .paper-claim, .citation, div.math, figure, table";
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const loaded = new Map(); // page -> promise of its previews
  const arrived = {};
  let box, link, timer;

  window.crowderPreviews = (page, snippets) => (arrived[page] = snippets);

  function load(page) {
    if (!loaded.has(page))
      loaded.set(page, new Promise((done) => {
        const script = document.createElement("script");
        script.src = new URL(`_static/previews/${page.replaceAll("/", "--")}.js`, root).href;
        script.onload = () => done(arrived[page] || {});
        script.onerror = () => done({});
        document.head.append(script);
      }));
    return loaded.get(page);
  }

  // The element that a link leads to, as a copy; nothing if that is a heading or another site.
  async function find(anchor) {
    const url = new URL(anchor.href, location.href);
    const id = decodeURIComponent(url.hash.slice(1));
    if (!id || url.protocol !== location.protocol || url.host !== location.host) return null;
    if (url.pathname === location.pathname) {
      const target = document.getElementById(id);
      return target && target.matches(SHOWN) && !target.contains(anchor) ? target.cloneNode(true) : null;
    }
    const page = decodeURIComponent(url.pathname.slice(root.pathname.length)).replace(/\.html$/, "");
    if (!url.pathname.startsWith(root.pathname) || !/^(notebooks|book\/pages)\//.test(page)) return null;
    const html = (await load(page))[id];
    if (!html) return null;
    const copy = document.createElement("template");
    copy.innerHTML = html;
    copy.content.querySelectorAll("[src]").forEach((image) => (image.src = new URL(image.getAttribute("src"), root).href));
    return copy.content.firstElementChild;
  }

  // A copy has no links, buttons or names of its own; of a claim the statement is shown, and the evidence is not.
  function clean(copy) {
    copy.classList.remove("popout", "toggle", "dropdown", "toggle-hidden");
    copy.querySelectorAll(".claim-statement").forEach((statement) => statement.closest("details")?.replaceWith(statement));
    copy.querySelectorAll("details, script, button, .headerlink, .claim-links").forEach((part) => part.remove());
    copy.querySelectorAll("a").forEach((part) => {
      const words = document.createElement("span");
      words.className = part.className;
      words.append(...part.childNodes);
      part.replaceWith(words);
    });
    [copy, ...copy.querySelectorAll("[id], [tabindex]")].forEach((part) => {
      part.removeAttribute("id");
      part.removeAttribute("tabindex");
    });
    return copy;
  }

  async function show(anchor) {
    const copy = await find(anchor);
    if (!copy || anchor !== link) return;
    if (!box) {
      box = document.createElement("div");
      box.id = "preview";
      box.className = "preview bd-content";
      box.setAttribute("role", "tooltip");
      box.addEventListener("mouseenter", () => clearTimeout(timer));
      box.addEventListener("mouseleave", later);
    }
    box.replaceChildren(clean(copy));
    article.parentElement.append(box);
    anchor.setAttribute("aria-describedby", "preview");
    place(anchor);
  }

  // Below the link, or above where there is more room; never beyond the edge of the window.
  function place(anchor) {
    const at = anchor.getClientRects()[0];
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    const below = at.bottom + height + 12 < innerHeight || at.top < innerHeight / 2;
    box.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8))}px`;
    box.style.top = below ? `${at.bottom + 6}px` : `${Math.max(8, at.top - height - 6)}px`;
    box.style.maxHeight = `${Math.max(120, (below ? innerHeight - at.bottom : at.top) - 14)}px`;
    if (!below) box.style.top = `${Math.max(8, at.top - box.offsetHeight - 6)}px`;
  }

  function hide() {
    clearTimeout(timer);
    link?.removeAttribute("aria-describedby");
    link = null;
    if (box) {
      box.remove();
      box.style.maxHeight = "";
    }
  }
  function later() {
    clearTimeout(timer);
    timer = setTimeout(hide, 200);
  }
  function enter(anchor, delay) {
    clearTimeout(timer);
    if (anchor === link) return;
    hide();
    link = anchor;
    timer = setTimeout(() => show(anchor), delay);
  }
  const anchorOf = (event) => event.target.closest?.('a[href*="#"]:not(.headerlink)');

  if (matchMedia("(hover: hover)").matches) {
    article.addEventListener("mouseover", (event) => anchorOf(event) && enter(anchorOf(event), 250));
    article.addEventListener("mouseout", (event) => anchorOf(event) && later());
  }
  article.addEventListener("focusin", (event) => {
    const anchor = anchorOf(event);
    if (anchor && anchor.matches(":focus-visible")) enter(anchor, 0);
  });
  article.addEventListener("focusout", () => link && later());
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  window.addEventListener("scroll", () => link && !box?.matches(":hover") && hide(), { passive: true });
})();
