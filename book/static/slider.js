// Shows one of several pictures, chosen by a slider, in place of a still one, and the sentence that belongs to it. All of
// it is made by book/companion/charts/slider.py.
(function () {
  const script = document.currentScript.previousElementSibling; // the settings
  const { label, at, values, pictures, words } = JSON.parse(script.textContent);
  script.textContent = ""; // the search marks its words in everything on the page, one call deep for each
  const still = document.getElementById(script.dataset.figure).querySelector("img");
  const box = document.createElement("div");
  box.className = "interactive slider";
  box.innerHTML = `<div class="interactive-controls"><label><span></span>
    <input type="range" min="0" max="${values.length - 1}" value="${at}"><output></output></label></div>
    <div class="interactive-chart" role="img"></div><div class="interactive-words" aria-live="polite"><p></p></div>`;
  const [name, choice, output, chart, sentence] = ["span", "input", "output", ".interactive-chart", "p"]
    .map((selector) => box.querySelector(selector));
  name.textContent = label;
  chart.setAttribute("aria-label", still.alt);
  function update() {
    output.textContent = values[choice.value];
    choice.setAttribute("aria-valuetext", values[choice.value]);
    chart.innerHTML = pictures[choice.value];
    chart.querySelector("style")?.remove(); // it would be that of the whole page, whose style sheet has it for charts
    sentence.textContent = words[choice.value];
  }
  choice.addEventListener("input", update);
  update();
  const place = still.closest("a") || still;
  place.before(box);
  place.classList.add("interactive-replaced");
})();
