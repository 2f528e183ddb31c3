// Makes one element look like another without replacing it: focus, open menus and hover stay where they are.

// What the page itself has set and a row from the server does not know.
const KEPT = new Set(["open", "aria-describedby", "data-band", "data-withheld", "style"]);

export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html; // drawn by our templates, which escape; scripts in it would not run either
  return template.content.firstElementChild;
}

// Returns false if a part was left as it was, because a control in it that is in use would have become another one.
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) {
    from.replaceWith(to);
    return true;
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return true;
  }
  morphAttributes(from, to);
  // A region inside a row gets its own rows.
  return from.hasAttribute("data-region") || morphChildren(from, to);
}

function morphAttributes(from, to) {
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !KEPT.has(name)) from.removeAttribute(name);
  }
}

function morphChildren(from, to) {
  const wanted = [...to.childNodes];
  const present = [...from.childNodes];
  if (present.some((node, index) => isInUse(node) && !isSame(node, wanted[index]))) return false;
  const whole = wanted.map((node, index) => {
    if (index < present.length) return morph(present[index], node);
    from.append(node);
    return true;
  });
  for (const extra of present.slice(wanted.length)) extra.remove();
  return whole.every(Boolean);
}

// A click that was meant for Cancel must not retry, and whoever has tabbed to a control must not be sent to the page's
// beginning: these wait until the pointer and the focus have left.
function isInUse(node) {
  return node.contains(document.activeElement) || (node.nodeName === "BUTTON" && node.matches(":hover"));
}

function isSame(node, other) {
  if (node.nodeName !== other?.nodeName) return false;
  return node.nodeName !== "BUTTON" || node.getAttribute("formaction") === other.getAttribute("formaction");
}
