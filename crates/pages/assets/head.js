// Runs in <head> before anything is painted or requested, on every page; small, because it is inlined.
(() => {
  "use strict";
  const html = document.documentElement;

  // `/lesson/scaling` and `/lesson/scaling/` serve the same file. Relative addresses in it are written for
  // the second form, so the first is turned into it before the first of them is used.
  const root = html.dataset.root;
  if (root.startsWith("../") && !/(\/|\.html)$/.test(location.pathname)) {
    history.replaceState(history.state, "", location.pathname + "/" + location.search + location.hash);
  }
  const rootUrl = new URL(root, location.href).href;
  html.dataset.root = rootUrl;

  // The engine comes after the first paint: text and fonts need the processor first. Where the answer of the host took
  // long, the line is what the reader waits for, and it comes at once. `public/boot.mjs` waits for the same.
  const [visit] = performance.getEntriesByType("navigation");
  const isSlow = !visit || visit.responseStart - visit.requestStart > 100;
  const painted = (done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 1000); // A tab that is not seen has no frames.
  };
  globalThis.painted = isSlow ? Promise.resolve() : new Promise(painted);

  // What the module needs, fetched early. As tags, the browser's look-ahead would request them before the
  // address above is right.
  for (const [rel, file, as] of /*preload*/[]) {
    const link = document.createElement("link");
    link.rel = rel;
    if (as) link.as = as;
    link.crossOrigin = "anonymous";
    link.href = rootUrl + file;
    const add = () => document.head.append(link);
    if (as === "fetch") globalThis.painted.then(add);
    else add();
  }

  const system = matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // Storage is switched off: the system decides.
    }
  };
  const isDark = () => (html.dataset.theme === "auto" ? system.matches : html.dataset.theme === "dark");
  const apply = (theme) => {
    html.dataset.theme = theme === "light" || theme === "dark" ? theme : "auto";
    for (const meta of document.querySelectorAll('meta[name="theme-color"]')) {
      meta.dataset.media ??= meta.media;
      const matches = meta.dataset.media.includes(isDark() ? "dark" : "light");
      meta.media = html.dataset.theme === "auto" ? meta.dataset.media : matches ? "all" : "not all";
    }
    document.querySelector(".theme-switch")?.setAttribute("aria-pressed", String(isDark()));
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  apply(remembered());
  system.addEventListener("change", () => apply(html.dataset.theme));
  addEventListener("storage", (event) => event.key === "theme" && apply(event.newValue));

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.(".theme-switch")) return;
    const dark = !isDark();
    // The system's own choice is not a choice against it: it goes on following.
    const theme = dark === system.matches ? "auto" : dark ? "dark" : "light";
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Not remembered, but applied.
    }
    apply(theme);
  });

  // A menu (of lessons, of a cell) closes by Escape, by a press outside it, and by choosing one of its entries; arrows move in it.
  const openMenu = () => document.querySelector(".menu[open]");
  const close = (menu) => {
    menu.open = false;
    menu.querySelector("summary").focus();
  };
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" ? openMenu() : event.target.closest?.(".menu");
    if (!menu) return;
    if (event.key === "Escape") return close(menu);
    const to = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!to) return;
    event.preventDefault();
    menu.open = true;
    const entries = [...menu.querySelectorAll("a, button")].filter((entry) => entry.checkVisibility?.() ?? true);
    const at = entries.indexOf(document.activeElement);
    const next = at < 0 && to < 0 ? -1 : (at + to) % entries.length;
    entries.at(next)?.focus();
  });
  // Before the entry hears of it: a dialog that it opens gives the focus back to the menu's button.
  for (const type of ["pointerdown", "click"]) {
    document.addEventListener(
      type,
      (event) => {
        const menu = openMenu();
        if (!menu) return;
        if (!menu.contains(event.target)) menu.open = false;
        else if (type === "click" && event.target.closest("a")) menu.open = false;
        else if (type === "click" && event.target.closest("button")) close(menu);
      },
      true,
    );
  }

  // Says in every cell why it cannot compute, and what to do. The prose stays as it is.
  const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
  const why = () => {
    if (typeof WebAssembly !== "object") {
      return "This browser has no WebAssembly, or has it switched off, and the cells compute with it.";
    }
    if (!WebAssembly.validate(new Uint8Array(SIMD))) {
      return "The cells need WebAssembly with SIMD, which this browser is too old for: Chrome 97, Firefox 89, Safari 16.4 and later run them.";
    }
    return "The engine could not be loaded, so this cell cannot compute now. The text and the formulas are complete without it.";
  };
  const failed = (error) => {
    const message = why();
    for (const waiting of document.querySelectorAll(".cell-waiting")) {
      waiting.className = "cell-error";
      waiting.textContent = message + " ";
      const retry = document.createElement("button");
      retry.type = "button";
      retry.className = "button";
      retry.textContent = "Retry";
      retry.addEventListener("click", () => location.reload());
      waiting.append(retry);
      const section = waiting.closest("section");
      if (section) section.dataset.state = "error";
    }
    if (error) console.error("The engine did not start:", error);
  };
  addEventListener("notebook-failed", (event) => failed(event.detail));
  addEventListener("error", (event) => event.target?.tagName === "SCRIPT" && failed(), true);

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll(".site-head button")) button.hidden = false;
    apply(html.dataset.theme);
  });
})();
