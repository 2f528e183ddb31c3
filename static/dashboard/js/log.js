// The log of an attempt: coloured, followed, and never more of it in the page than a window.
import { LineView } from "./lines.js";

export function startLog(element) {
  const view = new LogView(element);
  view.load();
  return view;
}

class LogView {
  constructor(element) {
    this.element = element;
    this.attempt = Number(element.dataset.attempt);
    this.offset = Number(element.dataset.offset);
    this.follows = element.hasAttribute("data-follows");
    this.ready = false;
    this.waiting = [];
    this.lines = null;
    this.startFollowing(document.querySelector("[data-log-follow]"));
  }

  whenReady(call) {
    if (this.ready) call();
    else this.waiting.push(call);
  }

  // The text that came with the page is plain: fetch it again with its colours.
  async load() {
    try {
      const { AnsiUp } = await import(this.element.dataset.ansi);
      this.AnsiUp = AnsiUp;
    } catch {
      this.say("This log cannot go on by itself: a script is missing. Reload the page to see more.");
      return;
    }
    this.startLines();
    if (this.attempt && this.offset) await this.fetchFirst();
    this.toEnd();
    this.ready = true;
    this.waiting.forEach((call) => call());
  }

  async fetchFirst() {
    this.offset = 0; // if this fails, it comes by the socket
    try {
      const answer = await fetch(`${this.element.dataset.url}?attempt=${this.attempt}`);
      if (!answer.ok) return;
      const frame = await answer.json();
      this.offset = frame.start;
      this.show(frame);
    } catch {
      this.say("The log could not be fetched; trying again.");
    }
  }

  cursor() {
    return { attempt: this.attempt, offset: this.offset };
  }

  // For a page without a socket.
  async fetchMore() {
    const answer = await fetch(`${this.element.dataset.url}?start=${this.offset}`);
    if (!answer.ok) return;
    const frame = await answer.json();
    if (frame.attempt && frame.attempt !== this.attempt) {
      this.begin(frame.attempt);
      return this.fetchMore();
    }
    this.take(frame);
  }

  take(frame) {
    if (!this.lines || !frame.attempt) return;
    if (frame.attempt !== this.attempt) this.begin(frame.attempt);
    if (frame.end > this.offset) this.show(frame);
    const empty = this.element.querySelector("[data-log-empty]");
    if (frame.complete && empty) empty.textContent = "It printed nothing.";
    if (frame.complete) this.say("The attempt has ended; this is the end of its log.");
    else if (frame.end) this.say("Standard output and errors, as they are printed.");
  }

  // Another attempt: nothing of the one before may stay.
  begin(attempt) {
    this.attempt = attempt;
    this.offset = 0;
    this.startLines();
    const label = document.querySelector("[data-log-attempt]");
    if (label) label.textContent = `attempt ${attempt}`;
  }

  startLines() {
    this.shown = false;
    this.lines = new LineView(this.element, new this.AnsiUp());
  }

  show(frame) {
    if (!this.shown) this.element.replaceChildren();
    this.shown = true;
    if (frame.skipped) this.lines.notice(left(frame.skipped, frame.dropped ?? 0));
    this.lines.write(frame.text);
    this.offset = frame.end;
    if (this.following) this.toEnd();
  }

  say(text) {
    const state = document.querySelector("[data-log-state]");
    if (state && state.textContent !== text) state.textContent = text;
  }

  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
  }

  startFollowing(button) {
    this.following = true;
    if (!button || !this.follows) return;
    button.hidden = false;
    const show = () => {
      button.setAttribute("aria-pressed", String(this.following));
      const word = this.following ? "Following" : "Follow";
      if (button.textContent !== word) button.textContent = word;
    };
    button.addEventListener("click", () => {
      this.following = !this.following;
      if (this.following) this.toEnd();
      show();
    });
    // Whoever scrolls up reads; whoever scrolls to the end follows.
    this.element.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.element;
      this.following = scrollHeight - scrollTop - clientHeight < 24;
      show();
    }, { passive: true });
  }
}

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let step = 0;
  while (bytes >= 1024 && step < units.length - 1) {
    bytes /= 1024;
    step += 1;
  }
  return `${bytes.toFixed(step ? 1 : 0)} ${units[step]}`;
}

function left(skipped, dropped) {
  if (!dropped) return `${size(skipped)} of output are not shown here; the download has them.`;
  if (dropped >= skipped) return `${size(dropped)} of output were dropped here: the log has a cap.`;
  return `${size(skipped)} of output are not shown here; the download has them, but for ${size(dropped)} that the log's cap dropped.`;
}
