// Choices that a browser keeps for its user. Where it keeps nothing (blocked, full) they last as long as the page.
const PREFIX = "rota-";
const unkept = new Map();

// One of `allowed`, the first of which is what holds for whoever has chosen nothing.
export function chosen(name, allowed) {
  let value = unkept.get(name);
  try {
    value ??= localStorage.getItem(PREFIX + name);
  } catch {
    // Storage is blocked: nothing was kept.
  }
  return allowed.includes(value) ? value : allowed[0];
}

export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
    unkept.delete(name);
  } catch {
    unkept.set(name, value);
  }
}

// Tells of a choice that was made in another tab.
function whenChosenElsewhere(name, act) {
  addEventListener("storage", (event) => {
    if (event.key === PREFIX + name || event.key === null) act();
  });
}

// Fieldsets of radio buttons that choose one of `allowed`; hidden without a script, as they would do nothing.
export function startSwitch(name, allowed, show) {
  const switches = document.querySelectorAll(`[data-switch="${name}"]`);
  const apply = () => {
    const value = chosen(name, allowed);
    for (const radio of document.querySelectorAll(`[data-switch="${name}"] input`)) radio.checked = radio.value === value;
    show(value);
  };
  for (const fieldset of switches) {
    fieldset.hidden = false;
    fieldset.addEventListener("change", (event) => {
      keep(name, event.target.value);
      apply();
    });
  }
  whenChosenElsewhere(name, apply);
  addEventListener("pageshow", apply); // a browser fills radio buttons in again after Back
  apply();
}
