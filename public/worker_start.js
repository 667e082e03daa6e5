// Starts the worker (crates/worker). `?file=NAME` names the file that it runs, hash included; `&threads=N` lets N threads share one memory,
// `&cell=NAME` and `&weights=FILE` say whose code and which file below models/ are fetched before the page asks for them.
// A further thread runs this same script with `?thread` and gets file, module and memory in its first message.
// An error while loading reaches the page as the worker's error event.
"use strict";
const asked = new URLSearchParams(location.search);

/** Starts another worker that takes part in the work, over the same memory; waits until it is there, or known not to come. */
function join(file, module, memory) {
  return new Promise((done) => {
    const thread = new Worker(`${location.pathname}?thread`);
    thread.onmessage = done;
    thread.onerror = (event) => {
      event.preventDefault();
      done();
    };
    thread.postMessage({ file, module, memory });
  });
}

/** Takes part in the first thread's work until the worker ends. */
async function takePart({ data: { file, module, memory } }) {
  const program = await import(`./${file}.js`);
  program.initSync({ module, memory });
  postMessage("here");
  program.serve();
}

async function start(file) {
  const [program, module] = await Promise.all([
    import(`./${file}.js`),
    WebAssembly.compileStreaming(fetch(`./${file}_bg.wasm`)),
  ]);
  const { memory } = await program.default({ module_or_path: module });
  const threads = file.includes("-threads-") ? Math.min(Number(asked.get("threads")) || 1, 64) : 1;
  await Promise.all(Array.from({ length: threads - 1 }, () => join(file, module, memory)));
  // A thread says that it is there just before it is.
  for (let waits = 0; program.threads() < threads && waits < 100; waits++) {
    await new Promise((done) => setTimeout(done, 1));
  }
  // From here on the worker listens; it first tells the page of which build it is, and the page sends nothing before.
  program.start(file, asked.get("cell") ?? "", asked.get("weights") ?? "");
}

if (asked.has("thread")) {
  onmessage = takePart;
} else {
  const file = /^(cells|engine|lab)-[a-z0-9-]+$/.exec(asked.get("file") ?? "")?.[0];
  start(file).catch((error) => setTimeout(() => { throw error; }));
}
