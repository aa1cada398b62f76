// The page: it loads what is known of the presets, and shows the exhibit that the address names.
import { h } from "./dom.js";
import { Bench } from "./bench.js";
import { Duel } from "./duel.js";
import { addView } from "./views/add.js";
import { cellsView } from "./views/cells.js";
import { sortView } from "./views/sort.js";
import { stackView } from "./views/stack.js";
import { treeView } from "./views/tree.js";
import { walkView } from "./views/walk.js";
import { readState } from "./link.js";
import { Store } from "./store.js";

const VIEWS = { walk: walkView, sort: sortView, add: addView, tree: treeView, stack: stackView, cells: cellsView };

async function main() {
  const place = document.getElementById("main");
  let store;
  try {
    store = await Store.load();
  } catch (error) {
    place.replaceChildren(
      h("p", { role: "alert" }, `The gallery cannot be loaded (${error.message}). Is its server running?`),
    );
    return;
  }
  const { pages } = store.data;
  const links = pages.map(({ id, title }) => h("a", { href: `#page=${id}` }, title));
  document.getElementById("pages").append(...links.map((link) => h("li", {}, link)));
  let shown = null;

  function show() {
    if (location.hash && !location.hash.includes("=")) return; // the link to #main
    const state = readState();
    const page = pages.find(({ id }) => id === state.page) ?? pages[0];
    links.forEach((link, i) => {
      if (pages[i] === page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    document.title = `${page.title} · kzoo gallery`;
    if (shown?.page === page) {
      shown.exhibit.restore(state);
      return;
    }
    shown?.exhibit.close();
    const exhibit = page.duels ? new Duel(page, store) : new Bench(page, store, VIEWS[page.id]);
    shown = { page, exhibit };
    place.replaceChildren(exhibit.element);
    exhibit.restore(state);
  }

  addEventListener("hashchange", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown?.exhibit.redraw());
  let resizing;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => shown?.exhibit.redraw(), 100);
  });
  show();
  // What makes the page work offline waits until the first answer is there.
  setTimeout(() => navigator.serviceWorker?.register("service-worker.js").catch(() => {}), 3000);
}

main();
