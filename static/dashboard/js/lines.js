// Output as numbered lines of text nodes: colours by ansi_up, a carriage return writes over its line, only a window is kept.
//
// Nothing a job prints is ever parsed as HTML: ansi_up only tells the fragments apart.
import { linked, startInverse, styled } from "./ink.js";
import { Sequences } from "./sequences.js";
import { clockOf } from "./zone.js";

const MOST_LINES = 2000;
const MOST_CHARACTERS = 300_000;
const LONGEST_LINE = 8000;
const STDERR = 2, NOTICE = 3;

export class LineView {
  // `whole`: of both streams, so that a line that is not there was dropped.
  constructor(element, ansi, whole) {
    this.element = element;
    this.whole = whole;
    this.fragments = [];
    this.ansi = ansi;
    startInverse(ansi);
    ansi.transform_to_html = (fragment) => {
      this.fragments.push(fragment);
      return "";
    };
    this.sequences = new Sequences();
    this.lengths = []; // of the lines in the window, oldest first
    this.total = 0;
    this.line = null;
    this.number = 0;
    this.returned = false;
    this.back = 0; // characters that what comes next is written over
    this.cut = 0;
  }

  // `runs` tell of stretches of `text`: stream, milliseconds, number of the first line, length.
  write({ text, runs }) {
    this.fresh = document.createDocumentFragment();
    const skipped = count(text) - MOST_LINES;
    let start = skipped > 0 ? afterLines(text, skipped) : 0;
    if (start) this.number = 0;
    let at = 0;
    for (const [stream, moment, line, length] of runs) {
      const from = Math.max(at, start);
      if (from < at + length) this.writeRun(text.slice(from, at + length), stream, moment, line + count(text.slice(at, from)));
      at += length;
    }
    this.element.append(this.fresh);
    this.fresh = null;
    if (this.trim() || skipped > 0) this.tellOfMore();
  }

  // Whether this much more would push the oldest lines out.
  isFullWith({ text }) {
    return this.lengths.length + count(text) > MOST_LINES || this.total + Math.min(text.length, LONGEST_LINE * (1 + count(text))) > MOST_CHARACTERS;
  }

  find(number) {
    return this.element.querySelector(`.line[data-n="${number}"]`);
  }

  // Nothing comes any more: the last line may have no end of its own.
  finish() {
    this.endLine(false);
  }

  notice(text) {
    this.endLine(false);
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = text;
    (this.fresh ?? this.element).append(line);
    this.remember(0);
    this.number = 0; // what comes after it need not follow what was before it
  }

  writeRun(text, stream, moment, number) {
    if (this.number !== number) this.endLine(false);
    if (this.whole && this.number && number > this.number) this.notice(`${(number - this.number).toLocaleString("en")} lines were dropped here: the log has a cap.`);
    this.number = number;
    this.stream = stream;
    this.moment = moment;
    text.split("\n").forEach((piece, index) => {
      if (index) {
        this.endLine();
        this.number += 1;
      }
      this.writePiece(piece);
    });
  }

  writePiece(piece) {
    this.sequences.read(piece).split("\r").forEach((part, index) => {
      if (index) this.returned = true;
      part.split("\b").forEach((text, steps) => {
        if (steps) this.back += 1;
        if (text) this.append(text);
      });
    });
  }

  stepBack() {
    const hidden = Math.min(this.back, this.cut);
    this.cut -= hidden;
    let left = this.line ? this.back - hidden : 0;
    this.back = 0;
    while (left > 0 && this.body.lastChild) {
      const piece = this.body.lastChild;
      const characters = Array.from(piece.textContent);
      const kept = characters.slice(0, Math.max(0, characters.length - left)).join("");
      const gone = piece.textContent.length - kept.length;
      left -= characters.length;
      this.lengths[this.lengths.length - 1] -= gone;
      this.total -= gone;
      if (kept) lastText(piece).data = kept;
      else piece.remove();
    }
  }

