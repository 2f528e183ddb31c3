// The secrets of a job, chosen in rows. What is sent stays the lines of the text area: VARIABLE=name, and (file) behind it.
const FILE = " (file)";

for (const part of document.querySelectorAll("[data-secrets]")) startSecrets(part);

function startSecrets(part) {
  const lines = part.querySelector("textarea");
  const rows = part.querySelector("[data-secrets-rows]");
  const row = part.querySelector("[data-secrets-row]");
  const add = part.querySelector("[data-secrets-add]");
  const faults = part.querySelectorAll(`#e-${lines.name} .error`);

  const say = () => {
    lines.value = [...rows.children].map(lineOf).join("\n");
    lines.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const append = (use) => {
    const made = row.content.firstElementChild.cloneNode(true);
    show(made, use);
    rows.append(made);
    return made;
  };

  for (const line of lines.value.split("\n").filter((text) => text.trim())) append(useOf(line.trim()));
  rows.addEventListener("input", (event) => {
    event.stopPropagation(); // of inputs that have no name, and are not sent
    if (event.target.matches("[data-secret]")) follow(event.target.closest("[role=group]"));
    say();
  });
  rows.addEventListener("click", (event) => {
    if (!event.target.closest("[data-remove]")) return;
    event.target.closest("[role=group]").remove();
    add.focus();
    say();
  });
  add.addEventListener("click", () => {
    const made = append({ name: row.content.querySelector("option").value, variable: "", file: false });
    follow(made);
    made.querySelector("[data-secret]").focus();
    say();
  });

  if (faults.length) rows.before(besides(faults)); // without the hint, which is of the lines
  part.querySelector("[data-secrets-lines]").hidden = true;
  rows.hidden = false;
  add.hidden = !row.content.querySelector("option");
}

function besides(faults) {
  const field = Object.assign(document.createElement("div"), { className: "field" });
  field.append(...faults);
  return field;
}

function useOf(line) {
  const file = line.endsWith(FILE);
  const [variable, ...name] = (file ? line.slice(0, -FILE.length) : line).split("=");
  return name.length ? { variable: variable.trim(), name: name.join("=").trim(), file } : { variable: "", name: variable, file };
}

function lineOf(row) {
  const variable = row.querySelector("[data-variable]").value.trim();
  const name = row.querySelector("[data-secret]").value;
  return `${variable ? `${variable}=` : ""}${name}${row.querySelector("[data-file]").checked ? FILE : ""}`;
}

function show(row, use) {
  const choice = row.querySelector("[data-secret]");
  if (![...choice.options].some((option) => option.value === use.name)) choice.add(new Option(`${use.name} (there is none)`, use.name));
  choice.value = use.name;
  row.querySelector("[data-variable]").value = use.variable;
  row.querySelector("[data-file]").checked = use.file;
  row.dataset.proposed = proposed(use.name);
}

// The variable follows the secret until somebody types one.
function follow(row) {
  const variable = row.querySelector("[data-variable]");
  const name = proposed(row.querySelector("[data-secret]").value);
  if (!variable.value || variable.value === row.dataset.proposed) variable.value = name;
  row.dataset.proposed = name;
}

function proposed(name) {
  return name.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
}
