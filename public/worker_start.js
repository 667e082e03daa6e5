// Starts the worker's engine (crates/worker). Requests that come while it loads are kept for it: a message that finds
// no listener would be lost. If it cannot be loaded the error reaches the page, which then computes by itself.
"use strict";
importScripts("./worker.js");
const early = [];
onmessage = (event) => early.push(event.data);
wasm_bindgen({ module_or_path: "./worker_bg.wasm" }).then(
  () => early.forEach((data) => dispatchEvent(new MessageEvent("message", { data }))),
  (error) => setTimeout(() => { throw error; }),
);