  append(text) {
    this.fragments = [];
    this.ansi.ansi_to_html(text);
    if (!this.fragments.length) return; // a colour alone writes over nothing
    if (this.returned) this.clearLine();
    if (this.back) this.stepBack();
    this.startLine();
    if (this.stream === STDERR || this.stream === NOTICE) this.line.dataset.stream = this.stream;
    for (const fragment of this.fragments) {
      const last = this.lengths.length - 1;
      const room = Math.max(0, LONGEST_LINE - this.lengths[last]);
      const shown = fragment.text.slice(0, room);
      if (shown) this.body.append(styled(shown, fragment));
      this.lengths[last] += shown.length;
      this.total += shown.length;
      this.cut += fragment.text.length - shown.length;
    }
  }

  startLine() {
    if (this.line) return;
    this.line = document.createElement("span");
    this.line.className = "line";
    this.line.dataset.n = this.number;
    if (this.moment) {
      this.line.dataset.moment = this.moment;
      this.line.dataset.at = clockOf(this.moment);
    }
    const link = document.createElement("a"); // its number comes by the stylesheet, so that nobody copies it
    link.className = "line-number";
    link.href = `#L${this.number}`;
    link.dataset.n = this.number;
    link.tabIndex = -1;
    link.setAttribute("aria-hidden", "true");
    this.body = document.createElement("span");
    this.body.className = "line-text";
    this.line.append(link, this.body);
    (this.fresh ?? this.element).append(this.line);
    this.remember(0);
  }

  sayTimes() {
    for (const line of this.element.querySelectorAll(".line[data-moment]")) line.dataset.at = clockOf(Number(line.dataset.moment));
  }

  clearLine() {
    this.returned = false;
    this.back = 0;
    this.cut = 0;
    if (!this.line) return;
    delete this.line.dataset.stream; // the other stream may write over it
    this.body.replaceChildren();
    this.total -= this.lengths[this.lengths.length - 1];
    this.lengths[this.lengths.length - 1] = 0;
  }

  // `also`: with nothing in it, it is a line all the same.
  endLine(also = true) {
    if (also) this.startLine();
    if (this.cut) this.body.append(faint(` … ${this.cut.toLocaleString("en")} more characters in this line: see the download`));
    if (this.line) linked(this.body);
    this.sequences.endLine();
    this.line = null;
    this.returned = false;
    this.back = 0;
    this.cut = 0;
  }

  remember(length) {
    this.lengths.push(length);
    this.total += length;
  }

  // Takes the oldest lines away, and keeps in place what a reader looks at.
  trim() {
    let gone = 0;
    let characters = this.total;
    while (this.lengths.length - gone > MOST_LINES || (characters > MOST_CHARACTERS && this.lengths.length - gone > 1)) {
      characters -= this.lengths[gone];
      gone += 1;
    }
    if (!gone) return false;
    const before = this.element.scrollHeight;
    const lines = this.element.querySelectorAll(":scope > :not([data-more])");
    for (let index = 0; index < gone; index += 1) lines[index]?.remove();
    this.lengths.splice(0, gone);
    this.total = characters;
    this.element.scrollTop -= before - this.element.scrollHeight;
    return true;
  }

  tellOfMore() {
    this.offer("earlier", "Earlier lines are not shown here; the download has them.", "Show earlier lines");
  }

  // A note before or after the lines, with the button that brings them.
  offer(which, text, word) {
    if (this.element.querySelector(`[data-more="${which}"]`)) return;
    const note = document.createElement("p");
    note.className = "notice";
    note.dataset.more = which;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.logMore = which;
    button.textContent = word;
    note.append(text, " ", button);
    if (which === "earlier") this.element.prepend(note);
    else this.element.append(note);
  }
}

// A piece is a text, or one inside the elements that colour it.
function lastText(piece) {
  return piece.nodeType === Node.TEXT_NODE ? piece : lastText(piece.lastChild);
}

function count(text) {
  let found = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found += 1;
  return found;
}

function afterLines(text, lines) {
  let at = 0;
  for (; lines > 0; lines -= 1) at = text.indexOf("\n", at) + 1;
  return at;
}

function faint(text) {
  const span = document.createElement("span");
  span.className = "faint";
  span.textContent = text;
  return span;
}
