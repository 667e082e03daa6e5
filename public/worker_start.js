// Starts the worker (crates/worker): with `?file=NAME` a file for cells, with `?file=NAME&threads=N` one for full-size models, with so
// many threads over one memory. Requests that come while it loads are kept for it: a message that finds no listener would be lost.
// If it cannot be loaded the error reaches the page.
"use strict";
const asked = new URLSearchParams(location.search);
const file = /^(cells|engine|lab)-[a-z0-9-]+$/.exec(asked.get("file") ?? "")?.[0];
const early = [];
onmessage = (event) => early.push(event.data);
importScripts(`./${file}.js`);

/** Has another worker take part in the work, over the same memory; waits until it is there, or known not to come. */
function join(module, memory) {
  return new Promise((done) => {
    const thread = new Worker("./worker_thread.js");
    thread.onmessage = done;
    thread.onerror = (event) => {
      event.preventDefault();
      done();
    };
    thread.postMessage({ file, module, memory });
  });
}

async function start() {
  const module = await WebAssembly.compileStreaming(fetch(`./${file}_bg.wasm`));
  const { memory } = await wasm_bindgen({ module_or_path: module });
  const threads = file.endsWith("threads") ? Math.min(Number(asked.get("threads")) || 1, 64) : 1;
  await Promise.all(Array.from({ length: threads - 1 }, () => join(module, memory)));
  // A thread says that it is there just before it is.
  for (let waits = 0; wasm_bindgen.threads() < threads && waits < 100; waits++) {
    await new Promise((done) => setTimeout(done, 1));
  }
  wasm_bindgen.start();
  early.forEach((data) => dispatchEvent(new MessageEvent("message", { data })));
}

start().catch((error) => setTimeout(() => { throw error; }));
