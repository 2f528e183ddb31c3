// How a piece of output is drawn: its colours, reverse video, and the addresses in it as links.
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\u0000-\u001f\u202a-\u202e\u2066-\u2069]+/g;
const AFTER_IT = /[.,;:!?*]+$/; // belongs to the sentence around an address

// ansi_up knows no reverse video (7, and 27 for its end), so it is told of before each sequence is read.
export function startInverse(ansi) {
  const process = ansi.process_ansi.bind(ansi);
  const state = ansi.with_state.bind(ansi);
  ansi.inverse = false;
  ansi.process_ansi = (packet) => {
    ansi.inverse = inverseAfter(packet.text, ansi.inverse);
    process(packet);
  };
  ansi.with_state = (packet) => ({ ...state(packet), inverse: ansi.inverse });
}

function inverseAfter(text, before) {
  let inverse = before;
  const codes = text.split(";").map((code) => Number.parseInt(code, 10) || 0);
  for (let at = 0; at < codes.length; at += 1) {
    if (codes[at] === 0 || codes[at] === 27) inverse = false;
    else if (codes[at] === 7) inverse = true;
    else if (codes[at] === 38 || codes[at] === 48) at += { 5: 2, 2: 4 }[codes[at + 1]] ?? 0; // a 7 in there is a colour
  }
  return inverse;
}

// Wraps the addresses in a whole line, which may have come in pieces. Only http and https, and only as text says them.
export function linked(body) {
  if (!body.textContent.includes("://")) return;
  body.normalize();
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    for (const found of [...text.data.matchAll(ADDRESS)].reverse()) {
      const address = trimmed(found[0]);
      if (!URL.canParse(address)) continue;
      const range = document.createRange();
      range.setStart(text, found.index);
      range.setEnd(text, found.index + address.length);
      const link = document.createElement("a");
      link.href = address;
      link.rel = "noreferrer noopener";
      link.target = "_blank";
      range.surroundContents(link);
    }
  }
}

function trimmed(address) {
  let kept = address.replace(AFTER_IT, "");
  for (const [open, close] of ["()", "[]", "{}"]) {
    while (kept.endsWith(close) && kept.split(close).length > kept.split(open).length) kept = kept.slice(0, -1).replace(AFTER_IT, "");
  }
  return kept;
}

export function styled(text, { bold, faint: dim, italic, underline, fg, bg, inverse }) {
  if (inverse) return inversed(text, { bold, faint: dim, italic, underline, fg: fg ?? null, bg: null });
  const classes = [bold && "bold", dim && "faint", italic && "italic", underline && "underline", name(fg, "fg"), name(bg, "bg")];
  const given = classes.filter(Boolean).join(" ");
  if (!given && !fg && !bg) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = given;
  span.textContent = text;
  if (isTrue(fg)) span.style.color = `rgb(${(bg ? fg.rgb : readable(fg.rgb)).join(",")})`;
  if (isTrue(bg)) span.style.backgroundColor = `rgb(${bg.rgb.join(",")})`;
  return span;
}

// Colours out of 16 million are meant for any background: on ours the dark ones are lightened until they can be read.
function readable(rgb) {
  let shown = rgb;
  while (luminance(shown) < 0.23) shown = shown.map((part) => Math.min(255, Math.round(part * 0.85 + 255 * 0.15)));
  return shown;
}

function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// The letters are dark on their own colour, so that they can be read on each of them.
function inversed(text, look) {
  const outer = styled("", look);
  const block = outer.nodeType === Node.TEXT_NODE ? document.createElement("span") : outer;
  const letters = document.createElement("span");
  letters.textContent = text;
  block.classList.add("inverse");
  block.append(letters);
  return block;
}

function isTrue(color) {
  return color?.class_name === "truecolor";
}

function name(color, end) {
  return color && !isTrue(color) ? `${color.class_name}-${end}` : "";
}
