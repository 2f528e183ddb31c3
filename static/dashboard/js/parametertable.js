// The parameters of a job as a table above their JSON Schema. The text stays what is sent: a row changes in it only what
// the row shows, and all else that the schema says stays as it is.
const TYPES = ["string", "integer", "number", "boolean", "array", "object"];
const WORDS = { string: "text", integer: "whole number", number: "number", boolean: "yes or no", array: "list", object: "object" };
const YES_OR_NO = { yes: true, no: false };
const LABELS = ["Name", "Type", "Default", "Required", "Description"];

for (const fold of document.querySelectorAll("[data-parameters]")) start(fold);

function start(fold) {
  const box = fold.querySelector("[data-parameter-table]");
  const text = fold.querySelector("textarea[name=parameters]");
  const draw = () => show(box, schemaIn(text.value), (schema) => write(text, schema));
  text.addEventListener("input", draw);
  draw();
}

function schemaIn(text) {
  let schema = {};
  try {
    if (text.trim()) schema = JSON.parse(text);
  } catch {
    return null; // half typed; the check says what is wrong with it
  }
  const whole = isObject(schema) && isObject(schema.properties ?? {}) && Array.isArray(schema.required ?? []);
  return whole && Object.values(schema.properties ?? {}).every(isObject) ? schema : null;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function write(text, schema) {
  text.value = Object.keys(schema.properties ?? {}).length || "additionalProperties" in schema ? JSON.stringify(schema, null, 2) : "";
  text.dispatchEvent(new Event("change", { bubbles: true }));
}

function show(box, schema, changed) {
  box.hidden = schema === null;
  if (schema === null) return;
  const names = Object.keys(schema.properties ?? {});
  const write = () => changed(schema);
  box.replaceChildren(...names.map((name) => row(schema, name, write)), adder(schema, write));
}

// Nothing is drawn anew while it is typed in: the next click would miss what it was meant for.
function row(schema, name, changed) {
  const one = schema.properties[name];
  const line = document.createElement("fieldset");
  line.className = "parameter-row";
  const about = legend(name);
  const remove = button("×", "icon-button");
  remove.title = "Remove";
  remove.setAttribute("aria-label", removes(name));
  const named = input(name, (value) => {
    named.value = name = rename(schema, name, value.trim());
    about.textContent = `Parameter ${name}`;
    remove.setAttribute("aria-label", removes(name));
    changed();
  });
  const usual = input(defaultText(one), (value) => { setDefault(one, value); changed(); });
  const parts = [
    named,
    types(one, (value) => { one.type = value; delete one.default; usual.value = ""; changed(); }),
    usual,
    check((schema.required ?? []).includes(name), (on) => { require(schema, name, on); changed(); }),
    input(one.description ?? "", (value) => { set(one, "description", value); changed(); }),
  ];
  line.append(about, ...parts.map((part, at) => labelled(LABELS[at], part)));
  remove.addEventListener("click", () => {
    delete schema.properties[name];
    require(schema, name, false);
    changed();
    line.parentElement.querySelector("[data-add]").focus();
    line.remove();
  });
  line.append(remove);
  return line;
}

function adder(schema, changed) {
  const add = button("Add a parameter", "button small");
  add.dataset.add = "";
  add.addEventListener("click", () => {
    const used = Object.keys(schema.properties ?? {});
    let number = used.length + 1;
    while (used.includes(`parameter_${number}`)) number += 1;
    schema.properties ??= {};
    schema.properties[`parameter_${number}`] = { type: "string" };
    changed();
    const line = row(schema, `parameter_${number}`, changed);
    add.before(line);
    line.querySelector("input").select();
  });
  return add;
}

// In its place; the name that it has then. One that is taken, or none, leaves it as it was.
function rename(schema, from, to) {
  if (!to || Object.hasOwn(schema.properties, to)) return from;
  schema.properties = Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name === from ? to : name, one]));
  if (schema.required) schema.required = schema.required.map((name) => (name === from ? to : name));
  return to;
}

function require(schema, name, on) {
  const others = (schema.required ?? []).filter((other) => other !== name);
  set(schema, "required", on ? [...others, name] : others);
}

function set(object, key, value) {
  if (value.length) object[key] = value;
  else delete object[key];
}

function defaultText(one) {
  if (!("default" in one)) return "";
  if (typeof one.default === "boolean") return one.default ? "yes" : "no";
  return typeof one.default === "string" ? one.default : JSON.stringify(one.default);
}

function setDefault(one, text) {
  if (!text) delete one.default;
  else if (one.type === "string") one.default = text;
  else if (one.type === "boolean" && text.trim().toLowerCase() in YES_OR_NO) one.default = YES_OR_NO[text.trim().toLowerCase()];
  else {
    try {
      one.default = JSON.parse(text);
    } catch {
      one.default = text; // the check says that it is none
    }
  }
}

function types(one, changed) {
  const select = document.createElement("select");
  const plain = TYPES.includes(one.type);
  if (!plain) select.append(new Option("see below", "", true, true));
  for (const type of TYPES) select.append(new Option(WORDS[type], type, false, one.type === type));
  select.disabled = !plain && one.type !== undefined;
  select.addEventListener("change", () => changed(select.value));
  return select;
}

function input(value, changed) {
  const one = document.createElement("input");
  Object.assign(one, { type: "text", value, autocomplete: "off", spellcheck: false });
  one.addEventListener("change", () => changed(one.value));
  return one;
}

function check(on, changed) {
  const one = document.createElement("input");
  Object.assign(one, { type: "checkbox", checked: on });
  one.addEventListener("change", () => changed(one.checked));
  return one;
}

function labelled(word, one) {
  const label = document.createElement("label");
  label.append(Object.assign(document.createElement("span"), { textContent: word }), one);
  if (one.type === "checkbox") label.className = "parameter-required";
  return label;
}

function legend(name) {
  return Object.assign(document.createElement("legend"), { className: "visually-hidden", textContent: `Parameter ${name}` });
}

function removes(name) {
  return `Remove ${name} of the parameters`;
}

function button(word, className) {
  return Object.assign(document.createElement("button"), { type: "button", className, textContent: word });
}
