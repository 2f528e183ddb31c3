// Whoever leaves a form with something typed in it is asked first; not who sends it, nor who changed nothing.
export function startUnsaved(form) {
  // What came with the page, whatever a browser filled in after Back; the editor takes the place of a text area later.
  const came = new Map(named(form).map((input) => [keyOf(input), usual(input)]));
  let sent = false;

  const isChanged = () => form.hasAttribute("data-unsaved") || named(form).some((input) => came.get(keyOf(input)) !== current(input));

  form.addEventListener("submit", () => {
    sent = true;
  });
  addEventListener("pageshow", () => {
    sent = false;
  });
  addEventListener("beforeunload", (event) => {
    if (!sent && isChanged()) event.preventDefault();
  });
}

function named(form) {
  return [...form.elements].filter((input) => input.name && input.type !== "hidden" && input.type !== "submit");
}

function keyOf(input) {
  return input.type === "radio" ? `${input.name} ${input.value}` : input.name;
}

function usual(input) {
  if (input.type === "radio" || input.type === "checkbox") return input.defaultChecked;
  if (input.tagName === "SELECT") return ([...input.options].find((option) => option.defaultSelected) ?? input.options[0])?.value;
  return input.defaultValue;
}

function current(input) {
  return input.type === "radio" || input.type === "checkbox" ? input.checked : input.value;
}
