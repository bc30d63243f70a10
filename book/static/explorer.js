// The explorer: heights of f_g and f_r to drag, and what follows from them, computed in the page by counts.js.
//
// The settings of the page are the JSON of script.explorer-settings, its state is in the address. The still picture of
// the figure remains in print, and where scripts do not run.
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const QUICK = 4, EXACT = 12; // nodes of the quadrature while something moves (four digits), and at rest
  const LIVE = 3e8, MOST = 2e10; // the effort up to which counts follow at once, and beyond which they are refused
  const WIDTH = 330; // of each picture; its texts have their size in pixels if it is shown as wide

  const ROWS = [
    ["fewest", "fewest possible", "fewest", "dash"],
    ["edge", "edge ordering", "edge", "diamond"],
    ["edgeCorrected", "edge: corrected bound", "corrected", "hollow"],
    ["edgePrinted", "edge: printed bound", "printed", "cross"],
    ["node", "node ordering", "node", "circle"],
    ["nodeCorrected", "node: corrected bound", "corrected", "hollow"],
    ["nodePrinted", "node: printed bound", "printed", "cross"],
  ];
  const NAMES = { dist1: "Dist-1", dist2: "Dist-2", uniform: "uniform", cora: "cora" };
  const DENSITIES = { green: ["f_g", "matches"], red: ["f_r", "non-matches"] };

  function make(tag, attributes, parent, text) {
    const made = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  function move(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  }

  const number = (x) => x.toLocaleString("en", { maximumFractionDigits: x < 100 ? 1 : 0 });

  // --- the state, and the address that holds it ------------------------------------------------------------------------

  function model(state, settings) {
    if (state.model === "dist1") return counts.dist1(state.epsilon);
    if (state.model === "dist2") return counts.dist2(state.epsilon);
    if (state.model === "uniform") return counts.uniform();
    if (state.model === "cora") return { edges: counts.tenths, green: settings.cora.green, red: settings.cora.red };
    return { edges: counts.tenths, green: state.green, red: state.red };
  }

  function toAddress(state) {
    const parts = [`model=${state.model}`];
    if (state.model === "dist1" || state.model === "dist2") parts.push(`epsilon=${state.epsilon}`);
    if (state.model === "own") {
      for (const which of ["green", "red"]) {
        parts.push(`${which}=${state[which].map((h) => Number(h.toFixed(4))).join(",")}`);
      }
    }
    return [...parts, `clusters=${state.clusters.replace(/\s+/g, "")}`].join("&");
  }

  // The state that a text such as "model=dist2&epsilon=0.2&clusters=20*12" names, or null.
  function fromAddress(text) {
    const given = new URLSearchParams(text), state = { model: given.get("model"), clusters: given.get("clusters") };
    if (!state.clusters || counts.parseClusters(state.clusters).error) return null;
    if (state.model === "dist1" || state.model === "dist2") {
      state.epsilon = Number(given.get("epsilon"));
      if (!(state.epsilon > 0 && state.epsilon < 0.5)) return null;
    } else if (state.model === "own") {
      for (const which of ["green", "red"]) {
        const heights = (given.get(which) || "").split(",").map(Number);
        const mass = heights.reduce((sum, h) => sum + h, 0) / 10;
        if (heights.length !== 10 || !heights.every((h) => h >= 0) || !(mass > 0)) return null;
        state[which] = heights.map((h) => h / mass);
      }
    } else if (state.model !== "uniform" && state.model !== "cora") return null;
    return { ...state, clusters: state.clusters.replace(/,/g, ", ") };
  }

  // --- one density, with ten bars to drag ------------------------------------------------------------------------------

  function densityPicture(parent, which, changed) {
    const left = 24, bottom = 116, top = 14, step = (WIDTH - left - 6) / 10, [letter, pairs] = DENSITIES[which];
    const heading = make("p", { class: "explorer-heading" }, parent);
    heading.innerHTML = `<i>${letter[0]}<sub>${letter[2]}</sub></i>, similarities of <b>${pairs}</b>`;
    const svg = make("svg:svg", {
      viewBox: `0 0 ${WIDTH} 136`, role: "group", class: `explorer-density ${which}`,
      "aria-label": `Heights of ${letter}, the density of the similarities of ${pairs}, on ten tenths`,
    }, parent);
    const frame = make("svg:g", { "aria-hidden": "true" }, svg);
    const outline = make("svg:path", { class: "outline" }, frame);
    make("svg:path", { class: "axis", d: `M${left} ${bottom}H${WIDTH - 6}` }, frame);
    for (const at of [0, 0.5, 1]) {
      const end = { 0: "start", 0.5: "middle", 1: "end" }[at];
      make("svg:text", { x: left + at * step * 10, y: bottom + 16, "text-anchor": end }, frame, at);
    }
    const ticks = [0.5, 1].map((share) => {
      make("svg:path", { class: "grid", d: `M${left} ${bottom - share * (bottom - top)}H${WIDTH - 6}` }, frame);
      const y = bottom - share * (bottom - top) + 4;
      return [share, make("svg:text", { x: left - 5, y, "text-anchor": "end" }, frame)];
    });
    let heights = [], scale = 2, held = null;

    const bars = counts.tenths.slice(0, 10).map((from, i) => {
      const bar = make("svg:g", {
        role: "slider", class: "bar", tabindex: i ? -1 : 0, "aria-orientation": "vertical", "aria-valuemin": 0,
        "aria-valuemax": 10, "aria-label": `${letter} from ${from} to ${counts.tenths[i + 1]}`,
      }, svg);
      const x = left + i * step;
      make("svg:rect", { class: "column", x, y: 0, width: step, height: bottom }, bar);
      const body = make("svg:rect", { class: "body", x: x + 2, width: step - 4 }, bar);
      const grip = make("svg:rect", { class: "grip", x: x + 4, width: step - 8, height: 6, rx: 3 }, bar);
      const thumb = make("svg:rect", { class: "thumb", x, width: step, height: 44 }, bar); // for a finger
      return { bar, body, grip, thumb };
    });

    function set(i, height) {
      changed(which, counts.reheight(heights, i, Math.round(height * 1000) / 1000), i);
    }

    function draw(shown, exact) {
      heights = shown;
      if (held === null) scale = [2, 4, 10].find((level) => Math.max(...heights) <= level * 1.02) || 10;
      for (const [share, text] of ticks) text.textContent = share * scale;
      const y = (h) => bottom - Math.min(1.06, h / scale) * (bottom - top);
      bars.forEach(({ bar, body, grip, thumb }, i) => {
        move(body, { y: y(heights[i]), height: bottom - y(heights[i]) });
        move(grip, { y: y(heights[i]) - 3 });
        move(thumb, { y: Math.max(0, y(heights[i]) - 22) });
        move(bar, { "aria-valuenow": heights[i].toFixed(2) });
      });
      // Where the density does not step at tenths, the bars are averages; this line is the density.
      const tenths = exact.edges.every((edge) => Math.abs(edge * 10 - Math.round(edge * 10)) < 1e-9);
      const path = exact[which].map((h, s) =>
        `${s ? "L" : "M"}${left + exact.edges[s] * step * 10} ${y(h)}H${left + exact.edges[s + 1] * step * 10}`);
      move(outline, { d: tenths ? "" : path.join("") });
    }

    function pointed(event) {
      const box = svg.getBoundingClientRect();
      const y = (event.clientY - box.top) * 136 / box.height;
      set(held, Math.max(0, (bottom - y) / (bottom - top) * scale));
    }

    svg.addEventListener("pointerdown", (event) => {
      const i = bars.findIndex(({ bar }) => bar.contains(event.target));
      // A finger moves a bar by its thumb only; elsewhere it scrolls the page.
      if (i < 0 || event.button !== 0 || (event.pointerType === "touch" && event.target !== bars[i].thumb)) return;
      held = i;
      focus(i);
      svg.setPointerCapture(event.pointerId);
      if (event.pointerType !== "touch") pointed(event);
      event.preventDefault();
    });
    svg.addEventListener("touchstart", (event) => { // not every browser minds touch-action within a picture
      if (event.target.classList.contains("thumb")) event.preventDefault();
    }, { passive: false });
    svg.addEventListener("pointermove", (event) => { if (held !== null) pointed(event); });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => {
        if (held === null) return;
        held = null;
        changed(which, heights, null);
      });
    }

    function focus(i) {
      bars.forEach(({ bar }, j) => bar.setAttribute("tabindex", i === j ? 0 : -1));
      bars[i].bar.focus({ preventScroll: true });
    }

    svg.addEventListener("keydown", (event) => {
      const i = bars.findIndex(({ bar }) => bar === document.activeElement);
      const by = { ArrowUp: 0.05, ArrowDown: -0.05, PageUp: 0.5, PageDown: -0.5 }[event.key];
      const aside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (i < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (by) set(i, heights[i] + by);
      else if (aside) focus((i + aside + 10) % 10);
      else if (event.key === "Home") set(i, 0);
      else if (event.key === "End") set(i, 10);
      else return;
      event.preventDefault();
    });
    return draw;
  }

  // --- the counts, on a logarithmic scale ------------------------------------------------------------------------------

  const MARKS = {
    dash: "M-1.5 -6h3v12h-3z", diamond: "M0 -5.5L5.5 0L0 5.5L-5.5 0z", hollow: "M0 -5L5 0L0 5L-5 0z",
    circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", cross: "M-4 -4L4 4M-4 4L4 -4",
  };

  function countsPicture(parent) {
    make("p", { class: "explorer-heading" }, parent).innerHTML = "<b>Questions</b>, on average";
    const left = 142, right = 56, row = 21, foot = ROWS.length * row + 6;
    const svg = make("svg:svg", {
      viewBox: `0 0 ${WIDTH} ${foot + 18}`, role: "img", class: "explorer-counts",
      "aria-label": "The counts and bounds on a logarithmic scale; the sentence below says them.",
    }, parent);
    const grid = make("svg:g", {}, svg);
    const lines = ROWS.map(([key, label, look, mark], i) => {
      const y = i * row + 14;
      make("svg:text", { x: 0, y: y + 4, class: key === "edge" || key === "node" ? "strong" : "" }, svg, label);
      return {
        key, y, rule: make("svg:path", { class: `rule ${look}` }, svg),
        mark: make("svg:path", { class: `mark ${look} ${mark}`, d: MARKS[mark] }, svg),
        value: make("svg:text", { x: WIDTH, y: y + 4, "text-anchor": "end", class: "value" }, svg),
      };
    });
    const nice = (x, up) => {
      const ten = 10 ** Math.floor(Math.log10(x)), steps = [1, 2, 5, 10].map((s) => s * ten);
      return up ? steps.find((s) => s >= x * 0.999) : steps.reverse().find((s) => s <= x * 1.001);
    };
    return function draw(found) {
      const values = lines.map(({ key }) => Math.max(1, found[key]));
      const low = nice(Math.min(...values) * 0.9, false), high = nice(Math.max(...values, low * 2), true);
      const x = (v) => left + 6 + Math.log(Math.max(low, v) / low) / Math.log(high / low) * (WIDTH - left - right - 16);
      grid.replaceChildren();
      for (const [v, anchor] of [[low, "start"], [high, "end"]]) {
        make("svg:path", { class: "grid", d: `M${x(v)} 2V${foot}` }, grid);
        make("svg:text", { x: x(v) + (anchor === "end" ? 8 : -6), y: foot + 14, "text-anchor": anchor }, grid, number(v));
      }
      lines.forEach(({ key, y, rule, mark, value }) => {
        move(rule, { d: `M${x(found.fewest)} ${y}H${x(found[key])}` });
        move(mark, { transform: `translate(${x(found[key])} ${y})` });
        value.textContent = number(found[key]);
      });
    };
  }

  // --- L(t), both axes logarithmic -------------------------------------------------------------------------------------

  function integralPicture(parent) {
    const heading = make("p", { class: "explorer-heading" }, parent);
    const left = 34, bottom = 88, floor = 1e-6;
    const svg = make("svg:svg", {
      viewBox: `0 0 ${WIDTH} 108`, role: "img", class: "explorer-integral",
      "aria-label": "L(t) against t, both on logarithmic scales, with that of uniform similarities for comparison.",
    }, parent);
    const grid = make("svg:g", {}, svg);
    const plain = make("svg:path", { class: "plain" }, svg), line = make("svg:path", { class: "line" }, svg);
    const y = (value) => 6 + Math.log(Math.max(floor, value)) / Math.log(floor) * (bottom - 6);
    return function draw(exact, n) {
      const last = Math.max(10, 10 ** Math.ceil(Math.log10(n)));
      const x = (t) => left + Math.log(t) / Math.log(last) * (WIDTH - left - 14);
      grid.replaceChildren();
      make("svg:path", { class: "axis", d: `M${left} 4V${bottom}H${WIDTH - 6}` }, grid);
      for (const value of [1, 1e-3, 1e-6]) {
        const said = { 1: "1", 0.001: "10⁻³", 0.000001: "10⁻⁶" }[value];
        make("svg:text", { x: left - 5, y: y(value) + 4, "text-anchor": "end" }, grid, said);
      }
      for (let t = 1; t <= last; t *= 10) {
        const said = t === 1 ? "t = 1" : number(t), anchor = t === last ? "end" : t === 1 ? "start" : "middle";
        make("svg:text", { x: x(t), y: bottom + 15, "text-anchor": anchor }, grid, said);
      }
      const path = (f) => {
        const points = [];
        for (let i = 0; i <= 48; i++) {
          const t = last ** (i / 48), value = f(t);
          points.push(`${x(t).toFixed(1)} ${y(value).toFixed(1)}`);
          if (value < floor) break;
        }
        return `M${points.join("L")}`;
      };
      move(plain, { d: path((t) => 1 / (t + 1)) });
      move(line, { d: path((t) => counts.L(exact, t)) });
      const said = [1, 10].map((t) => `<i>L</i>(${t}) = ${Number(counts.L(exact, t).toPrecision(2))}`);
      heading.innerHTML = `<b>${said.join("</b>, <b>")}</b>; dotted: uniform`;
    };
  }

  // --- all of it -------------------------------------------------------------------------------------------------------

  function start(settings) {
    const figure = document.getElementById(settings.figure), still = figure.querySelector("img");
    const box = make("div", { class: "explorer", role: "group", "aria-label": "Explorer of expected numbers of questions" });
    let state = fromAddress(location.hash.slice(1)) || fromAddress(settings.start), timer = null, waiting = false;

    const top = make("div", { class: "explorer-controls" }, box);
    const presets = make("div", { class: "explorer-presets", role: "group", "aria-label": "Similarities" }, top);
    for (const [name, label] of Object.entries(NAMES)) {
      const button = make("button", { type: "button", "data-model": name }, presets, label);
      button.addEventListener("click", () => {
        state = { ...state, model: name, epsilon: state.epsilon || 0.26 };
        update();
      });
    }
    const sliding = make("label", { class: "explorer-epsilon" }, top, "ε ");
    const slider = make("input", { type: "range", min: 0.02, max: 0.48, step: 0.02, "aria-label": "ε" }, sliding);
    const epsilon = make("output", {}, sliding);
    slider.addEventListener("input", () => {
      state = { ...state, epsilon: Number(slider.value) };
      update(true);
    });

    const second = make("div", { class: "explorer-controls" }, box);
    const typing = make("label", { class: "explorer-clusters" }, second, "Clusters ");
    const field = make("input", {
      type: "text", spellcheck: "false", autocomplete: "off", "aria-describedby": "explorer-said",
    }, typing);
    const some = make("select", { "aria-label": "Examples of clusters" }, second);
    make("option", { value: "" }, some, "examples");
    for (const [label, text] of Object.entries(settings.clusters)) make("option", { value: text }, some, label);
    some.addEventListener("change", () => {
      if (!some.value) return;
      field.value = some.value;
      some.value = "";
      typed();
    });
    const said = make("span", { id: "explorer-said", class: "explorer-said", "aria-live": "polite" }, second);
    field.addEventListener("input", typed);
    function typed() {
      const { error, sizes } = counts.parseClusters(field.value);
      const heavy = !error && counts.effort(model(state, settings), sizes, EXACT) > MOST;
      const wrong = error || (heavy ? "So many large clusters of different sizes take too long in a page." : "");
      field.toggleAttribute("aria-invalid", Boolean(wrong));
      if (wrong) {
        said.textContent = `${wrong} Shown are still ${many(counts.parseClusters(state.clusters).sizes)}.`;
        said.classList.add("wrong");
        return;
      }
      state = { ...state, clusters: counts.clustersText(sizes) };
      update(true);
    }

    const columns = make("div", { class: "explorer-columns" }, box);
    const first = make("div", {}, columns), last = make("div", {}, columns);
    const dragged = (which, heights, at) => {
      if (at !== null) {
        const { green, red } = counts.onTenths(model(state, settings));
        state = { ...state, model: "own", green, red, [which]: heights };
      }
      update(at !== null);
    };
    const drawDensity = { green: densityPicture(first, "green", dragged), red: densityPicture(first, "red", dragged) };
    const drawCounts = countsPicture(last), drawIntegral = integralPicture(last);

    const end = make("div", { class: "explorer-controls explorer-end" }, box);
    const distance = make("span", { class: "explorer-distance" }, end);
    const copy = make("button", { type: "button" }, end, "Copy link");
    const reset = make("button", { type: "button" }, end, "Reset");
    const words = make("p", { class: "explorer-words", "aria-live": "polite" }, box);
    copy.addEventListener("click", async () => {
      const link = `${location.href.split("#")[0]}#${toAddress(state)}`;
      try {
        await navigator.clipboard.writeText(link);
        copy.textContent = "Copied";
      } catch {
        copy.textContent = "It is in the address bar";
      }
      setTimeout(() => { copy.textContent = "Copy link"; }, 2000);
    });
    reset.addEventListener("click", () => set(settings.start));

    function many(list) {
      const c = counts.clustering(list), k = counts.clusters(c);
      return `${number(counts.records(c))} records in ${number(k)} cluster${k === 1 ? "" : "s"}`;
    }

    function sizes() {
      return counts.parseClusters(state.clusters).sizes;
    }

    function count(nodes) {
      const exact = model(state, settings), found = counts.questions(exact, sizes(), nodes);
      drawCounts(found);
      box.classList.remove("waiting");
      box.dataset.nodes = nodes;
      return found;
    }

    // Draws everything. While something moves, with few nodes, or, if that takes too long, when it has stopped.
    function update(moving = false) {
      const exact = model(state, settings), { green, red } = counts.onTenths(exact), list = sizes();
      drawDensity.green(green, exact);
      drawDensity.red(red, exact);
      drawIntegral(exact, counts.records(counts.clustering(list)));
      distance.innerHTML = `Hellinger distance <b>${Math.sqrt(counts.hellinger2(exact)).toFixed(3)}</b>`;
      for (const button of presets.children) button.setAttribute("aria-pressed", button.dataset.model === state.model);
      const has = state.model === "dist1" || state.model === "dist2";
      slider.disabled = !has;
      if (has) slider.value = state.epsilon;
      epsilon.textContent = has ? state.epsilon.toFixed(2) : "–";
      said.classList.remove("wrong");
      field.removeAttribute("aria-invalid");
      if (document.activeElement !== field) field.value = state.clusters;
      const slow = counts.effort(exact, list, QUICK) > LIVE;
      said.textContent = slow ? `${many(list)}: counted when you pause` : many(list);
      if (slow) {
        box.classList.add("waiting");
        delete box.dataset.nodes;
      } else count(QUICK);
      clearTimeout(timer);
      timer = setTimeout(settle, moving || slow ? 250 : 0);
    }

    // At rest: the exact counts, the sentence and the address.
    function settle() {
      const found = count(EXACT), list = sizes(), which = NAMES[state.model] || "your own densities";
      const value = ["dist1", "dist2"].includes(state.model) ? ` with ε = ${state.epsilon}` : "";
      words.textContent = `${which}${value}, ${many(list)}${state.clusters.length < 40 ? ` (${state.clusters})` : ""}. Edge ordering asks ${number(found.edge)} questions on `
        + `average and node ordering ${number(found.node)}; the fewest possible are ${number(found.fewest)}. Bounds for edge `
        + `ordering: ${number(found.edgePrinted)} as printed, ${number(found.edgeCorrected)} as corrected; for node ordering: `
        + `${number(found.nodePrinted)} and ${number(found.nodeCorrected)}.`;
      if (location.hash.startsWith("#model=") || toAddress(state) !== settings.start) {
        history.replaceState(null, "", `#${toAddress(state)}`);
      }
    }

    function set(address) {
      const wanted = fromAddress(address);
      if (!wanted) return;
      state = wanted;
      field.value = state.clusters;
      update();
    }

    // Links in the text that set the explorer, and another address in the address bar.
    document.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest("a.explorer-set");
      if (link) set(settings.links[link.dataset.set]);
    });
    window.addEventListener("hashchange", () => set(location.hash.slice(1)));
    figure.insertBefore(box, figure.firstChild);
    figure.classList.add("explored");
    still.classList.add("interactive-replaced");
    field.value = state.clusters;
    update();
  }

  const given = document.querySelector("script.explorer-settings");
  try {
    start(JSON.parse(given.textContent));
  } catch (error) {
    document.querySelectorAll("div.explorer").forEach((box) => box.remove());
    document.getElementById(given.dataset.figure).classList.add("unexplored"); // the still picture
    throw error;
  }
})();
