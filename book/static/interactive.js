// Replaces the still picture of each figure by its interactive chart, with a sentence on what the chart shows.
(function () {
  const libraries = new URL("vega-embed.js", document.currentScript.src);

  function make(tag, className, parent) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    parent.appendChild(made);
    return made;
  }

  async function start(spec) {
    const figure = document.getElementById(spec.figure);
    const still = figure.querySelector("img");
    const settings = spec.usermeta.crowder;
    delete spec.figure;

    const box = document.createElement("div");
    box.className = "interactive";
    box.setAttribute("role", "group");
    const caption = figure.querySelector(".caption-number");
    box.setAttribute("aria-label", "Controls and chart of " + (caption ? caption.textContent.trim() : spec.figure));
    const controls = make("div", "interactive-controls", box);
    const words = make("p", "interactive-words", box);
    words.setAttribute("aria-live", "polite");
    const chart = make("div", "interactive-chart", box);
    const options = { actions: false, ast: true, bind: controls, mode: "vega-lite", renderer: "svg", tooltip: false };
    const { view } = await vegaEmbed(chart, spec, options);
    // A screen reader gets one image, described by the sentence, instead of a hundred unnamed lines.
    chart.querySelector("svg").setAttribute("aria-hidden", "true");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", still.alt);

    function say() {
      const text = settings.by.reduce((texts, name) => texts[String(view.signal(name))], settings.words);
      if (words.textContent !== text) words.textContent = text;
    }

    if (settings.step) {
      const range = controls.querySelector(`input[name="${settings.step}"]`);
      const buttons = make("div", "interactive-steps", controls);
      for (const [label, by] of [["Back", -1], ["Next", 1]]) {
        const button = make("button", "", buttons);
        button.type = "button";
        button.textContent = label;
        button.addEventListener("click", () => {
          const value = Math.min(+range.max, Math.max(+range.min, +range.value + by));
          view.signal(settings.step, value).runAsync();
        });
      }
    }
    settings.by.forEach((name) => view.addSignalListener(name, say));
    say();
    figure.insertBefore(box, figure.firstChild);
    still.classList.add("interactive-replaced");
  }

  function load(address, then) {
    const script = make("script", "", document.head);
    if (then) script.addEventListener("load", then);
    script.src = address;
  }

  // Load the libraries after the page, and then the charts: each calls this. If one fails, its still picture remains.
  window.drawInteractive = (spec) => start(spec).catch(console.error);
  window.addEventListener("load", () => load(libraries.href, () => {
    document.querySelectorAll("script.interactive-spec").forEach((chart) => load(chart.dataset.script));
  }));
})();
