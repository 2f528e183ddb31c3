// Makes one element look like another without replacing it: focus, open menus and hover stay where they are.

// What the page itself has set and a row from the server does not know.
const KEPT = new Set(["open", "data-band"]);

export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html; // drawn by our templates, which escape; scripts in it would not run either
  return template.content.firstElementChild;
}

export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) {
    from.replaceWith(to);
    return;
  }
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  morphAttributes(from, to);
  // A region inside a row gets its own rows.
  if (!from.hasAttribute("data-region")) morphChildren(from, to);
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
  wanted.forEach((node, index) => {
    if (index < present.length) morph(present[index], node);
    else from.append(node);
  });
  for (const extra of present.slice(wanted.length)) extra.remove();
}
