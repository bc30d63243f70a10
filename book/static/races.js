// Draws races in the page, over the picture of a slider whose value is t: one non-match R from f_r against t matches from
// f_g. Each becomes a dot in the picture; the curve below it is the share of races that the non-match wins. The models are
// given by book/companion/charts/races.py.
(function () {
  const script = document.currentScript.previousElementSibling; // the settings
  const { models, integrals } = JSON.parse(script.textContent);
  script.textContent = ""; // as in slider.js
  const box = document.getElementById(script.dataset.figure).querySelector(".interactive");
  const [chart, t] = [".interactive-chart", "output"].map((selector) => box.querySelector(selector));
  const controls = box.querySelector(".interactive-controls").appendChild(document.createElement("div"));
  const words = box.querySelector(".interactive-words").appendChild(document.createElement("p"));
  controls.className = "interactive-steps";
  words.parentNode.appendChild(document.createElement("p")).innerHTML = "The dot of a race lies at the similarity <i>R</i> of the " +
    "non-match, at the height <i>F<sub>g</sub></i>(<i>M</i>)<sup><i>t</i></sup> <i>f<sub>r</sub></i>(<i>R</i>), where <i>M</i> is the " +
    "most similar match. The dots spread evenly below <i>f<sub>r</sub></i>, and those in the area are the races won.";
  for (const [text, click] of [["Draw 100 races", () => go(100)], ["Draw 10,000", () => go(10000)], ["Reset", begin]]) {
    const button = controls.appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", textContent: text, onclick: click });
  }
  const DOTS = 500; // as many are shown in each panel, the latest
  let drawn, panels;

  // F(x) of a density on steps, the density itself, and a similarity drawn from it: F(x) is uniform.
  const below = (x, { edges, heights }) =>
    heights.reduce((sum, h, i) => sum + h * Math.max(0, Math.min(x, edges[i + 1]) - edges[i]), 0);
  const density = (x, { edges, heights }) => heights[heights.findLastIndex((_, i) => edges[i] <= x)];
  function similarity({ edges, heights }) {
    const u = Math.random(), i = heights.findLastIndex((h, i) => h > 0 && below(edges[i], { edges, heights }) <= u);
    return edges[i] + (u - below(edges[i], { edges, heights })) / heights[i];
  }
  function draw(parent, tag, attributes, text = "") {
    const made = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  function begin() {
    chart.querySelectorAll(".races").forEach((part) => part.remove());
    const picture = chart.querySelector("svg"), { width } = picture.viewBox.baseVal;
    const svg = draw(chart, "svg", { class: "races", viewBox: `0 0 ${width} 76`, "font-size": 10.5, fill: "#222" });
    drawn = 0;
    panels = Object.entries(models).map(([name, model], i) => {
      const unit = picture.querySelector(`#unit-${i}`).getBBox(), middle = unit.x + unit.width / 2;
      const line = { x1: unit.x, x2: unit.x + unit.width, stroke: "#222" };
      draw(svg, "line", { ...line, y1: 58, y2: 58 });
      draw(svg, "line", { ...line, y1: 38, y2: 38, "stroke-dasharray": "1 3" }); // L(t): half of the scale
      if (!i) draw(svg, "text", { x: unit.x, y: 12 }, "share won, by number of races (log scale); dotted: the area");
      return { name, model, unit, wins: 0, shares: [], dots: draw(picture, "g", { class: "races" }),
               path: draw(svg, "path", { fill: "none", stroke: "#0072b2", "stroke-width": 1.8 }),
               below: draw(svg, "text", { x: middle, y: 72, "text-anchor": "middle" }) }; // prettier-ignore
    });
    words.textContent = "No race is drawn yet.";
  }

  function go(races) {
    for (const panel of panels) {
      const { model, unit, dots, shares } = panel;
      for (let race = drawn + 1; race <= drawn + races; race++) {
        const R = similarity(model.red), M = Math.max(...Array.from({ length: +t.value }, () => similarity(model.green)));
        panel.wins += R >= M;
        if (race > 1.03 * (shares.at(-1)?.[0] ?? 0)) shares.push([race, panel.wins / race]);
        if (race <= drawn + races - DOTS) continue;
        const height = below(M, model.green) ** t.value * density(R, model.red);
        draw(dots, "circle", { cx: unit.x + R * unit.width, cy: unit.y + (1 - height) * unit.height, r: 1.4,
                               fill: R >= M ? "#222" : "#d55e00", "fill-opacity": R >= M ? 1 : 0.45 }); // prettier-ignore
      }
      while (dots.childElementCount > DOTS) dots.firstChild.remove();
    }
    drawn += races;
    const count = drawn.toLocaleString("en");
    for (const { name, unit, shares, wins, path, below } of panels) {
      const L = integrals[t.value][name];
      const place = [...shares, [drawn, wins / drawn]].map(([race, share]) =>
        [unit.x + unit.width * Math.log(race) / Math.log(drawn), 58 - 20 * Math.min(share / L, 2)]);
      path.setAttribute("d", `M${place.join("L")}`);
      below.textContent = `1 to ${count}`;
    }
    const won = panels.map(({ name, wins }) => `${wins.toLocaleString("en")} (${name}), a share of ${(wins / drawn).toFixed(3)}`);
    words.textContent = `Of ${count} races each, the non-match has won ${won.join("; ")}.`;
  }

  box.querySelector("input").addEventListener("input", begin); // after the slider has drawn its picture
  begin();
})();
