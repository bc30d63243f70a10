// The numbers of the explorer, computed in the page: the formulas of `crowder` once more, without any of the page.
//
// A model is {edges, green, red}: m + 1 edges from 0 to 1 and the heights of f_g and f_r on m steps, both of mass one.
// A clustering is {sizes, many}: the distinct sizes in increasing order, and how many clusters have each.
// tests/book/companion/test_explorer.py holds all results equal to those of the package.
const counts = (function () {
  const NEVER = Math.log(1e-30); // a graph that is disconnected with less than this probability counts as connected

  // --- quadrature (crowder/counting/arrival.py)    ---------------------------------------------------------------

  const rules = new Map();

  // The nodes and weights of Gauss and Legendre on [-1, 1]: roots of the Legendre polynomial, by Newton's method.
  function gauss(n) {
    if (rules.has(n)) return rules.get(n);
    const at = [], weight = [];
    for (let i = n; i >= 1; i--) {
      let x = Math.cos(Math.PI * (i - 0.25) / (n + 0.5)), slope = 1;
      for (let round = 0; round < 30; round++) {
        let before = 1, here = x;
        for (let d = 2; d <= n; d++) [before, here] = [here, ((2 * d - 1) * x * here - (d - 1) * before) / d];
        slope = n * (x * here - before) / (x * x - 1);
        const step = here / slope;
        x -= step;
        if (Math.abs(step) < 1e-16) break;
      }
      at.push(x);
      weight.push(2 / ((1 - x * x) * slope * slope));
    }
    rules.set(n, { at, weight });
    return rules.get(n);
  }

  // Calls use(x, weight) at nodes on [0, width], on panels that halve towards 0 until one is no wider than `finest`.
  function panels(width, finest, nodes, use) {
    const { at, weight } = gauss(nodes);
    const halvings = Math.max(0, Math.ceil(Math.log2(width / finest)));
    for (let low = 0, h = halvings; h >= 0; h--) {
      const high = width * 0.5 ** h;
      for (let i = 0; i < nodes; i++) use(low + (high - low) * (at[i] + 1) / 2, weight[i] * (high - low) / 2);
      low = high;
    }
  }

  // --- models ----------------------------------------------------------------------------------------------------

  const tenths = Array.from({ length: 11 }, (_, i) => i / 10);

  const uniform = () => ({ edges: [0, 1], green: [1], red: [1] });

  // f_g = 1 - ε and f_r = 1 + ε below one half, the other way round above it.
  const dist1 = (e) => ({ edges: [0, 0.5, 1], green: [1 - e, 1 + e], red: [1 + e, 1 - e] });

  // f_r uniform on [0, 1 - ε], f_g on [ε, 1].
  function dist2(e) {
    const h = 1 / (1 - e);
    return { edges: [0, e, 1 - e, 1], green: [0, h, h], red: [h, h, 0] };
  }

  // The steps from the top down, each with the shares of f_g and f_r above it (`steps_down` in arrival.py).
  function stepsFromTop(model) {
    const found = [], mass = (f) => f.reduce((sum, h, s) => sum + h * (model.edges[s + 1] - model.edges[s]), 0);
    const [greens, reds] = [mass(model.green), mass(model.red)];
    let seenGreen = 0, seenRed = 0;
    for (let s = model.green.length - 1; s >= 0; s--) {
      const width = model.edges[s + 1] - model.edges[s];
      const green = model.green[s] / greens, red = model.red[s] / reds;
      found.push({ width, green, red, seenGreen, seenRed });
      seenGreen = Math.min(1, seenGreen + green * width);
      seenRed = Math.min(1, seenRed + red * width);
    }
    return found;
  }

  // H² = ½ ∫ (√f_g - √f_r)² (crowder/models.py).
  function hellinger2(model) {
    return model.green.reduce((sum, g, s) =>
      sum + (model.edges[s + 1] - model.edges[s]) * (Math.sqrt(g) - Math.sqrt(model.red[s])) ** 2 / 2, 0);
  }

  // L(t) = ∫ F_g^t f_r (crowder/models.py). On a step of width b where F_g rises from c to d = c + gb and f_r = h, it
  // is h (d^(t+1) - c^(t+1)) / (g (t+1)), or h b c^t where g = 0; 0⁰ = 1.
  function L(model, t) {
    const ends = [0];
    model.green.forEach((g, s) => ends.push(ends[s] + g * (model.edges[s + 1] - model.edges[s])));
    const whole = ends[ends.length - 1];
    return model.red.reduce((sum, h, s) => {
      const b = model.edges[s + 1] - model.edges[s], g = model.green[s];
      const c = ends[s] / whole, d = ends[s + 1] / whole;
      if (h === 0) return sum;
      if (g === 0) return sum + h * b * c ** t;
      const shrink = g * b < d ? Math.log1p(-g * b / d) : -Infinity; // ln(c/d)
      return sum + h / g * d ** (t + 1) * -Math.expm1((t + 1) * shrink) / (t + 1);
    }, 0);
  }

  // --- clusterings -----------------------------------------------------------------------------------------------

  function clustering(sizes) {
    const many = new Map();
    for (const size of sizes) many.set(size, (many.get(size) || 0) + 1);
    const different = [...many.keys()].sort((a, b) => a - b);
    return { sizes: different, many: different.map((size) => many.get(size)) };
  }

  const records = (c) => c.sizes.reduce((sum, size, s) => sum + size * c.many[s], 0);
  const clusters = (c) => c.many.reduce((sum, count) => sum + count, 0);

  // The fewest possible questions of any algorithm: n - k for the matches, one for each two clusters.
  const fewest = (c) => records(c) - clusters(c) + clusters(c) * (clusters(c) - 1) / 2;

  // Sums term(s, t) over all pairs of clusters; the pairs with sizes number s and t count together.
  function overPairs(c, term) {
    let total = 0;
    for (let s = 0; s < c.sizes.length; s++) {
      for (let t = 0; t <= s; t++) {
        const pairs = s === t ? c.many[s] * (c.many[s] - 1) / 2 : c.many[s] * c.many[t];
        if (pairs > 0) total += pairs * term(s, t);
      }
    }
    return total;
  }

  // --- random graphs (crowder/counting/expected.py) -----------------------------------------------------------

  let factorials = [0, 0];

  function logFactorials(m) {
    for (let i = factorials.length; i <= m; i++) factorials.push(factorials[i - 1] + Math.log(i));
    return factorials;
  }

  // ln C_1, ..., ln C_m (entry a for a vertices): the probabilities that G(a, p) is connected, for ln(1 - p) = logQ.
  // C_n = Σ_k C(n-2, k-1) (1 - q^k) q^(k(n-1-k)) C_k C_(n-k), terms k and n - k together, relative to the first.
  function logConnected(m, logQ) {
    const result = new Float64Array(m + 1);
    if (logQ === 0) return result.fill(-Infinity, 2);
    if (logQ === -Infinity) return result;
    const log = logFactorials(m), share = new Float64Array(m + 1); // ln C_k / (k - 1)!
    const power = new Float64Array(m + 1), some = new Float64Array(m + 1);
    for (let k = 0; k <= m; k++) {
      power[k] = Math.exp(logQ * k);
      some[k] = -Math.expm1(logQ * k);
    }
    for (let n = 2; n <= m; n++) {
      const first = share[n - 1];
      let total = 0;
      for (let k = 1; 2 * k <= n; k++) {
        const j = n - k;
        const both = some[j] + (j === k ? 0 : power[j - k] * some[k]);
        const term = Math.exp(share[k] + share[j] + (k - 1) * j * logQ - first) * both;
        total += term;
        if (term < 1e-18 * total) break; // the terms fall towards the middle
      }
      result[n] = log[n - 2] + first + Math.log(total);
      share[n] = result[n] - log[n - 1];
    }
    return result;
  }

  // For each size m, the expected numbers of components of a = 1..m vertices: N(a) = C(m, a) C_a q^(a(m-a)) (entry a).
  function componentNumbers(sizes, p) {
    const logQ = Math.log1p(-p);
    const whole = sizes.map((m) => m === 1 || Math.log(m) + m / 2 * logQ < NEVER);
    const largest = Math.max(1, ...sizes.filter((_, s) => !whole[s]));
    const chance = logConnected(largest, logQ), log = logFactorials(sizes[sizes.length - 1]);
    return sizes.map((m, s) => {
      const numbers = new Float64Array(m + 1);
      if (whole[s]) {
        numbers[m] = 1;
        return numbers;
      }
      for (let a = 1; a <= m; a++) {
        const apart = a === m ? 0 : a * (m - a) * logQ;
        numbers[a] = Math.exp(log[m] - log[a] - log[m - a] + chance[a] + apart);
      }
      return numbers;
    });
  }

  // --- expected counts (crowder/counting/expected.py) -------------------------------------------------------

  // Σ_{a,b} N(a) N'(b) ab F^(ab-1), or Σ N(a) N'(b) F^(ab) if `power` is 1, for ln F = logRed.
  function overComponents(first, second, logRed, power) {
    let total = 0;
    for (let a = 1; a < first.length; a++) {
      if (a * first[a] < 1e-30) continue;
      const factor = Math.exp(a * logRed);
      let here = a === 1 && power === 0 ? 1 : Math.exp((a - 1 + power) * logRed), inner = 0;
      for (let b = 1; b < second.length; b++) {
        inner += second[b] * here * (power ? 1 : b);
        here *= factor;
        if (here < 1e-40) break;
      }
      total += first[a] * inner * (power ? 1 : a);
    }
    return total;
  }

  // overComponents for all pairs of clusters: each size with itself, and with all smaller ones together.
  function overClusters(numbers, c, logRed, power) {
    let total = 0, smaller = new Float64Array(1);
    c.sizes.forEach((size, s) => {
      const own = numbers[s], count = c.many[s];
      if (count > 1) total += count * (count - 1) / 2 * overComponents(own, own, logRed, power);
      if (s > 0) total += count * overComponents(own, smaller, logRed, power);
      const longer = own.map((number) => count * number);
      smaller.forEach((number, a) => { longer[a] += number; });
      smaller = longer;
    });
    return total;
  }

  const ln = (x) => (x > 0 ? Math.log(x) : -Infinity);

  // E[Q] = n - k + Σ_{i<j} ∫ Σ_{a,b} N_i(a; τ) N_j(b; τ) ab f_r(τ) F_r(τ)^(ab-1) dτ, the components at the level τ.
  function edgeQueries(model, c, nodes) {
    const largest = c.sizes[c.sizes.length - 1];
    let total = records(c) - clusters(c);
    if (clusters(c) < 2) return total;
    for (const step of stepsFromTop(model)) {
      if (step.red === 0) continue;
      if (step.green === 0) { // the components are constant; the integrand is the derivative of F^(ab)
        const numbers = componentNumbers(c.sizes, step.seenGreen);
        total += overClusters(numbers, c, ln(1 - step.seenRed), 1)
          - overClusters(numbers, c, ln(1 - step.seenRed - step.red * step.width), 1);
        continue;
      }
      let finest = 1 / (4 * step.green * largest);
      if (step.seenGreen > 0) finest = Math.min(finest, 1 / (step.red * largest ** 2));
      panels(step.width, finest, nodes, (depth, weight) => {
        const numbers = componentNumbers(c.sizes, Math.min(1, step.seenGreen + step.green * depth));
        total += weight * step.red * overClusters(numbers, c, ln(1 - step.seenRed - step.red * depth), 0);
      });
    }
    return total;
  }

  // E[Q] = n - k + Σ_{i≠j} m_i m_j ∫∫ x f_r(τ) (1 - x + x F_g)^(m_i - 1) (1 - x + x F_r)^(m_j - 1) dτ dx, for records
  // that arrive in random order.
  function nodeQueries(model, c, nodes) {
    const finest = 1 / c.sizes[c.sizes.length - 1], kinds = c.sizes.length;
    const times = [], reds = new Float64Array(kinds);
    panels(1, finest, nodes, (x, weight) => times.push([x, weight]));
    let total = records(c) - clusters(c);
    if (clusters(c) < 2) return total;
    for (const step of stepsFromTop(model)) {
      if (step.red === 0) continue;
      panels(step.width, finest / Math.max(step.green, step.red), nodes, (depth, weight) => {
        const aboveGreen = Math.min(1, step.seenGreen + step.green * depth);
        const aboveRed = Math.min(1, step.seenRed + step.red * depth);
        for (const [x, share] of times) {
          const green = Math.log1p(-x * aboveGreen), red = Math.log1p(-x * aboveRed);
          let all = 0, density = 0;
          for (let s = 0; s < kinds; s++) {
            reds[s] = c.sizes[s] * Math.exp((c.sizes[s] - 1) * red);
            all += c.many[s] * reds[s];
          }
          for (let s = 0; s < kinds; s++) { // every other cluster, but not the record's own
            density += c.many[s] * c.sizes[s] * Math.exp((c.sizes[s] - 1) * green) * (all - reds[s]);
          }
          total += step.red * weight * share * x * density;
        }
      });
    }
    return total;
  }

  // --- bounds (crowder/counting/bounds.py) -------------------------------------------------------------------------

  // D(m) = ∫ f_r(τ) Pr(G(m, 1 - F_g(τ)) is not connected) dτ, for every size.
  function disconnected(model, sizes, nodes) {
    const largest = sizes[sizes.length - 1], total = sizes.map(() => 0);
    const add = (share, p) => {
      const chance = logConnected(largest, Math.log1p(-p));
      sizes.forEach((m, s) => { total[s] -= share * Math.expm1(chance[m]); });
    };
    for (const step of stepsFromTop(model)) {
      const rise = step.green * step.width;
      if (step.red === 0) continue;
      if (rise <= 0) add(step.red * step.width, step.seenGreen);
      else {
        panels(rise, 1 / largest, nodes, (up, weight) =>
          add(step.red / step.green * weight, Math.min(1, step.seenGreen + up)));
      }
    }
    return total;
  }

  // Theorem 2 as printed: n + min_s [C(k, 2) s² + n Σ_i Σ_{ℓ=s}^{m_i} ℓ L(C(ℓ, 2))].
  function edgeBoundPrinted(model, c) {
    const n = records(c), k = clusters(c), largest = c.sizes[c.sizes.length - 1];
    let tail = 0, least = Infinity;
    for (let s = largest + 1; s >= 1; s--) {
      const atLeast = c.sizes.reduce((sum, size, i) => sum + (size >= s ? c.many[i] : 0), 0);
      if (atLeast > 0) tail += atLeast * s * L(model, s * (s - 1) / 2);
      if (s <= n) least = Math.min(least, k * (k - 1) / 2 * s * s + n * tail);
    }
    return n + least;
  }

  // As corrected: n - k + Σ_{i<j} min{m_i m_j, m_i + m_i m_j D_j, m_j + m_i m_j D_i, 1 + m_i m_j (D_i + D_j)}.
  function edgeBoundCorrected(model, c, nodes) {
    const D = disconnected(model, c.sizes, nodes);
    return records(c) - clusters(c) + overPairs(c, (s, t) => {
      const a = c.sizes[s], b = c.sizes[t];
      return Math.min(a * b, a + a * b * D[t], b + a * b * D[s], 1 + a * b * (D[s] + D[t]));
    });
  }

  // Theorem 3: n + Σ_i Σ_s min{k, (n - m_i) L(s)} for s = 1..m_i as printed; as corrected, k - 1 and s = 0..m_i - 1.
  function nodeBound(model, c, printed) {
    const n = records(c), most = clusters(c) - (printed ? 0 : 1), first = printed ? 1 : 0;
    return c.sizes.reduce((total, size, i) => {
      let own = 0;
      for (let s = first; s < size + first; s++) own += Math.min(most, (n - size) * L(model, s));
      return total + c.many[i] * own;
    }, n);
  }

  // --- all together --------------------------------------------------------------------------------------------------

  // All that the explorer shows. `nodes` are those of each panel: 12 give nine correct digits, 4 about four.
  function questions(model, sizes, nodes = 12) {
    const c = clustering(sizes);
    return {
      fewest: fewest(c),
      edge: edgeQueries(model, c, nodes),
      node: nodeQueries(model, c, nodes),
      edgePrinted: edgeBoundPrinted(model, c),
      nodePrinted: nodeBound(model, c, true),
      edgeCorrected: edgeBoundCorrected(model, c, nodes),
      nodeCorrected: nodeBound(model, c, false),
      hellinger2: hellinger2(model),
    };
  }

  // About how many elementary steps `questions` takes: by this the page decides when to compute.
  function effort(model, sizes, nodes = 12) {
    const c = clustering(sizes), m = c.sizes[c.sizes.length - 1], steps = model.green.length;
    const squares = c.sizes.reduce((sum, size) => sum + size * size, 0), levels = Math.log2(m) + 1;
    const edge = steps * 2 * levels * nodes * (m * m + squares);
    return edge + steps * levels * levels * nodes * nodes * c.sizes.length + m * steps * c.sizes.length;
  }

  // The average heights on ten equal bins.
  function onTenths(model) {
    const average = (f) => tenths.slice(1).map((high, i) => 10 * f.reduce((sum, h, s) =>
      sum + h * Math.max(0, Math.min(high, model.edges[s + 1]) - Math.max(tenths[i], model.edges[s])), 0));
    return { edges: tenths, green: average(model.green), red: average(model.red) };
  }

  // The heights after bar `which` was set to `height`: the others keep their proportions, and the mass stays one.
  function reheight(heights, which, height) {
    const total = heights.length, set = Math.min(total, Math.max(0, height));
    const others = heights.reduce((sum, h, i) => sum + (i === which ? 0 : h), 0);
    return heights.map((h, i) => {
      if (i === which) return set;
      return others > 0 ? h * (total - set) / others : (total - set) / (total - 1);
    });
  }

  // Cluster sizes from text such as "20*12, 5" (twelve clusters of 20 records and one of 5): {sizes} or {error}.
  function parseClusters(text) {
    const sizes = [], parts = text.replace(/\s*[*×x]\s*/g, "*").split(/[,;\s]+/).filter(Boolean);
    if (!parts.length) return { error: "Type the sizes of the clusters, for example 20*12 or 50, 30, 20." };
    for (const part of parts) {
      const found = /^(\d+)(?:\*(\d+))?$/.exec(part);
      if (!found) return { error: `“${part}” is neither a size, such as 20, nor a size times a number, such as 20*12.` };
      const size = Number(found[1]), many = found[2] === undefined ? 1 : Number(found[2]);
      if (size < 1 || many < 1) return { error: `“${part}”: sizes and numbers of clusters start at 1.` };
      if (size > 500) return { error: `“${part}”: this page counts clusters of up to 500 records.` };
      if (sizes.length + many > 5000) return { error: "This page counts up to 5,000 clusters." };
      for (let i = 0; i < many; i++) sizes.push(size);
    }
    if (new Set(sizes).size > 60) return { error: "This page counts clusters of up to 60 different sizes." };
    return { sizes };
  }

  // "20*12, 5" from a list of sizes, the largest first.
  function clustersText(sizes) {
    const c = clustering(sizes);
    return c.sizes.map((size, s) => (c.many[s] > 1 ? `${size}*${c.many[s]}` : `${size}`)).reverse().join(", ");
  }

  return {
    L, clustering, clustersText, clusters, componentNumbers, dist1, dist2, edgeBoundCorrected, edgeBoundPrinted,
    edgeQueries, effort, fewest, gauss, hellinger2, logConnected, nodeBound, nodeQueries, onTenths, panels,
    parseClusters, questions, records, reheight, tenths, uniform,
  };
})();
