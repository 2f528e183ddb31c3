// The log of an attempt: coloured, followed, and never more of it in the page than a window.
//
// The window either ends where the log does, and then what comes goes on it; or it is around a line that was asked for,
// and then what comes is only counted, so that nothing moves under the reader.
import { setText } from "./differs.js";
import { LineView } from "./lines.js";
import { startLogBar } from "./logbar.js";
import { droppedBefore, left, onlyOf, showFollowButton } from "./logparts.js";
import { onZone } from "./zone.js";

const CONTEXT_LINES = 3; // above a line that is shown
const NEAR_PIXELS = 24; // so far from the end is at the end
const AGAIN_MS = 1000; // after a fetch that failed

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
    this.lane = "";
    this.atEnd = true;
    this.loading = 0;
    this.queue = [];
    this.changed = () => {}; // whoever marks what is shown
    this.startFollowing(document.querySelector("[data-log-follow]"));
    onZone(() => this.lines?.sayTimes());
    element.addEventListener("click", (event) => {
      const which = event.target.closest("[data-log-more]")?.dataset.logMore;
      if (which === "earlier") this.showEarlier();
      if (which === "later") this.showLater();
    });
    addEventListener("hashchange", () => this.showHash());
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
    if (this.attempt && this.offset && !(await this.showEnd())) this.offset = 0; // then it comes by the socket
    this.ready = true;
    this.waiting.forEach((call) => call());
    startLogBar(this);
    this.showHash();
  }

  cursor() {
    return { attempt: this.attempt, offset: this.offset };
  }

  // For a page without a socket.
  async fetchMore(signal) {
    const answer = await fetch(`${this.element.dataset.url}?start=${this.offset}`, { signal });
    if (!answer.ok) return;
    const frame = await answer.json();
    if (frame.attempt && frame.attempt !== this.attempt) {
      this.begin(frame.attempt);
      return this.fetchMore(signal);
    }
    this.take(frame);
  }

  take(frame) {
    if (!this.lines || !frame.attempt) return;
    if (frame.attempt !== this.attempt) this.begin(frame.attempt);
    if (this.loading) {
      this.queue.push(frame);
      return;
    }
    if (frame.end > this.offset && this.atEnd && frame.start - frame.skipped !== this.offset) {
      this.catchUp(frame);
      return;
    }
    this.showNext(frame);
  }

  showNext(frame) {
    if (frame.end > this.offset) this.show(frame);
    this.tellEnd(frame);
  }

  // A frame that does not begin where the page is: asked for twice, as by a poll and by the socket that came meanwhile.
  async catchUp(told) {
    const frame = await this.ask({ start: this.offset });
    if (!frame) {
      clearTimeout(this.again);
      this.again = setTimeout(() => this.take(told), AGAIN_MS); // it may be the log's last
      return;
    }
    this.showNext(frame);
    this.goOn(frame.attempt);
  }

  tellEnd(frame) {
    const empty = this.element.querySelector("[data-log-empty]");
    if (frame.complete && !this.lane) setText(empty, "It printed nothing."); // a lane says that of its stream
    if (frame.complete) {
      this.ended = true;
      this.showFollowing();
    }
    if (frame.complete) this.say("The attempt has ended; this is the end of its log.");
    else if (frame.end) this.say("Standard output and errors, as they are printed.");
  }

  // Another attempt: nothing of the one before may stay.
  begin(attempt) {
    clearTimeout(this.again);
    this.attempt = attempt;
    this.offset = 0;
    this.ended = false;
    this.loading = 0;
    this.queue = [];
    this.atEnd = true;
    this.following = true;
    this.startLines();
    this.element.replaceChildren();
    this.showFollowing();
    const label = document.querySelector("[data-log-attempt]");
    if (label) label.textContent = `attempt ${attempt}`;
    this.changed();
  }

  startLines() {
    this.shown = false;
    this.lines = new LineView(this.element, new this.AnsiUp(), !this.lane);
  }

  show(frame) {
    this.offset = frame.end;
    if (this.isReading()) this.following = false;
    const shown = this.lane ? onlyOf(frame, Number(this.lane)) : frame;
    const waits = !this.atEnd || (!this.following && this.shown && this.lines.isFullWith(shown));
    if (waits) {
      // To put it there would push what is being read out of the page.
      this.atEnd = false;
      this.lines.offer("later", "There is more after this.", "Show later lines");
      this.showFollowing();
      return;
    }
    if (!this.shown) this.element.replaceChildren();
    this.shown = true;
    if (frame.skipped) this.lines.notice(left(frame.skipped, frame.dropped ?? 0));
    this.lines.write(shown);
    if (frame.complete) this.lines.finish();
    if (this.following) this.toEnd();
    this.changed();
  }

  // --- Windows ---

  // The end of the log as far as this page has been told of it. False if it could not be had.
  async showEnd() {
    const frame = await this.fetchWindow({});
    if (!frame) return false;
    this.place(frame, true);
    this.following = true;
    this.toEnd();
    this.settle(frame);
    return true;
  }

  // Line `number` with what is around it; `top`: how far below the log's upper edge it is put.
  async showLine(number, top = null) {
    let line = this.lines.find(number);
    if (!line) {
      const frame = await this.fetchWindow({ line: number });
      if (!frame) return null;
      this.following = false;
      this.place(frame, frame.end >= this.offset);
      line = this.lines.find(number) ?? this.nearest(number);
      this.settle(frame);
    }
    if (!line) return null;
    this.following = false;
    const context = top ?? CONTEXT_LINES * line.firstElementChild.getBoundingClientRect().height;
    this.element.scrollTop += line.getBoundingClientRect().top - this.element.getBoundingClientRect().top - context;
    this.showFollowing();
    return line;
  }

  nearest(number) {
    const lines = [...this.element.querySelectorAll(".line")];
    return lines.find((line) => Number(line.dataset.n) >= number) ?? lines.at(-1);
  }

  async showEarlier() {
    const first = this.element.querySelector(".line");
    if (!first) return;
    const top = first.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
    const number = Number(first.dataset.n);
    first.dataset.n = ""; // so that it is fetched, with what is before it
    await this.showLine(number, top);
  }

  async showLater() {
    const last = [...this.element.querySelectorAll(".line")].at(-1);
    if (!last) return this.showEnd();
    await this.showLine(Number(last.dataset.n) + 1, this.element.clientHeight / 2);
  }

  fetchWindow(query) {
    return this.ask({ until: this.offset, ...(this.lane && { stream: this.lane }), ...query });
  }

  // What comes by the socket meanwhile waits; who gets a frame lets it go on.
  async ask(query) {
    const attempt = this.attempt;
    this.loading += 1;
    const mine = (this.asked = (this.asked ?? 0) + 1);
    try {
      const parameters = new URLSearchParams({ attempt, ...query });
      const answer = await fetch(`${this.element.dataset.url}?${parameters}`);
      const frame = answer.ok ? await answer.json() : null;
      if (frame && attempt === this.attempt && mine === this.asked) return frame;
    } catch {
      this.say("The log could not be fetched; is the server there? Try again.");
    }
    this.goOn(attempt);
    return null;
  }

  place(frame, atEnd) {
    this.element.replaceChildren();
    this.startLines();
    this.atEnd = atEnd;
    this.shown = true;
    if (frame.dropped && frame.text) this.lines.notice(droppedBefore(frame.dropped));
    if (frame.text) this.lines.write(frame);
    else this.tellNothing();
    if (frame.text && !frame.begins) this.lines.tellOfMore();
    if (frame.complete) this.lines.finish();
    if (!atEnd) this.lines.offer("later", "There is more after this.", "Show later lines");
  }

  tellNothing() {
    const note = document.createElement("p");
    note.className = "log-empty";
    note.dataset.logEmpty = "";
    note.textContent = this.lane === "2" ? "Nothing was printed on stderr." : this.lane ? "Nothing was printed on stdout." : "Nothing printed yet.";
    this.element.append(note);
    this.shown = false;
  }

  settle(frame) {
    this.goOn(frame.attempt);
    if (this.atEnd) this.tellEnd(frame);
    else this.say("A part of the log; follow it to see its end.");
    this.showFollowing();
    this.changed();
  }

  // What came by the socket meanwhile goes where the window ends.
  goOn(attempt) {
    this.loading = Math.max(0, this.loading - 1);
    if (this.loading || attempt !== this.attempt) return;
    const queued = this.queue;
    this.queue = [];
    queued.forEach((frame) => this.take(frame));
  }

  setLane(lane) {
    this.lane = lane;
    return this.attempt ? this.showEnd() : null;
  }

  async showHash() {
    const number = /^#L(\d{1,12})$/.exec(location.hash)?.[1];
    if (!number || !this.ready) return;
    const line = await this.showLine(Number(number));
    this.element.querySelector(".line.chosen")?.classList.remove("chosen");
    if (!line) return;
    line.classList.add("chosen");
    if (line.dataset.n !== number) this.say(`Line ${number} is not there; this is the line next to it.`);
    this.element.scrollIntoView({ block: "nearest" });
  }

  // --- Following ---

  say(text) {
    setText(document.querySelector("[data-log-state]"), text);
  }

  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
    this.top = this.element.scrollTop;
  }

  isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < NEAR_PIXELS;
  }

  // Whether somebody has scrolled up, of which the browser tells only before it draws again.
  isReading() {
    return this.element.scrollTop < this.top && !this.isNearEnd();
  }

  showFollowing() {
    showFollowButton(this.button, { over: this.ended || !this.follows, atEnd: this.atEnd, following: this.following });
  }

  startFollowing(button) {
    this.following = true;
    if (!button) return;
    this.button = button;
    button.hidden = !this.follows;
    button.addEventListener("click", () => {
      if (!this.atEnd) {
        this.showEnd();
        return;
      }
      this.following = !this.following;
      if (this.following) this.toEnd();
      this.showFollowing();
    });
    // Whoever scrolls up reads; whoever scrolls to the end follows.
    this.element.addEventListener("scroll", () => {
      this.following = this.atEnd && this.isNearEnd();
      this.showFollowing();
    }, { passive: true });
  }
}
