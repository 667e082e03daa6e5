// Runs in every page of the development server: takes the page or its style anew after a change, and shows what is being built.
const source = new EventSource("/_dev/news");
const path = () => location.pathname.replace(/^\//, "").replace(/index\.html$/, "");
const isTool = () => /^(lab|bench)\//.test(path());

let strip;
/** Shows a line, or a compiler's message, at the lower edge of the window; nothing hides it. */
function show(text, { isError = false, button = null } = {}) {
  strip?.remove();
  strip = undefined;
  if (!text) return;
  strip = document.createElement("div");
  strip.setAttribute("role", isError ? "alert" : "status");
  strip.className = "dev-strip";
  strip.style.cssText =
    "position:fixed;inset:auto 0 0 0;z-index:1000;max-height:60vh;overflow:auto;padding:.6rem 1rem;" +
    "white-space:pre-wrap;font:13px/1.4 ui-monospace,monospace;color:#fff;background:" +
    (isError ? "#8c1d18" : "#2b3a4a");
  strip.textContent = text;
  if (button) {
    button.style.marginInlineStart = "1rem";
    strip.append(button);
  }
  document.body.append(strip);
}

function reloadButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Reload";
  button.addEventListener("click", () => location.reload());
  return button;
}

/** Loads a style sheet again; the old one goes when the new one is there, so the page is never without. */
function restyle(file) {
  for (const link of document.querySelectorAll("link[rel=stylesheet]")) {
    const address = new URL(link.href);
    if (address.pathname !== `/${file}`) continue;
    const fresh = link.cloneNode();
    address.searchParams.set("v", String(Date.now()));
    fresh.href = address.href;
    fresh.addEventListener("load", () => {
      link.remove();
      // Charts read their colours from the style.
      document.dispatchEvent(new CustomEvent("themechange"));
    });
    link.after(fresh);
  }
}

// The server fills in the number of the build that this page is of.
let build;
const act = {
  // The first message of a connection. Another build than the page's was made before it, or while it was lost.
  hello: (news) => {
    if (build !== news.build) location.reload();
  },
  building: (news) => show(news.text),
  failed: (news) => show(news.text, { isError: true }),
  idle: () => show(""),
  reload: (news) => {
    build = news.build;
    if (news.pages === null || news.pages.includes(path()) || !document.getElementById("main")) location.reload();
  },
  style: (news) => {
    build = news.build;
    restyle(news.file);
  },
  engines: (news) => {
    if (isTool()) show(news.text, { button: news.ready ? reloadButton() : null });
  },
};
source.addEventListener("message", ({ data }) => {
  const news = JSON.parse(data);
  act[news.kind]?.(news);
});
