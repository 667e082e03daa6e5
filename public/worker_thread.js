// A further thread of the worker: takes part in its products, over the memory that it is given, until the worker ends.
"use strict";
onmessage = ({ data: { file, module, memory } }) => {
  importScripts(`./${file}.js`);
  wasm_bindgen.initSync({ module, memory });
  postMessage("here");
  wasm_bindgen.serve();
};
