// What is shown, in the address: it can be shared, and leads back to the same.

/** Returns what the address says, as an object of strings. */
export function readState() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Writes it, without an entry in the history. */
export function writeState(state) {
  const known = Object.entries(state).filter(([, value]) => value !== undefined && value !== null && value !== "");
  history.replaceState(null, "", `#${new URLSearchParams(known)}`);
}

/** Copies the address; says on the button whether it could. */
export async function copyLink(event) {
  const button = event.currentTarget;
  let said = "Link copied";
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    said = "Copy it from the address bar";
  }
  button.textContent = said;
  setTimeout(() => (button.textContent = "Copy a link to this"), 2000);
}
