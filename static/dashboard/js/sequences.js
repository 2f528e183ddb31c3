// What a job tells a terminal beside text. Of it only colours are kept, and what begins a line anew; titles, links, moves
// and the like are left out. ansi_up alone shows some of these as text, and looks through an endless one again and again.
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
const NO_TEXT = /[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f]/g; // a bell, a NUL: written over nothing, and of no width
const LONGEST = 4096; // what is longer is none

export class Sequences {
  held = "";

  // `piece`: of one line. What may be the start of a sequence waits for the next piece.
  read(piece) {
    const text = this.held + piece;
    const end = text.length - unfinished(text.slice(-LONGEST)).length;
    this.held = text.slice(end);
    return text.slice(0, end).replace(SEQUENCE, meaning).replace(/\x1b(?!\[[\d;]*m)/g, "").replace(NO_TEXT, "");
  }

  // Nothing reaches over the end of a line.
  endLine() {
    this.held = "";
  }
}

// An escape at the very end may be half of the mark that ends a title, so the one before it counts, too.
function unfinished(text) {
  const last = text.lastIndexOf("\x1b");
  const before = last > 0 && last === text.length - 1 ? text.lastIndexOf("\x1b", last - 1) : -1;
  return UNFINISHED.exec(text.slice(Math.max(before < 0 ? last : before, 0)))?.[0] ?? "";
}

function meaning(_, parameters, command) {
  if (command === "m" && /^[\d;:]*$/.test(parameters)) return `\x1b[${parameters.split(";").map(plainColour).join(";")}m`;
  return command === "G" && /^[01]?$/.test(parameters) ? "\r" : "";
}

// ansi_up knows 38;2;r;g;b and 38;5;n, but not these with colons, which may have a colour space before r.
function plainColour(code) {
  const [kind, model, ...rest] = code.split(":");
  if (model === undefined || (kind !== "38" && kind !== "48")) return kind;
  return [kind, model, ...(model === "2" ? rest.slice(-3) : rest)].join(";");
}
