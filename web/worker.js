// The worker runs deed, so that typing never waits for an answer. It takes {id, request} and posts {id, answer, took}; once deed is ready it
// posts {ready: true}, and {failed: reason} if deed cannot be loaded.
import './wasm_exec.js';

// program returns the compressed program as a stream of WebAssembly. Some hosts have decompressed it already.
async function program() {
  const answer = await fetch('deed.wasm.gz');
  if (!answer.ok) throw new Error(`deed.wasm.gz: ${answer.status} ${answer.statusText}`);
  const [peek, body] = answer.body.tee();
  const reader = peek.getReader();
  const { value } = await reader.read();
  reader.cancel();
  const stream = value[0] === 0x1f && value[1] === 0x8b ? body.pipeThrough(new DecompressionStream('gzip')) : body;
  return new Response(stream, { headers: { 'Content-Type': 'application/wasm' } });
}

const ready = new Promise((resolve) => { globalThis.deedReady = resolve; });

self.onmessage = async ({ data }) => {
  await ready;
  const begun = performance.now();
  const answer = JSON.parse(globalThis.deedAnswer(JSON.stringify(data.request)));
  self.postMessage({ id: data.id, answer, took: performance.now() - begun });
};

try {
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiateStreaming(program(), go.importObject);
  go.run(instance);
  await ready;
  self.postMessage({ ready: true });
} catch (reason) {
  self.postMessage({ failed: String(reason) });
}
