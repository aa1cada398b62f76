// Small helpers to make elements.

/** Returns an HTML element. Attributes that are functions are listeners; false, null and undefined are left out. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Returns an SVG element. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A control with a label that says what it is. */
export function labelled(text, control) {
  return h("label", { class: "field" }, h("span", {}, text), control);
}

/** A share as a whole percentage, never rounded to 0 or 100. */
export function percent(value) {
  const rounded = Math.round(100 * value);
  if (rounded === 100 && value < 0.9995) return "over 99 %";
  if (rounded === 0 && value > 0.0005) return "under 1 %";
  return `${rounded} %`;
}

/** The colour of a variable of the style, in the scheme in force, for a canvas: an element has to be asked for it. */
export function color(name) {
  const probe = h("i", { style: `color: var(--${name})`, hidden: true });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Sizes a canvas for the screen; returns its context, in CSS pixels. */
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, ht] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== ht) {
    [canvas.width, canvas.height] = [w, ht];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Whether the window is as narrow as a telephone: drawings are then made smaller, with letters of the same size. */
export const narrow = () => innerWidth < 560;

/** Lets the browser draw and hear the user, then goes on. */
export const breath = () => new Promise((resolve) => setTimeout(resolve));
