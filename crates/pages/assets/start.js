
import initializer from "@root/boot.mjs";
import init from "@root/@site.js";
const { onFailure } = initializer();
init({ module_or_path: "@root/@site_bg.wasm" }).catch(onFailure);
