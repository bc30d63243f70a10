// Steps through runs of orderings side by side, in place of a still picture: for each run the records on a circle with
// their settled pairs, the question with the texts of its two records, if they are given, and a sentence that says what
// the circle shows. On the first page it plays by itself once, unless less motion is preferred. Colours are those of
// book/companion/charts/stepper.py.
(function () {
  const GREEN = "#009e73", RED = "#d55e00", INK = "#222222";
  // By 2 * asked + match: width and dashes of a line.
  const LINES = [[RED, 0.8, "2 3"], [GREEN, 1.5, "none"], [RED, 2.4, "7 4"], [GREEN, 3.6, "none"]];
  const LABELS = ["inferred: no match", "inferred: match", "asked: no match", "asked: match"];
  const RUNS = [["#bf8300", "none"], ["#0072b2", "6 3"], [INK, "2 2"], [RED, "8 2 2 2"]];
  const BAND = { opacity: 0.22, "stroke-linecap": "round" }; // of the question that is asked; no ordering has its colour
  const [SIZE, RADIUS] = [260, 108]; // width of a circle's picture; its radius

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
  const picture = (parent, width, height) =>
    draw(parent, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", "font-size": 12.5, fill: INK });

  const script = document.currentScript.previousElementSibling; // the settings
  const { names, runs, texts, at: first } = JSON.parse(script.textContent);
  const PAUSE = texts ? 2000 : 650; // milliseconds for a question
  const figure = document.getElementById(script.dataset.figure);
  const still = figure.querySelector("img");
  const last = Math.max(...Object.values(runs).map((run) => run.words.length)) - 1;
  const place = names.map((_, i) => 2 * Math.PI * i / names.length)
    .map((angle) => [SIZE / 2 + RADIUS * Math.sin(angle), 127 - RADIUS * Math.cos(angle)]);

  const box = document.createElement("div");
  box.className = `interactive stepper${texts ? " stepper-told" : ""}`;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `Controls and chart of ${figure.querySelector(".caption-number")?.textContent.trim() || "both orderings"}`);
  const controls = html("div", "interactive-controls", box);
  const buttons = html("div", "interactive-steps", controls);
  const [play] = [["Play", null], ["Back", -1], ["Next", 1]].map(([text, by]) => {
    const button = html("button", "", buttons);
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => (by ? go(+question.value + by) : timer ? pause() : start()));
    return button;
  });
  const label = html("label", "", controls);
  html("span", "", label).textContent = "Question";
  const question = html("input", "", label), shown = html("output", "", label);
  Object.assign(question, { type: "range", name: "question", min: 0, max: last, step: 1, value: first });
  question.addEventListener("input", () => { pause(); update(); });

  // A screen reader gets one image, described by the sentences.
  const chart = html("div", "interactive-chart", box);
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", still.alt);
  const panels = html("div", "stepper-runs", chart), words = html("div", "interactive-words", box);
  const parts = Object.keys(runs).map((name) => {
    const part = html("div", "", panels);
    html("strong", "", part).textContent = name;
    const made = { name, run: runs[name], count: html("span", "stepper-count", part), svg: picture(part, SIZE, 254) };
    if (texts) made.card = html("div", "stepper-question", part);
    return { ...made, words: html("p", "", words) };
  });
  const key = html("div", "stepper-key", chart);
  [3, 2, 1, 0].forEach((kind) => entry(LABELS[kind], LINES[kind]));
  const wide = picture(chart, 520, 112);

  entry("this question", [INK, 8, "none"], BAND);

  function entry(text, look, more) {
    const part = html("span", "", key);
    line(draw(part, "svg", { viewBox: "0 0 26 8", width: 26, height: 8 }), [2, 4], [24, 4], look, more);
    html("span", "", part).textContent = text;
  }

  let timer = 0;
  function start() {
    if (+question.value === last) go(0);
    timer = setInterval(() => (+question.value < last ? go(+question.value + 1, true) : pause()), PAUSE);
    play.textContent = "Pause";
    words.setAttribute("aria-live", "off");
  }
  function pause() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    words.setAttribute("aria-live", "polite");
  }
  function go(to, playing) {
    if (!playing) pause();
    question.value = to;
    update();
  }

  function update() {
    shown.textContent = question.value;
    parts.forEach((part) => circle(part, Math.min(+question.value, part.run.words.length - 1)));
    progress();
  }

  function circle({ name, run, count, svg, card, words }, at) {
    const sentence = parts.length > 1 ? `${name[0].toUpperCase()}${name.slice(1)}. ${run.words[at]}` : run.words[at];
    if (words.textContent !== sentence) words.textContent = sentence;
    count.textContent = ` ${at} question${at === 1 ? "" : "s"}, ${run.settled[at]} of ${run.pairs.length} pairs settled`;
    svg.replaceChildren();
    const asked = run.pairs.find((pair) => pair[2] === at && pair[3]);
    if (asked) line(svg, place[asked[0]], place[asked[1]], [INK, 13, "none"], BAND);
    if (card) tell(card, run, at);
    for (const how of [0, 1]) { // what was asked lies above what was inferred
      const group = draw(svg, "g", { class: how ? "asked" : "inferred" });
      run.pairs.filter((pair) => pair[3] === how && pair[2] <= at)
        .forEach((pair) => line(group, place[pair[0]], place[pair[1]], LINES[2 * how + pair[4]]));
    }
    place.forEach(([cx, cy], i) => {
      draw(svg, "circle", { cx, cy, r: 14, fill: run.tints[at][i], stroke: INK, "stroke-width": asked?.slice(0, 2).includes(i) ? 3 : 1.4 });
      draw(svg, "text", { x: cx, y: cy + 4.5, "text-anchor": "middle" }, names[i]);
    });
  }

  // The question in full: both texts, tinted as on the circle, and what is asked and answered.
  function tell(card, run, at) {
    card.replaceChildren();
    const asked = run.pairs.find((pair) => pair[2] === at && pair[3]);
    for (const record of asked?.slice(0, 2) ?? []) {
      const row = html("div", "stepper-record", card);
      row.style.background = run.tints[at][record];
      html("b", "", row).textContent = names[record];
      row.append(` ${texts[record]}`);
    }
    html("div", "", card).textContent = run.said[at];
  }
  // As high as the longest question needs: nothing below it moves.
  function fit() {
    parts.filter(({ card }) => card).forEach(({ card, run }) => {
      card.style.minHeight = "";
      const heights = run.words.map((_, at) => { tell(card, run, at); return card.offsetHeight; });
      card.style.minHeight = `${Math.max(...heights)}px`;
    });
    update();
  }

  function progress() {
    const most = Math.max(...parts.flatMap(({ run }) => run.settled));
    const spot = (q, pairs) => [40 + 460 * q / last, 85 - 70 * pairs / most];
    wide.replaceChildren();
    line(wide, spot(0, 0), spot(last, 0), [INK, 1, "none"]);
    line(wide, spot(0, 0), spot(0, most), [INK, 1, "none"]);
    const texts = [[0, 0, 0], [last, 0, last]].map(([q, pairs, text]) => [...spot(q, pairs), text, "middle", 15]);
    texts.push([...spot(0, most), most, "end", 4], [...spot(last / 2, 0), "questions asked", "middle", 15]);
    texts.forEach(([x, y, text, anchor, down]) =>
      draw(wide, "text", { x: anchor === "end" ? x - 5 : x, y: y + down, "text-anchor": anchor }, text));
    draw(wide, "text", { x: 48, y: 20 }, "pairs settled");
    parts.forEach(({ run: { settled } }, i) => {
      const path = settled.map((pairs, q) => (q ? `H${spot(q, pairs)[0]}V${spot(q, pairs)[1]}` : `M${spot(q, pairs)}`));
      const [stroke, dash] = RUNS[i], at = Math.min(+question.value, settled.length - 1);
      draw(wide, "path", { d: path.join(""), fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash });
      const [cx, cy] = spot(at, settled[at]);
      draw(wide, "circle", { cx, cy, r: 5, fill: stroke, stroke: INK });
    });
  }

  parts.forEach(({ name }, i) => entry(name, [RUNS[i][0], 2, RUNS[i][1]]));
  pause();
  const plays = "play" in script.dataset && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (plays) question.value = 1;
  figure.insertBefore(box, figure.firstChild);
  (still.closest("a") || still).classList.add("interactive-replaced");
  fit();
  let width = box.clientWidth;
  addEventListener("resize", () => { if (box.clientWidth !== width) { width = box.clientWidth; fit(); } });
  if (plays) {
    new IntersectionObserver((seen, observer) => {
      if (!seen[0].isIntersecting) return;
      observer.disconnect();
      if (!timer && +question.value === 1) start();
    }, { threshold: 0.5 }).observe(box);
  }
})();
