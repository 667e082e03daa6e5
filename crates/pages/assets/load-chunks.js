// Fetches the chunks of the site's wasm, written by `pages`.
import { initSync } from "@main";

/** Files of each chunk. */
const FILES = {};

const arrived = new Map();

/** Fetches a file and puts it into the running program, once; one that did not arrive is fetched again the next time. */
function file(name) {
  if (!arrived.has(name)) {
    const response = fetch(new URL(name, import.meta.url));
    const ready = WebAssembly.instantiateStreaming(response, { __wasm_split: initSync() });
    ready.catch(() => arrived.delete(name));
    arrived.set(name, ready);
  }
  return arrived.get(name);
}

/** Fetches what a chunk needs and tells the program, which waits with this callback, whether all of it is there. */
async function load(chunk, callback, data) {
  let isThere = true;
  try {
    await Promise.all(FILES[chunk].map(file));
  } catch (error) {
    console.error(error);
    isThere = false;
  }
  initSync().__indirect_function_table.get(callback)(data, isThere);
}
