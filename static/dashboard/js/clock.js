// Moments and durations that tick: <time data-clock> and <progress data-started>. Says durations as amounts.py does.
import { sayMoments } from "./zone.js";

const MINUTE = 60, HOUR = 3600, DAY = 86400;
let ahead = 0; // how many milliseconds the server's clock is ahead of this one

export function startClock() {
  const said = document.body.dataset.now;
  if (said) ahead = Date.parse(said) - Date.now();
  tick(document);
  setInterval(() => document.hidden || tick(document), 1000);
}

export function tick(root) {
  const now = Date.now() + ahead;
  for (const element of root.querySelectorAll("time[data-clock]")) {
    const words = WORDS[element.dataset.clock]; // a moment that is said as such has none
    if (!words) continue;
    const text = words((now - Date.parse(element.dateTime)) / 1000);
    if (element.textContent !== text) element.textContent = text;
  }
  for (const bar of root.querySelectorAll("progress[data-started]")) {
    const spent = (now - Date.parse(bar.dataset.started)) / 1000;
    bar.value = Math.min(100, Math.max(0, (100 * spent) / Number(bar.dataset.expected)));
  }
  sayMoments(root);
}

const WORDS = {
  elapsed: ticking,
  countdown: (seconds) => (seconds > -1 ? "now" : `in ${ticking(-seconds)}`),
  left: (seconds) => (seconds < 0 ? `${ticking(-seconds)} left` : `${ticking(seconds)} over`),
  relative: (seconds) => {
    if (Math.abs(seconds) < 1) return "now";
    return seconds > 0 ? `${coarse(seconds)} ago` : `in ${coarse(-seconds)}`;
  },
};

function ticking(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return two(whole / MINUTE, "min", whole % MINUTE, "s");
  if (whole < DAY) return two(whole / HOUR, "h", (whole % HOUR) / MINUTE, "min");
  return two(whole / DAY, "d", (whole % DAY) / HOUR, "h");
}

function coarse(seconds) {
  for (const [size, unit] of [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.floor(seconds)} s`;
}

function two(first, firstUnit, second, secondUnit) {
  const rest = Math.floor(second);
  return `${Math.floor(first)} ${firstUnit}${rest ? ` ${rest} ${secondUnit}` : ""}`;
}
