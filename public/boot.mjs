// What Trunk runs around loading the engine, and what every page does once scripts run.

/** Lets the keyboard scroll what is wider than the page: formulas, tables, code. */
function scrollable() {
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth + 1) {
        target.tabIndex = 0;
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  const watch = () => {
    sized.disconnect();
    for (const wide of document.querySelectorAll("#main .math, #main .table-scroll, #main pre")) sized.observe(wide);
  };
  watch();
  // The site swaps <main> when the reader turns to another page.
  new MutationObserver(watch).observe(document.body, { childList: true });
}

/** Pointing at a symbol of a formula marks the matrices that cells call by its name. */
function named() {
  let marked = [];
  document.addEventListener("pointerover", ({ target }) => {
    const symbol = target.closest?.("math .symbol")?.dataset.symbol;
    if (symbol === undefined && marked.length === 0) return;
    for (const matrix of marked) delete matrix.dataset.named;
    const titles = symbol === undefined ? [] : document.querySelectorAll("#main .cell :is(figcaption, caption)");
    marked = [...titles]
      .filter((title) => title.querySelector("[data-symbol]")?.dataset.symbol === symbol)
      .map((title) => title.parentElement);
    for (const matrix of marked) matrix.dataset.named = "";
  });
}

/** Resolves when every cell in the window shows its numbers, or says why not, and the browser has nothing to do. */
async function settled() {
  const waits = (cell) => {
    const { top, bottom } = cell.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && !["ready", "error"].includes(cell.dataset.state);
  };
  do {
    await new Promise((resolve) => setTimeout(resolve, 1000));
  } while ([...document.querySelectorAll("[data-cell]")].some(waits));
  await new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));
}

/**
 * After the first visit the site works offline. Only release builds carry the list of files. The copy waits for what the reader
 * waits for, and who asked the browser to save data gets none.
 */
async function offline() {
  const { root, offline } = document.documentElement.dataset;
  if (offline === undefined || !("serviceWorker" in navigator) || navigator.connection?.saveData) return;
  await settled();
  try {
    await navigator.serviceWorker.register(new URL("sw.js", root), { scope: root });
  } catch (error) {
    // Reading goes on without it.
    console.info("No offline copy:", error.message);
  }
}

export default function initializer() {
  scrollable();
  named();
  if (document.readyState === "complete") {
    offline();
  } else {
    addEventListener("load", offline, { once: true });
  }
  return {
    onFailure(error) {
      dispatchEvent(new CustomEvent("notebook-failed", { detail: error }));
    },
  };
}
