// The page of the forecast: asks for what takes some seconds to compute, and draws it.
import { setText } from "./differs.js";
import { colourOf } from "./curves.js";
import { sayMoments } from "./zone.js";

const HEIGHT = 132;

for (const part of document.querySelectorAll("[data-computed]")) show(part);

async function show(part) {
  if (part.getAttribute("aria-busy") === "true") await compute(part);
  if (part.dataset.uplot) await draw(part);
}

// As all times of the page, in UTC; a midnight is a new day.
function clock(seconds) {
  const at = new Date(seconds * 1000).toUTCString(); // "Mon, 30 Nov 2026 17:00:00 GMT"
  return at.includes("00:00:00") ? at.slice(0, 11).replace(",", "") : at.slice(17, 22);
}

async function compute(part) {
  try {
    const answer = await fetch(part.dataset.computed);
    if (answer.redirected) return location.reload(); // signed out meanwhile
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    part.innerHTML = await answer.text();
    sayMoments(part);
  } catch (error) {
    const why = error instanceof TypeError ? "no connection" : error.message; // fetch has no words of its own
    part.textContent = `This cannot be computed now: ${why}. Reload the page to try again.`;
  }
  part.removeAttribute("aria-busy");
}

async function draw(part) {
  const data = part.querySelector('script[type="application/json"]');
  if (!data) return;
  const { default: uPlot } = await import(part.dataset.uplot);
  const { fires, cores, slots, until } = JSON.parse(data.textContent);
  const ends = (at) => [...at, until]; // the last part goes on until then
  const held = (values) => [...values, values.at(-1)];
  const stepped = uPlot.paths.stepped({ align: 1 });
  const charts = [
    chart("fires", [ends(fires.at), held(fires.count)], [{ stroke: "--accent", fill: "--accent-soft", width: 1.5 }], (at) => `${fires.count[at] ?? fires.count.at(-1)} fires`),
    chart(
      "cores",
      [ends(cores.at), held(cores.mean), held(cores.demanded), ends(cores.at).map(() => slots)],
      [{ stroke: "--accent", fill: "--accent-soft", width: 1.5 }, { stroke: "--warn", width: 1, dash: [4, 4] }, { stroke: "--muted", width: 1 }],
      (at) => `${(cores.mean[at] ?? cores.mean.at(-1)).toFixed(1)} of ${slots} slots`,
    ),
  ];

  function chart(kind, points, lines, words) {
    const figure = part.querySelector(`[data-plot="${kind}"]`);
    figure.hidden = false;
    const colour = (name) => () => colourOf(figure, name);
    const font = `11px ${getComputedStyle(part).fontFamily}`;
    const most = Math.max(1, ...points.slice(1).flat()) * 1.08;
    const axis = { stroke: colour("--muted"), ticks: { show: false }, font };
    const options = {
      width: figure.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      cursor: { sync: { key: "forecast" }, drag: { x: false, y: false }, points: { show: false } },
      scales: { y: { range: () => [0, most] } },
      axes: [
        { ...axis, grid: { show: false }, size: 24, values: (_, splits) => splits.map(clock) },
        { ...axis, grid: { stroke: colour("--line"), width: 1 }, size: 44, space: 32, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] },
      ],
      series: [{}, ...lines.map(({ stroke, fill, ...rest }) => ({ ...rest, stroke: colour(stroke), ...(fill && { fill: colour(fill) }), paths: stepped, points: { show: false } }))],
      hooks: { setCursor: [(drawn) => tell(drawn, kind, words)] },
    };
    const drawn = new uPlot(options, points, figure);
    return { drawn, figure };
  }

  const told = {};
  function tell(drawn, kind, words) {
    const at = drawn.cursor.idx;
    told[kind] = at == null ? "" : words(at);
    const when = at == null ? "" : `from ${new Date(drawn.data[0][at] * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC: `;
    setText(part.querySelector("[data-at]"), when + Object.values(told).filter(Boolean).join(", "));
  }

  function redraw() {
    for (const { drawn, figure } of charts) {
      if (figure.clientWidth && figure.clientWidth !== drawn.width) drawn.setSize({ width: figure.clientWidth, height: HEIGHT });
      else drawn.redraw();
    }
  }
  new ResizeObserver(redraw).observe(part);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributes: true });
}
