// Writes only what differs: each write costs a layout, and wakes whoever observes the element.
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (element && value !== undefined && element.getAttribute(name) !== value) element.setAttribute(name, value);
}
