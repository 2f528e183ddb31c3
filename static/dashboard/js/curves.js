// Cores and memory of an attempt over its time, asked for as often as its runner measures, while somebody looks.
import { size } from "./amounts.js";
import { setText } from "./differs.js";

const EACH_MS = 1000;
// Round in seconds, minutes and hours; decimal steps would be written "1 min 40 s", and run into each other.
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800];
const KINDS = {
  cores: { incrs: [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64], word: (value) => `${value.toFixed(2)} cores`, axis: (value) => String(value), line: "held", least: 1 },
  memory: { incrs: Array.from({ length: 24 }, (_, power) => 2 ** (power + 17)), word: size, axis: size, line: "reserved", least: 1 << 20 },
};

export async function startCurves(card) {
  const charts = {};
  let uPlot = null;
  let attempt = 0;
  let askAt = 0;
  let done = false;
  let asking = false;
  let stood = "";

  async function look() {
    const status = document.querySelector(".verdict")?.dataset.status;
    const runs = ["running", "stopping"].includes(status);
    // An attempt may come and go between two looks: then only its tab or its outcome tells of it.
    const stands = `${status} ${document.querySelectorAll("[data-tabs] [role=tab]").length}`;
    if (runs || stands !== stood) done = false;
    stood = stands;
    if (asking || done || document.hidden || performance.now() < askAt) return;
    asking = true;
    try {
      const answer = await fetch(card.dataset.curves);
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const curves = await answer.json();
      await show(curves);
      done = !runs && stands === stood && curves.ended !== false;
    } catch {
      askAt = performance.now() + 5 * EACH_MS;
    } finally {
      asking = false;
    }
  }

  async function show(curves) {
    if (!curves.attempt) return;
    if (curves.attempt !== attempt) forget();
    attempt = curves.attempt;
    card.hidden = false;
    const [before, last] = curves.seconds.slice(-2);
    askAt = performance.now() + Math.max(EACH_MS, 1000 * ((last ?? 0) - (before ?? 0)));
    setText(card.querySelector("[data-curves-summary]"), curves.summary);
    showTable(card, curves.table);
    if (curves.seconds.length < 2) return;
    uPlot ??= (await import(card.dataset.uplot)).default;
    for (const kind of Object.keys(KINDS)) draw(kind, curves);
  }

  function draw(kind, curves) {
    const figure = card.querySelector(`[data-curve="${kind}"]`);
    figure.hidden = false;
    const line = curves[KINDS[kind].line];
    const data = [curves.seconds, curves[kind], curves.seconds.map(() => line || null)];
    const most = Math.max(KINDS[kind].least, line * 1.05, ...curves[kind].map((value) => value * 1.1));
    if (!charts[kind]) charts[kind] = new uPlot(options(kind, figure, () => charts[kind].most), data, figure);
    charts[kind].most = most;
    charts[kind].setData(data);
  }

  function options(kind, figure, most) {
    const { axis, incrs, word } = KINDS[kind];
    const colour = (name) => () => colourOf(figure, name);
    const grid = { stroke: colour("--line"), width: 1 };
    const font = `11px ${getComputedStyle(card).fontFamily}`;
    return {
      width: figure.clientWidth,
      height: 132,
      legend: { show: false },
      cursor: { sync: { key: "curves" }, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { x: { time: false }, y: { range: () => [0, most() ?? 1] } },
      axes: [
        { stroke: colour("--muted"), grid: { show: false }, ticks: { show: false }, font, size: 24, space: 64, incrs: STEPS, values: (_, splits) => splits.map(duration) },
        { stroke: colour("--muted"), grid, ticks: { show: false }, font, size: 64, space: 36, incrs, values: (_, splits) => splits.map(axis) },
      ],
      series: [
        {},
        { stroke: colour("--accent"), fill: colour("--accent-soft"), width: 1.5, points: { show: false } },
        { stroke: colour("--muted"), width: 1, dash: [4, 4], points: { show: false } },
      ],
      hooks: { setCursor: [(chart) => tell(chart, kind, word)] },
    };
  }

  const told = {};
  function tell(chart, kind, word) {
    const at = chart.cursor.idx;
    told[kind] = at == null ? "" : word(chart.data[1][at]);
    const when = at == null ? "" : `until ${duration(chart.data[0][at])}: `;
    setText(card.querySelector("[data-curves-at]"), when + Object.values(told).filter(Boolean).join(", "));
  }

  function forget() {
    for (const kind of Object.keys(charts)) {
      charts[kind].destroy();
      delete charts[kind];
    }
    for (const figure of card.querySelectorAll("[data-curve]")) figure.hidden = true;
  }

  function redraw() {
    for (const [kind, chart] of Object.entries(charts)) {
      const { clientWidth: width } = card.querySelector(`[data-curve="${kind}"]`);
      if (width && width !== chart.width) chart.setSize({ width, height: chart.height });
      else chart.redraw();
    }
  }

  new ResizeObserver(redraw).observe(card);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributes: true });
  setInterval(look, EACH_MS);
  await look();
}

// A token may be one colour in the light and another in the dark: a canvas needs the one that holds now.
export function colourOf(element, token) {
  element.style.setProperty("outline-color", `var(${token})`);
  return getComputedStyle(element).outlineColor;
}

function showTable(card, rows) {
  card.querySelector("[data-curves-more]").hidden = !rows.length;
  const body = card.querySelector("[data-curves-table]");
  rows.forEach((cells, at) => {
    const row = body.rows[at] ?? body.insertRow();
    cells.forEach((text, column) => setText(row.cells[column] ?? row.insertCell(), text));
  });
  while (body.rows.length > rows.length) body.deleteRow(-1);
}

function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return Number.isInteger(seconds) ? `${seconds} s` : `${seconds.toFixed(1)} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  return `${Math.floor(whole / 3600)} h${whole % 3600 >= 60 ? ` ${Math.floor((whole % 3600) / 60)} min` : ""}`;
}
