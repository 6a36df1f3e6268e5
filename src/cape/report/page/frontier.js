// "What to aim at": shows points of the frontiers that Python has computed, and computes none.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("frontier-data").textContent);
  const section = document.getElementById("aim");
  const criterion = document.getElementById("aim-criterion");
  const rule = document.getElementById("aim-rule");
  const slider = document.getElementById("aim-slider");
  const figures = Array.from(section.querySelectorAll("figure[data-curve]"));
  const number = (x) => (x === null ? "unknown" : x.toFixed(3));
  const ON_THE_CURVE = "curve";

  // A ring around the point that is shown. The frame of the drawing has the size that Python asked for.
  const rings = figures.map((figure) => {
    const frame = figure.querySelector("svg .root > g");
    const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    ring.setAttribute("class", "here");
    ring.setAttribute("r", "8");
    if (frame) frame.append(ring);
    return ring;
  });

  function place(ring, curve, x, y) {
    const [left, right] = curve.x_domain, [bottom, top] = curve.y_domain;
    const inside = x !== null && x <= right && y >= bottom;
    ring.setAttribute("visibility", inside ? "visible" : "hidden");
    if (!inside) return;
    ring.setAttribute("cx", (data.width * (x - left)) / (right - left || 1));
    ring.setAttribute("cy", (data.height * (top - y)) / (top - bottom || 1));
  }

  function show() {
    const curve = data.curves[criterion.value];
    const onCurve = rule.value === ON_THE_CURVE;
    const point = curve.points[slider.value];
    const choice = onCurve ? point : data.rules[rule.value];
    const value = onCurve ? point.criterion : curve.rules[rule.value];
    figures.forEach((figure, i) => { figure.hidden = String(i) !== criterion.value; });
    place(rings[criterion.value], curve, value, choice.accuracy);
    slider.setAttribute("aria-valuetext", curve.name + " " + number(point.criterion) + ", accuracy " + number(point.accuracy));
    document.getElementById("aim-name").textContent = onCurve ? "a point of the curve" : choice.name;
    document.getElementById("aim-value-name").textContent = curve.name;
    document.getElementById("aim-value").textContent = number(value);
    document.getElementById("aim-accuracy").textContent = number(choice.accuracy);
    document.getElementById("aim-interval").textContent = number(choice.low) + "–" + number(choice.high);
    document.getElementById("aim-pe").textContent = number(choice.pe);
    for (const cell of section.querySelectorAll("td[data-group]")) {
      cell.textContent = number(choice.outcomes[cell.dataset.group][cell.dataset.column]);
    }
  }

  // Another criterion has another curve: the slider stays at the same part of it.
  function change() {
    const last = data.curves[criterion.value].points.length - 1;
    const part = slider.value / (slider.max || 1);
    slider.max = String(last);
    slider.value = String(Math.round(part * last));
    show();
  }

  criterion.addEventListener("change", change);
  rule.addEventListener("change", show);
  slider.addEventListener("input", () => { rule.value = ON_THE_CURVE; show(); });
  section.classList.add("live");
  document.getElementById("aim-controls").hidden = false;
  change();
})();
