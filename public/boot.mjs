// What Trunk runs around loading the engine, and what every page does once scripts run.

// The engine is fetched when this module has run (crates/pages/assets/head.js).
await globalThis.painted;

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

/**
 * Remembers on this device what the reader has chosen in each guess, and shows it when the page is opened again. Where the browser
 * keeps nothing, a guess starts without a choice.
 */
function guesses() {
  // `src/browser/preference.rs` makes the same name.
  const NAME = `guesses ${document.documentElement.dataset.root}`;
  const kept = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(NAME));
      return kept?.constructor === Object ? kept : {};
    } catch {
      return {};
    }
  };
  const key = (input) => `${input.closest("main")?.dataset.page} ${input.name}`;
  const show = () => {
    const all = kept();
    for (const input of document.querySelectorAll("#main .guess input")) {
      // A choice of this visit stays.
      const isOpen = input.closest(".guess").querySelector(":checked") === null;
      if (isOpen && all[key(input)] === input.id) input.checked = true;
    }
  };
  show();
  // The site swaps <main> when the reader turns to another page.
  new MutationObserver(show).observe(document.body, { childList: true });
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".guess input")) return;
    try {
      localStorage.setItem(NAME, JSON.stringify({ ...kept(), [key(target)]: target.id }));
    } catch {
      // Refused where the storage is full or switched off: then it is not kept.
    }
  });
}

/** Whether an element is in the window or within a window's height of it, which is when `src/browser/near.rs` lets a cell begin. */
function isNear(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > -innerHeight && top < 2 * innerHeight;
}

/**
 * Whether the reader waits for this page: a model is read or computes (`data-computing`), or the reader looks at this tab and a
 * cell near the window does not show its numbers yet, nor say why not.
 */
function isWaiting() {
  if (document.querySelector("[data-computing]")) return true;
  if (document.visibilityState === "hidden") return false;
  const waits = (cell) => !["ready", "error"].includes(cell.dataset.state) && isNear(cell);
  return [...document.querySelectorAll("[data-cell]")].some(waits);
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Resolves when the reader waits for nothing and the browser has nothing to do. */
async function settled() {
  do {
    await pause(1000);
  } while (isWaiting());
  await new Promise((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(resolve));
}

/**
 * After the first visit the site works offline. Only release builds carry the list of files. The copy waits for what the reader
 * waits for, and who asked the browser to save data gets none.
 */
async function offline() {
  const { root, offline } = document.documentElement.dataset;
  if (offline === undefined || !("serviceWorker" in navigator) || navigator.connection?.saveData) return;
  // The copy, and that of a newer version, stops between two files while a page holds this lock (sw.js): what the reader waits
  // for needs the whole line.
  const settledFirst = () =>
    navigator.locks?.request(`notebook ${root} reader`, { mode: "shared" }, settled) ?? settled();
  const giveWay = async (copy) => {
    while (copy?.state === "installing") {
      await pause(500);
      if (isWaiting()) await settledFirst();
    }
  };
  await settledFirst();
  // A reader who looks at what is stored gets nothing new meanwhile.
  if (document.querySelector("[data-page=about]")) return;
  try {
    const registration = await navigator.serviceWorker.register(new URL("sw.js", root), { scope: root });
    registration.addEventListener("updatefound", () => giveWay(registration.installing));
    await giveWay(registration.installing);
  } catch (error) {
    // Reading goes on without it.
    console.info("No offline copy:", error.message);
  }
}

/**
 * Starts the worker that computes the first cell as soon as the page's own files are here, with the code and the weights of this
 * cell: they come while the page is set up. `src/browser/port.rs` takes the worker over. An address with edits may ask for
 * something else.
 */
function startFirstWorker() {
  const { first, root } = document.documentElement.dataset;
  if (first === undefined || location.hash || !isNear(document.querySelector("[data-cell]"))) return;
  const address = new URL(first, root).href;
  const worker = new Worker(address);
  const messages = [];
  worker.onmessage = (event) => messages.push(event);
  // The page starts another one.
  worker.onerror = (event) => {
    event.preventDefault();
    delete globalThis.firstWorker;
  };
  globalThis.firstWorker = { address, worker, messages };
}

export default function initializer() {
  scrollable();
  named();
  guesses();
  if (document.readyState === "complete") {
    offline();
  } else {
    addEventListener("load", offline, { once: true });
  }
  return {
    onProgress({ current, total }) {
      if (current === total) startFirstWorker();
    },
    onFailure(error) {
      dispatchEvent(new CustomEvent("notebook-failed", { detail: error }));
    },
  };
}
