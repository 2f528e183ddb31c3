// Output as lines of text nodes: colours by ansi_up, a carriage return writes over its line, only a window is kept.
//
// Nothing a job prints is ever parsed as HTML: ansi_up only tells the fragments apart.
const MOST_LINES = 2000;
const MOST_CHARACTERS = 300_000;
const LONGEST_LINE = 8000;

export class LineView {
  constructor(element, ansi) {
    this.element = element;
    this.fragments = [];
    this.ansi = ansi;
    ansi.transform_to_html = (fragment) => {
      this.fragments.push(fragment);
      return "";
    };
    ansi.process_hyperlink = (link) => {
      this.fragments.push({ text: link.text });
      return "";
    };
    this.lengths = []; // of the lines in the window, oldest first
    this.total = 0;
    this.line = null;
    this.returned = false;
    this.cut = 0;
  }

  write(text) {
    const pieces = text.split("\n");
    const skipped = pieces.length - 1 - MOST_LINES;
    if (skipped > 0) {
      pieces.splice(0, skipped);
      this.endLine();
    }
    this.fresh = document.createDocumentFragment();
    pieces.forEach((piece, index) => {
      this.writePiece(piece);
      if (index < pieces.length - 1) this.endLine();
    });
    this.element.append(this.fresh);
    if (this.trim() || skipped > 0) this.tellOfMore();
  }

  notice(text) {
    this.endLine();
    const line = document.createElement("p");
    line.className = "notice";
    line.textContent = text;
    this.element.append(line);
    this.remember(0);
  }

  writePiece(piece) {
    piece.split("\r").forEach((part, index) => {
      if (index) this.returned = true;
      if (!part) return;
      if (this.returned) this.clearLine();
      this.append(part);
    });
  }

  append(text) {
    this.fragments = [];
    this.ansi.ansi_to_html(text);
    if (!this.fragments.length) return;
    this.startLine();
    for (const fragment of this.fragments) {
      const last = this.lengths.length - 1;
      const room = Math.max(0, LONGEST_LINE - this.lengths[last]);
      const shown = fragment.text.slice(0, room);
      if (shown) this.line.append(styled(shown, fragment));
      this.lengths[last] += shown.length;
      this.total += shown.length;
      this.cut += fragment.text.length - shown.length;
    }
  }

  startLine() {
    if (this.line) return;
    this.line = document.createElement("span");
    this.line.className = "line";
    (this.fresh ?? this.element).append(this.line);
    this.remember(0);
  }

  clearLine() {
    this.returned = false;
    this.cut = 0;
    if (!this.line) return;
    this.line.replaceChildren();
    this.total -= this.lengths[this.lengths.length - 1];
    this.lengths[this.lengths.length - 1] = 0;
  }

  endLine() {
    this.startLine();
    if (this.cut) this.line.append(faint(` … ${this.cut.toLocaleString("en")} more characters in this line: see the download`));
    this.ansi._buffer = ""; // half a colour code does not reach over a line's end
    this.line = null;
    this.returned = false;
    this.cut = 0;
  }

  remember(length) {
    this.lengths.push(length);
    this.total += length;
  }

  // Takes the oldest lines away, and keeps in place what a reader looks at.
  trim() {
    let count = 0;
    let characters = this.total;
    while (this.lengths.length - count > MOST_LINES || (characters > MOST_CHARACTERS && this.lengths.length - count > 1)) {
      characters -= this.lengths[count];
      count += 1;
    }
    if (!count) return false;
    const before = this.element.scrollHeight;
    const lines = this.element.querySelectorAll(":scope > :not([data-more])");
    for (let index = 0; index < count; index += 1) lines[index]?.remove();
    this.lengths.splice(0, count);
    this.total = characters;
    this.element.scrollTop -= before - this.element.scrollHeight;
    return true;
  }

  tellOfMore() {
    if (this.element.querySelector("[data-more]")) return;
    const more = document.createElement("p");
    more.className = "notice";
    more.dataset.more = "";
    more.textContent = "Earlier lines are not shown here; the download has them.";
    this.element.prepend(more);
  }
}

function styled(text, { bold, faint: dim, italic, underline, fg, bg }) {
  const classes = [bold && "bold", dim && "faint", italic && "italic", underline && "underline", name(fg, "fg"), name(bg, "bg")];
  const given = classes.filter(Boolean).join(" ");
  if (!given && !fg && !bg) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = given;
  span.textContent = text;
  if (isTrue(fg)) span.style.color = `rgb(${fg.rgb.join(",")})`;
  if (isTrue(bg)) span.style.backgroundColor = `rgb(${bg.rgb.join(",")})`;
  return span;
}

function faint(text) {
  const span = document.createElement("span");
  span.className = "faint";
  span.textContent = text;
  return span;
}

function isTrue(color) {
  return color?.class_name === "truecolor";
}

function name(color, end) {
  return color && !isTrue(color) ? `${color.class_name}-${end}` : "";
}
