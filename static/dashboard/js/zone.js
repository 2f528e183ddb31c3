// In which zone moments are said: the server says them in the schedule's, where there is one, else in UTC.
import { startSwitch } from "./chosen.js";

const EXACT = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$/; // at the end of a tooltip, as the template filter `exact` says it
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const SAID = {
  schedule: "A schedule's times in its own zone, all others in UTC.",
  utc: "All times in UTC.",
  mine: `All times as here, in ${HERE}.`,
};
const dressed = new WeakMap(); // element -> what it was drawn with, what it says instead, and why
const told = [];
let wanted = "schedule";

export function startZone() {
  startSwitch("zone", Object.keys(SAID), (value) => {
    wanted = value;
    const hint = document.getElementById("zone-said");
    if (hint) hint.textContent = SAID[value];
    sayMoments(document);
    for (const call of told) call();
  });
}

// Calls `act` whenever another zone is chosen.
export function onZone(act) {
  told.push(act);
}

// The time of day of a moment in milliseconds, to the millisecond; in UTC unless all times are wished as here.
export function clockOf(moment) {
  const at = new Date(moment);
  if (wanted !== "mine") return at.toISOString().slice(11, 23);
  const two = (number) => String(number).padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function sayMoments(root) {
  for (const time of root.querySelectorAll("time[datetime]")) dress(time, time.dataset.clock === "wall");
}

function dress(time, isWall) {
  const shown = isWall ? time.textContent : time.title;
  const before = dressed.get(time);
  const why = `${wanted} ${time.dateTime}`;
  if (before ? before.said === shown && before.why === why : wanted === "schedule") return;
  const was = before?.said === shown ? before.was : shown; // else the server has drawn it anew
  const said = wanted === "schedule" ? was : isWall ? wall(time.dateTime) : was.replace(EXACT, exact(time.dateTime));
  dressed.set(time, { was, said, why });
  if (said === shown) return;
  if (isWall) time.textContent = said;
  else time.title = said;
}

function exact(moment) {
  const { year, month, day, clock, zone } = parts(moment, "2-digit");
  return `${year}-${month}-${day} ${clock} ${zone}`;
}

function wall(moment) {
  const { weekday, year, month, day, clock, zone } = parts(moment, "short");
  return `${weekday} ${day} ${month} ${year}, ${clock} ${zone}`;
}

const FORMATS = new Map();

function parts(moment, month) {
  const timeZone = wanted === "utc" ? "UTC" : HERE;
  const name = `${timeZone} ${month}`;
  if (!FORMATS.has(name)) {
    const fields = { weekday: "short", year: "numeric", month, day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" };
    FORMATS.set(name, new Intl.DateTimeFormat("en-US", { ...fields, timeZone, hourCycle: "h23", timeZoneName: "longOffset" }));
  }
  const found = Object.fromEntries(FORMATS.get(name).formatToParts(new Date(moment)).map(({ type, value }) => [type, value]));
  const offset = found.timeZoneName.replace("GMT", "").replace(":", "");
  return { ...found, clock: `${found.hour}:${found.minute}:${found.second}`, zone: timeZone === "UTC" ? "UTC" : offset || "+0000" };
}
