// Keeps the whole site for reading offline. `pages` fills in VERSION, FILES (path -> hash of the content) and HEADERS in
// release builds; a build of other content is another version with a cache of its own, so that a page
// never runs with files of another build.
const VERSION = "@version";
const FILES = {/*files*/};

/** The headers that the site asks of its host (`_headers`): path, name, value. A star at the end of a path stands for any further characters. */
const HEADERS = [/*headers*/];

/** What many readers never use is kept when it is first used: a browser runs one build of the engine, a lesson one or two models or vocabularies. */
const KEPT_ON_USE = /^(engine|lab)-|^models\/.*\.(safetensors|gguf|json|txt)$/;

const PREFIX = `notebook ${registration.scope} `;
const CACHE = PREFIX + VERSION;
const key = (path) => `${registration.scope}${path}?content=${FILES[path]}`;

addEventListener("install", (event) => event.waitUntil(fill()));

async function fill() {
  const cache = await caches.open(CACHE);
  const paths = Object.keys(FILES).filter((path) => !KEPT_ON_USE.test(path));
  // Two at a time, and none while a page holds the lock: its reader waits for a cell or a model (boot.mjs).
  const workers = Array.from({ length: 2 }, async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      // The content's hash is part of the key: what an older version has need not be fetched again.
      const kept = await caches.match(key(path));
      if (kept === undefined) await navigator.locks?.request(`${PREFIX}reader`, () => {});
      await cache.put(key(path), kept ?? (await load(path, "low")));
    }
  });
  await Promise.all(workers);
}

/**
 * Fetches a file and refuses it where it is not the one of this build. What the page has fetched just now is taken from the
 * browser's own cache, unless that holds the file of another build.
 */
async function load(path, priority = "auto") {
  const address = registration.scope + path.replace(/(^|\/)index\.html$/, "$1");
  let found = "of another build";
  for (const cache of ["force-cache", "no-cache"]) {
    const response = await fetch(address, { cache, priority });
    // Browsers keep a refusal, too: the host may have the file by now.
    if (!response.ok) {
      found = `status ${response.status}`;
      continue;
    }
    const body = await response.arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    const hash = Array.from(digest.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (hash === FILES[path]) {
      return new Response(body, { headers: { "Content-Type": response.headers.get("Content-Type") ?? "" } });
    }
  }
  throw new Error(`${path}: ${found}`);
}

addEventListener("activate", (event) => event.waitUntil(tidy()));

async function tidy() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  }
  await clients.claim();
}

addEventListener("message", (event) => event.data === "take over" && skipWaiting());

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(registration.scope)) event.respondWith(answer(event));
});

/**
 * Adds the headers of the site where its host sends none of them, and to what comes from the copy. With two of them a page is
 * isolated from other origins, and only then may it share memory between threads.
 */
function withHeaders(request, response) {
  const known = response.headers.has("Cross-Origin-Embedder-Policy");
  if (known || response.type === "opaqueredirect" || response.type === "error") return response;
  const headers = new Headers(response.headers);
  const address = "/" + inScope(request);
  for (const [path, name, value] of HEADERS) {
    const fits = path.endsWith("*") ? address.startsWith(path.slice(0, -1)) : address === path;
    if (!fits) continue;
    // Several policies hold together; of another header there may be one.
    if (name === "Content-Security-Policy") headers.append(name, value);
    else headers.set(name, value);
  }
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** Adds a file to the copy, unless the reader has deleted that meanwhile. */
async function keep(path, response) {
  if (await caches.has(CACHE)) await (await caches.open(CACHE)).put(key(path), response);
}

async function answer(event) {
  const { request } = event;
  if (request.mode === "navigate" && registration.waiting && (await clients.matchAll()).length < 2) {
    // A newer version waits and no other tab runs this one: let it take over, then load the page from it.
    registration.waiting.postMessage("take over");
    return new Response("", { headers: { Refresh: "0" } });
  }
  const path = pathOf(request);
  const kept = path !== undefined && (await caches.match(key(path), { cacheName: CACHE }));
  if (kept) return withHeaders(request, kept);
  try {
    if (path !== undefined && KEPT_ON_USE.test(path)) {
      const loaded = await load(path);
      event.waitUntil(keep(path, loaded.clone()));
      return withHeaders(request, loaded);
    }
    return withHeaders(request, await fetch(request));
  } catch (error) {
    const missing = request.mode === "navigate" && "404.html" in FILES && (await caches.match(key("404.html")));
    if (!missing) throw error;
    return withHeaders(request, new Response(missing.body, { status: 404, headers: missing.headers }));
  }
}

/** The path of an address below the folder of the site. */
function inScope(request) {
  return decodeURIComponent(new URL(request.url).pathname).slice(new URL(registration.scope).pathname.length);
}

/** The file that an address stands for. */
function pathOf(request) {
  const path = inScope(request);
  const folder = path === "" || path.endsWith("/") ? path : path + "/";
  return [path, folder + "index.html"].find((file) => Object.hasOwn(FILES, file));
}
