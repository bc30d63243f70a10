// Steps through runs of orderings, in place of a still picture: the records on a circle with their settled pairs, the
// number of settled pairs, and a sentence that says what the chart shows. Colours are those of book/companion/charts/stepper.py.
(function () {
  const GREEN = "#009e73", RED = "#d55e00", ORANGE = "#bf8300", INK = "#222222";
  // By 2 * asked + match: width and dashes of a line.
  const LINES = [[RED, 0.8, "2 3"], [GREEN, 1.5, "none"], [RED, 2.4, "7 4"], [GREEN, 3.6, "none"]];
  const LABELS = ["inferred: no match", "inferred: match", "asked: no match", "asked: match"];
  const RUNS = [[ORANGE, "none"], ["#0072b2", "6 3"], [INK, "2 2"], [RED, "8 2 2 2"]];
  const [SIZE, RADIUS, LOW] = [330, 112, 390]; // width; of the circle; where the progress ends

  function html(tag, className, parent) {
    const made = parent.appendChild(document.createElement(tag));
    if (className) made.className = className;
    return made;
  }
  function draw(parent, tag, attributes, text) {
    const made = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const line = (parent, [x1, y1], [x2, y2], [stroke, width, dash], more = {}) =>
    draw(parent, "line", { x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-dasharray": dash, ...more });

  function start(script) {
    const { names, runs } = JSON.parse(script.textContent);
    const figure = document.getElementById(script.dataset.figure);
    const still = figure.querySelector("img");
    const last = Math.max(...Object.values(runs).map((run) => run.words.length)) - 1;

    const box = document.createElement("div");
    box.className = "interactive";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Controls and chart of ${figure.querySelector(".caption-number")?.textContent.trim() || figure.id}`);
    const controls = html("div", "interactive-controls", box);
    const order = html("select", "", labelled("Order"));
    order.name = "ordering";
    Object.keys(runs).forEach((name) => (html("option", "", order).textContent = name));
    const range = labelled("Question");
    const question = html("input", "", range), shown = html("output", "", range);
    Object.assign(question, { type: "range", name: "question", min: 0, max: last, step: 1, value: 0 });
    const buttons = html("div", "interactive-steps", controls);
    for (const [text, by] of [["Back", -1], ["Next", 1]]) {
      const button = html("button", "", buttons);
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => { question.value = +question.value + by; update(); });
    }
    const words = html("p", "interactive-words", box);
    words.setAttribute("aria-live", "polite");
    // A screen reader gets one image, described by the sentence.
    const chart = html("div", "interactive-chart", box);
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", still.alt);
    const svg = draw(chart, "svg", { viewBox: `0 0 ${SIZE} 440`, "aria-hidden": "true", "font-size": 12.5, fill: INK });

    function labelled(text) {
      const label = html("label", "", controls);
      html("span", "", label).textContent = text;
      return label;
    }

    function update() {
      const run = runs[order.value], at = Math.min(+question.value, run.words.length - 1);
      shown.textContent = question.value;
      if (words.textContent !== run.words[at]) words.textContent = run.words[at];
      svg.replaceChildren();
      const place = names.map((_, i) => 2 * Math.PI * i / names.length)
        .map((angle) => [SIZE / 2 + RADIUS * Math.sin(angle), 135 - RADIUS * Math.cos(angle)]);
      const asked = run.pairs.find((pair) => pair[2] === at && pair[3]);
      if (asked) line(svg, place[asked[0]], place[asked[1]], [ORANGE, 13, "none"], { opacity: 0.55, "stroke-linecap": "round" });
      for (const how of [0, 1]) { // what was asked lies above what was inferred
        const group = draw(svg, "g", { class: how ? "asked" : "inferred" });
        run.pairs.filter((pair) => pair[3] === how && pair[2] <= at)
          .forEach((pair) => line(group, place[pair[0]], place[pair[1]], LINES[2 * how + pair[4]]));
      }
      place.forEach(([cx, cy], i) => {
        draw(svg, "circle", { cx, cy, r: 14, fill: run.tints[at][i], stroke: INK, "stroke-width": 1.4 });
        draw(svg, "text", { x: cx, y: cy + 4.5, "text-anchor": "middle" }, names[i]);
      });
      legend([3, 2, 1, 0].map((kind) => [LABELS[kind], LINES[kind]]), 280);
      progress(run, at);
    }

    function legend(entries, top) {
      entries.forEach(([text, look], i) => {
        const [x, y] = [i % 2 ? 175 : 10, top + 18 * Math.floor(i / 2)];
        line(svg, [x, y], [x + 26, y], look);
        draw(svg, "text", { x: x + 32, y: y + 4 }, text);
      });
    }

    function progress(run, at) {
      const most = Math.max(...Object.values(runs).flatMap((other) => other.settled));
      const spot = (q, pairs) => [40 + (SIZE - 55) * q / last, LOW - 65 * pairs / most];
      line(svg, spot(0, 0), spot(last, 0), [INK, 1, "none"]);
      line(svg, spot(0, 0), spot(0, most), [INK, 1, "none"]);
      const texts = [[0, 0, 0], [last, 0, last]].map(([q, pairs, text]) => [...spot(q, pairs), text, "middle", 15]);
      texts.push([...spot(0, most), most, "end", 4], [...spot(last / 2, 0), "questions asked", "middle", 15]);
      texts.forEach(([x, y, text, anchor, down]) =>
        draw(svg, "text", { x: anchor === "end" ? x - 5 : x, y: y + down, "text-anchor": anchor }, text));
      draw(svg, "text", { x: 48, y: LOW - 60 }, "pairs settled");
      Object.values(runs).forEach(({ settled }, i) => {
        const path = settled.map((pairs, q) => (q ? `H${spot(q, pairs)[0]}V${spot(q, pairs)[1]}` : `M${spot(q, pairs)}`));
        const [stroke, dash] = RUNS[i];
        draw(svg, "path", { d: path.join(""), fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash });
      });
      const [cx, cy] = spot(at, run.settled[at]);
      draw(svg, "circle", { cx, cy, r: 5.5, fill: ORANGE, stroke: INK });
      legend(Object.keys(runs).map((name, i) => [name, [RUNS[i][0], 2, RUNS[i][1]]]), LOW + 32);
    }

    [order, question].forEach((control) => control.addEventListener("input", update));
    update();
    figure.insertBefore(box, figure.firstChild);
    still.classList.add("interactive-replaced");
  }

  document.querySelectorAll("script.stepper-settings").forEach(start);
})();
