// The explorer: what each group would see at any prevalence, from the members' rates alone.
// Tests compare this closed form with Python.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const root = document.getElementById("explorer");
  const WHO = [["cape", "CAPE"], ["unadapted", "as trained"]];
  const COLUMNS = [["predicted", "predicts"], ["fpr", "FPR"], ["fnr", "FNR"], ["accuracy", "accuracy"], ["pd", "PD"]];
  const STEPS = 100;
  const MOST = 8, FIRST = 5;
  const round = (x) => Math.round(x * 1e12);

  // THE RULE that picks a member, and the only place in this file that knows it: step 3 of Algorithm 1's prediction
  // phase, the member whose predicted prevalence is nearest the estimate. Ties go to the theta nearest the estimate,
  // then to the smaller theta. It mirrors nearest_member in Python, which the tests compare it with; change both.
  function nearestMember(predictedPrevalences, thetas, estimate) {
    let best = -1, bestDistance = Infinity, bestTie = Infinity;
    for (let j = 0; j < thetas.length; j++) {
      const distance = round(Math.abs(predictedPrevalences[j] - estimate));
      const tie = round(Math.abs(thetas[j] - estimate));
      const nearer = distance < bestDistance;
      const tied = distance === bestDistance;
      const winsTie = tie < bestTie || (tie === bestTie && thetas[j] < thetas[best]);
      if (nearer || (tied && winsTie)) {
        best = j;
        bestDistance = distance;
        bestTie = tie;
      }
    }
    return best;
  }

  // Under prior shift the rates of a member do not move with the prevalence rho.
  function predictedPrevalence(members, j, rho) {
    return rho * members.tpr[j] + (1 - rho) * members.fpr[j];
  }

  function outcome(members, rho) {
    const predictions = members.theta.map((_, j) => predictedPrevalence(members, j, rho));
    const chosen = nearestMember(predictions, members.theta, rho);
    const tpr = members.tpr[chosen];
    const fpr = members.fpr[chosen];
    const predicted = predictions[chosen];
    return {
      theta: members.theta[chosen],
      predicted: predicted,
      fpr: fpr,
      fnr: 1 - tpr,
      accuracy: rho * tpr + (1 - rho) * (1 - fpr),
      pd: Math.abs(rho - predicted),
    };
  }

  // PE of the worst ordered pair of groups, as cape.metrics.worst_pe; null if no pair is defined.
  function worstPe(rho, predicted) {
    let worst = null;
    for (let i = 0; i < rho.length; i++) for (let j = 0; j < rho.length; j++) {
      if (i === j || rho[j] <= 0 || predicted[j] <= 0) continue;
      const pe = Math.abs(rho[i] / rho[j] - predicted[i] / predicted[j]);
      if (worst === null || pe > worst) worst = pe;
    }
    return worst;
  }

  // Text goes in as text: a group's name is never markup.
  function make(tag, attributes, ...children) {
    const svg = ["svg", "path", "line", "circle", "text", "title"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    for (const child of children) node.append(child);
    return node;
  }

  const number = (x) => x.toFixed(3);
  const share = (x) => x.toFixed(x < 0.1 ? 3 : 2);

  // Curves over all prevalences, in a box of 300 x 130 with room for the axis.
  const W = 300, H = 130, LEFT = 26, TOP = 8;
  const px = (x) => LEFT + x * (W - LEFT - 6), py = (y) => TOP + (1 - y) * (H - TOP - 18);

  function drawFrame(svg) {
    for (const tick of [0, 0.5, 1]) {
      svg.append(make("line", { x1: px(0), x2: px(1), y1: py(tick), y2: py(tick) }));
      svg.append(make("text", { x: LEFT - 4, y: py(tick) + 4, "text-anchor": "end" }, String(tick)));
      svg.append(make("text", { x: px(tick), y: H - 4, "text-anchor": tick === 1 ? "end" : tick ? "middle" : "start" },
        String(tick)));
    }
  }

  function pathOf(group, who, what) {
    if (!group.curves) group.curves = {};
    if (!group.curves[who]) {
      group.curves[who] = Array.from({ length: STEPS + 1 }, (_, i) => outcome(group[who], i / STEPS));
    }
    return group.curves[who].map((found, i) => (i ? "L" : "M") + px(i / STEPS).toFixed(1) + " " + py(found[what]).toFixed(1)).join("");
  }

  const views = data.groups.map((group, place) => {
    const id = "prevalence-" + place;
    const slider = make("input", { type: "range", id: id, min: "0", max: "1", step: "0.01", value: String(group.now) });
    const shown = make("output", { for: id });
    const cells = {};
    const head = make("tr", null, make("td"), ...COLUMNS.map(([, name]) => make("th", { scope: "col" }, name)));
    const body = WHO.map(([who, name]) => {
      cells[who] = {};
      return make("tr", { class: who }, make("th", { scope: "row" }, name), ...COLUMNS.map(([what]) => {
        cells[who][what] = make("td", { "data-who": who, "data-what": what });
        return cells[who][what];
      }));
    });
    const svg = make("svg", { viewBox: "0 0 " + W + " " + H, role: "img" });
    const title = make("title");
    svg.append(title);
    drawFrame(svg);
    const here = make("line", { class: "here", y1: TOP, y2: H - 18 });
    const curves = {}, dots = {};
    for (const [who] of WHO.slice().reverse()) { curves[who] = make("path", { class: who }); svg.append(curves[who]); }
    svg.append(here);
    for (const [who] of WHO) { dots[who] = make("circle", { class: who, r: 4 }); svg.append(dots[who]); }
    const rates = make("details", null,
      make("summary", { "aria-label": "Rates of " + group.name }, "Rates"),
      make("div", { class: "both" },
        make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of " + group.name },
          make("table", null, make("thead", null, head), make("tbody", null, ...body))),
        svg));
    rates.open = place === 0;
    const section = make("div", { class: "group", "data-group": String(place) },
      make("div", { class: "slide" },
        make("h2", null, make("label", { for: id }, group.name)),
        make("small", null, share(group.training) + " in training"), slider, shown),
      rates);
    const view = { group, slider, shown, cells, title, here, curves, dots, section, rho: group.now };
    slider.addEventListener("input", () => {
      view.rho = Number(slider.value);
      update();
    });
    return view;
  });

  const select = make("select", { id: "curve" }, ...[["pd", "PD"], ["predicted", "predicted share"], ["fpr", "FPR"],
    ["fnr", "FNR"], ["accuracy", "accuracy"]].map(([what, name]) => make("option", { value: what }, name)));
  const names = { pd: "PD", predicted: "Predicted share", fpr: "FPR", fnr: "FNR", accuracy: "Accuracy" };
  const reset = make("button", { type: "button" }, "Back to the start");
  const totals = {};
  const total = make("div", { class: "total", "aria-live": "polite" }, ...WHO.map(([who, name]) => {
    totals[who] = make("strong", { id: "pe-" + who });
    return make("div", { class: who }, "Largest PE, " + name, totals[who]);
  }));
  select.addEventListener("change", update);
  reset.addEventListener("click", () => {
    for (const view of views) {
      view.slider.value = String(view.group.now);
      view.rho = view.group.now;
    }
    update();
  });
  const controls = make("div", { class: "controls" },
    make("label", { for: "curve" }, "Curves show "), select, reset);
  // Of many groups some are folded away, as on the other pages.
  const sections = views.map((view) => view.section);
  const folded = sections.length > MOST ? sections.splice(FIRST) : [];
  root.append(controls, ...(views.length > 1 ? [total] : []), ...sections);
  if (folded.length) {
    const head = make("summary", null, make("h2", null, folded.length + " more groups"));
    root.append(make("details", { class: "part", id: "more" }, head, ...folded));
  }

  function update() {
    const what = select.value, rho = [], predicted = { cape: [], unadapted: [] };
    for (const view of views) {
      // At first the estimate itself, which lies between two steps of the slider.
      const x = view.rho;
      rho.push(x);
      view.slider.dataset.rho = String(x);
      view.shown.textContent = share(x);
      view.slider.setAttribute("aria-valuetext", "share of positives " + share(x));
      view.here.setAttribute("x1", px(x));
      view.here.setAttribute("x2", px(x));
      for (const [who] of WHO) {
        const found = outcome(view.group[who], x);
        predicted[who].push(found.predicted);
        for (const [column] of COLUMNS) view.cells[who][column].textContent = number(found[column]);
        view.curves[who].setAttribute("d", pathOf(view.group, who, what));
        view.dots[who].setAttribute("cx", px(x));
        view.dots[who].setAttribute("cy", py(found[what]));
      }
      view.title.textContent = names[what] + " of " + view.group.name + " at every share of positives from 0 to 1: CAPE (solid) and the model as trained (dashed)";
    }
    for (const [who] of WHO) {
      const worst = worstPe(rho, predicted[who]);
      totals[who].textContent = worst === null ? "undefined" : number(worst);
    }
  }
  update();
})();
