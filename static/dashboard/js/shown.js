// Of a form, shows the parts that belong to what is chosen: data-shown-by names the input, data-values its values.
export function startShown(form) {
  const show = () => showChosen(form);
  form.addEventListener("change", show);
  form.addEventListener("input", show);
  show();
}

function showChosen(form) {
  for (const part of form.querySelectorAll("[data-shown-by]")) {
    const chosen = form.elements[part.dataset.shownBy].value;
    part.toggleAttribute("data-off", !part.dataset.values.split(" ").includes(chosen));
  }
}
