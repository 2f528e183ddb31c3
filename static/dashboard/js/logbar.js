// What stands above a log: search in all of it, one stream or both, wrapping, times.
import { chosen, keep } from "./chosen.js";
import { setText } from "./differs.js";

const MARKS = "log-search";
const WAIT_MS = 250;

export function startLogBar(view) {
  const bar = document.querySelector("[data-log-bar]");
  if (!bar) return;
  bar.hidden = false;
  for (const button of bar.querySelectorAll("[data-log-toggle]")) startToggle(button, view);
  const search = new Search(view, bar);
  for (const button of bar.querySelectorAll("[data-log-lane]")) {
    button.addEventListener("click", async () => {
      for (const other of bar.querySelectorAll("[data-log-lane]")) other.setAttribute("aria-pressed", String(other === button));
      await view.setLane(button.dataset.logLane);
      search.ask();
    });
  }
}

function startToggle(button, view) {
  const name = button.dataset.logToggle;
  const usual = button.getAttribute("aria-pressed") === "true" ? ["on", "off"] : ["off", "on"];
  let on = chosen(`log-${name}`, usual) === "on";
  const show = () => {
    button.setAttribute("aria-pressed", String(on));
    view.element.toggleAttribute(`data-${name}`, on);
    if (view.following && view.atEnd) view.toEnd(); // lines have other heights now
  };
  button.addEventListener("click", () => {
    on = !on;
    keep(`log-${name}`, on ? "on" : "off");
    show();
  });
  show();
}

class Search {
  constructor(view, bar) {
    this.view = view;
    this.form = bar.querySelector("[data-log-search]");
    this.field = this.form.querySelector("input");
    this.said = this.form.querySelector("[data-log-found]");
    this.buttons = [...this.form.querySelectorAll("[data-log-step]")];
    this.lines = [];
    this.place = -1;
    view.changed = () => this.mark();
    this.field.addEventListener("input", () => this.askSoon());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape" && this.field.value) {
        this.field.value = "";
        this.ask();
      }
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    for (const button of this.buttons) button.addEventListener("click", () => this.step(Number(button.dataset.logStep)));
  }

  askSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT_MS);
  }

  // Looks through the whole log, wherever the window is.
  async ask() {
    clearTimeout(this.timer);
    const words = this.field.value;
    const mine = (this.asked = (this.asked ?? 0) + 1);
    this.words = words;
    this.lines = [];
    this.place = -1;
    this.askedAt = this.view.offset;
    this.askedOf = this.view.attempt;
    if (words && this.view.attempt) {
      const query = new URLSearchParams({ attempt: this.view.attempt, words, stream: this.view.lane });
      try {
        const answer = await fetch(`${this.form.dataset.logSearch}?${query}`);
        const found = answer.ok ? await answer.json() : { lines: [], more: false };
        if (mine !== this.asked) return;
        this.lines = found.lines;
        this.more = found.more;
      } catch {
        this.say("The server cannot be reached");
        return;
      }
    }
    this.tell();
    this.mark();
  }

  async step(by) {
    const stale = this.words !== this.field.value || this.askedAt !== this.view.offset || this.askedOf !== this.view.attempt;
    const before = this.lines[this.place];
    if (stale) {
      await this.ask();
      this.place = before === undefined ? -1 : this.lines.indexOf(before);
    }
    if (!this.lines.length) return;
    const next = this.place < 0 ? this.start(by) : this.place + by;
    this.place = (next + this.lines.length) % this.lines.length;
    this.tell();
    await this.view.showLine(this.lines[this.place], this.view.element.clientHeight / 3);
    this.mark();
  }

  // The first one to go to is the nearest to what is shown.
  start(by) {
    const top = this.view.element.getBoundingClientRect().top;
    const first = [...this.view.element.querySelectorAll(".line")].find((line) => line.getBoundingClientRect().bottom > top);
    const shown = Number(first?.dataset.n ?? 1);
    const after = this.lines.findIndex((line) => line >= shown);
    if (by > 0) return after < 0 ? 0 : after;
    return (after < 0 ? this.lines.length : after) - 1;
  }

  tell() {
    const count = `${this.lines.length.toLocaleString("en")}${this.more ? "+" : ""}`;
    if (!this.words) this.say("");
    else if (!this.lines.length) this.say("No line");
    else if (this.place < 0) this.say(this.lines.length === 1 ? "1 line" : `${count} lines`);
    else this.say(`${(this.place + 1).toLocaleString("en")} of ${count}`);
    for (const button of this.buttons) button.disabled = !this.lines.length;
  }

  say(text) {
    setText(this.said, text);
  }

  // By ranges over the text as it is: nothing in the page changes for a mark.
  mark() {
    const current = this.lines[this.place];
    for (const line of this.view.element.querySelectorAll(".line.found")) line.classList.remove("found");
    this.view.lines.find(current)?.classList.add("found");
    if (!globalThis.Highlight) return;
    const words = this.words?.toLowerCase();
    const ranges = words ? [...this.view.element.querySelectorAll(".line-text")].flatMap((text) => rangesIn(text, words)) : [];
    CSS.highlights.set(MARKS, new Highlight(...ranges.slice(0, 5000)));
  }
}

function rangesIn(element, words) {
  const text = element.textContent.toLowerCase();
  const ranges = [];
  for (let at = text.indexOf(words); at >= 0 && ranges.length < 100; at = text.indexOf(words, at + words.length)) {
    const range = document.createRange();
    range.setStart(...placeOf(element, at));
    range.setEnd(...placeOf(element, at + words.length));
    ranges.push(range);
  }
  return ranges;
}

function placeOf(element, offset) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode();
  while (node && offset > node.length) {
    offset -= node.length;
    node = walker.nextNode();
  }
  return node ? [node, offset] : [element, element.childNodes.length];
}
