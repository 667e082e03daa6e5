// On the page for unknown addresses, in a site that may lie in any folder: the address says nothing of where
// the site is. The folders above are tried, nearest first, for the site's manifest; then the links are set.
const rootFound = (async () => {
  const own = async (folder) => {
    try {
      const response = await fetch(folder + "manifest.webmanifest");
      return response.ok && (await response.json()).id === "transformer-notebook";
    } catch {
      return false;
    }
  };
  // With an offline copy the browser knows.
  const kept = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  if (kept) return kept.scope;
  const parts = location.pathname.split("/").slice(1, -1);
  const depths = parts.map((_, above) => parts.length - above).concat(0);
  // Lessons lie in a folder of that name, so the one above it is the best guess.
  if (parts.includes("lesson")) depths.unshift(parts.lastIndexOf("lesson"));
  for (const depth of new Set(depths)) {
    const folder = new URL("/" + parts.slice(0, depth).map((part) => part + "/").join(""), location.href).href;
    if (await own(folder)) return folder;
  }
  return new URL("/", location.href).href;
})();
document.addEventListener("DOMContentLoaded", async () => {
  const found = await rootFound;
  document.documentElement.dataset.root = found;
  for (const link of document.querySelectorAll('a[href^="./"]')) {
    link.href = found + link.getAttribute("href").slice(2);
  }
  for (const link of document.querySelectorAll("link[data-href]")) link.href = found + link.dataset.href;
  // The policy of the page (crates/pages/src/policy.rs) allows the sheet as it was served, so its
  // element keeps its text.
  for (const fonts of document.querySelectorAll("style[data-fonts]")) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(fonts.textContent.replaceAll('"./', `"${found}`));
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }
});
