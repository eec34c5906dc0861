/** What is used of WebAssembly. The types of Node.js leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};
