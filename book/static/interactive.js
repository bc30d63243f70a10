// Puts each chart with controls into its figure, in the place of the still picture, and says in words what it shows.
(function () {
  const libraries = new URL("vega-embed.js", document.currentScript.src);

  function make(tag, className, parent) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    parent.appendChild(made);
    return made;
  }

  async function start(script) {
    const spec = JSON.parse(script.textContent);
    const figure = document.getElementById(spec.figure);
    const still = figure.querySelector("img");
    const told = spec.usermeta.crowder;
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
    // One picture to a screen reader, not a hundred nameless lines; what it shows is in the words.
    chart.querySelector("svg").setAttribute("aria-hidden", "true");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", still.alt);

    function say() {
      const text = told.by.reduce((texts, name) => texts[String(view.signal(name))], told.words);
      if (words.textContent !== text) words.textContent = text;
    }

    if (told.step) {
      const range = controls.querySelector(`input[name="${told.step}"]`);
      const buttons = make("div", "interactive-steps", controls);
      for (const [label, by] of [["Back", -1], ["Next", 1]]) {
        const button = make("button", "", buttons);
        button.type = "button";
        button.textContent = label;
        button.addEventListener("click", () => {
          const value = Math.min(+range.max, Math.max(+range.min, +range.value + by));
          view.signal(told.step, value).runAsync();
        });
      }
    }
    told.by.forEach((name) => view.addSignalListener(name, say));
    say();
    figure.insertBefore(box, figure.firstChild);
    still.classList.add("interactive-replaced");
  }

  // The text comes first: the libraries are fetched when the page is there. A chart that fails leaves its still picture.
  window.addEventListener("load", () => {
    const script = document.createElement("script");
    script.src = libraries.href;
    script.addEventListener("load", () => {
      document.querySelectorAll("script.interactive-spec").forEach((spec) => start(spec).catch(console.error));
    });
    document.head.appendChild(script);
  });
})();
