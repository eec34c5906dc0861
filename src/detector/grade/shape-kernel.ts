import { LAG_MAX, LAG_MIN, LEVEL_VALUES } from '../memory/shape-lags.ts';

/**
 * The arithmetic of the shape search in WebAssembly, two float64 at a time: shape-kernel.wat, which is compiled by
 * `UPDATE_KERNEL=1 node --test test/unit/detector/grade/shape-kernel.test.ts`. Its memory is shared by all searches:
 * each fills it before it reads it.
 */
export const SHAPE_BINARY = `
AGFzbQEAAAABEgNgAn98AGABfwF8YAN/f38BfwMFBAAAAQIFAwEAAQccAwZtZW1vcnkCAAhpbm5vdmF0ZQAABG1vdmUAAwq7CgSBAgICfwl7IAH9FCEE
IAT97QEhBUEA/V0DAP1fIQxBCP1dAwD9XyEKIAwgCv0NCAkKCwwNDg8QERITFBUWFyELQfAfIABBA3RqIQMDQCACQQJ0/V0DEP1fIQggCiAI/Q0ICQoL
DA0ODxAREhMUFRYXIQkgCCAJIAr98AEgC/3wASAM/fAB/QwAAAAAAADQPwAAAAAAANA//fIB/fEBIQYgByAGIAb9SP1QIQcgBiAF/fcBIAT99gEhBiAD
IAYgBv0NCAkKCwwNDg8AAQIDBAUGB/0LBAAgCSELIAohDCAIIQogA0EQayEDIAJBAmoiAiAASA0ACyAH/VMEQCAAIAEQAQsLTQICfwF8QYAgIABBA3Rq
IQMDQCADQQhrIQMgAysDACEEIAQgBGIEQCACQQJ0EAIhBCADIAEgAZogBKWkOQMACyACQQFqIgIgAEgNAAsLfAIBfwR8IAAqAhC7IQIgAiACYgRARAAA
AAAAAAAADwtBDCEBA0AgACABaioCALshAyADIANhBEAgBCADoCEEIAVEAAAAAAAA8D+gIQULIAFBBGsiAUEATg0ACyAFRAAAAAAAAAAAYQRARAAAAAAA
AAAADwsgAiAEIAWjoQvqBgUEfwp7A38CfQJ8IABBA3QhBSAF/QoDgCAhB/0MAACAfwAAgH8AAIB/AACAfyEO/Qz/////////////////////IQ/9DAAA
AAABAAAAAgAAAAMAAAAhECACIAEgAiABSBtBfHEhBgJAIAZBAEwNAANAIAT9XQOARP2pAUEQ/asBIQggCP0MAACAfwAAgH8AAIB/AACAf/1BIQ0gByAF
/QAEgCH98QEhCyALIAv98gEhCyAHIAX9AASQIf3xASEMIAwgDP3yASEM/QyamZmZmZnpP5qZmZmZmek/IAj9X/3yAf0MmJmZmZmZyT+YmZmZmZnJPyAL
/fIB/fABIQn9DJqZmZmZmek/mpmZmZmZ6T8gCCAI/Q0ICQoLDA0ODwgJCgsMDQ4P/V/98gH9DJiZmZmZmck/mJmZmZmZyT8gDP3yAf3wASEKIAn9XiAK
/V79DQABAgMEBQYHEBESExQVFhchCCAN/VMEQCAL/V4gDP1e/Q0AAQIDBAUGBxAREhMUFRYXIAggDf1SIQgLIAj9DP9/AAD/fwAA/38AAP9/AAD9rgEg
CEEQ/a0B/QwBAAAAAQAAAAEAAAABAAAA/U79rgFBEP2tASEIIAQgCCAI/YYB/VsDgEQAIAhBEP2rASEIIBAgDyAIIA79Q/1SIQ8gDiAI/eoBIQ4gEP0M
BAAAAAQAAAAEAAAABAAAAP2uASEQIARBCGohBCAFQSBqIQUgA0EEaiIDIAZIDQALCyAO/R8AIRQgD/0bACERIA79HwEhFSAP/RsBIRIgFSAUXSAVIBRb
IBIgEUhxcgRAIBUhFCASIRELIA79HwIhFSAP/RsCIRIgFSAUXSAVIBRbIBIgEUhxcgRAIBUhFCASIRELIA79HwMhFSAP/RsDIRIgFSAUXSAVIBRbIBIg
EUhxcgRAIBUhFCASIRELAkAgAyABTg0AA0AgB/0hACAFKwOAIaEhFiAWIBaiIRYgBC8BgERBEHS+uyEXIBZEmpmZmZmZ6T8gF6JEmJmZmZmZyT8gFqKg
IBdEAAAAAAAA8H9hG7a8IRMgE0H//wFqIBNBEHZBAXFqQRB2IRMgBCATOwGARCATQRB0viEVIBUgFF0gAyACSHEEQCAVIRQgAyERCyAEQQJqIQQgBUEI
aiEFIANBAWoiAyABSA0ACwsgEQs=
`;

/** What is used of it. The types of Node.js leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

interface ShapeKernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Fills INNOVATIONS from the window of so many VALUES. */
  innovate(count: number, clamp: number): void;
  /**
   * Moves the DISTANCES of so many lags by the row that is `row` rows older than the newest one. Returns the index of
   * the smallest of the first `searched`, the first of equal ones; -1 where there is none.
   */
  move(row: number, lags: number, searched: number): number;
}

const KERNEL = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(SHAPE_BINARY, 'base64')))
  .exports as ShapeKernel;

/** Rows of the longest window. */
const WINDOW_MAX = 512;

export const { innovate, move } = KERNEL;
/** The four values before a window, then the window, in the order of time; NaN where missing. */
export const VALUES = new Float32Array(KERNEL.memory.buffer, 0, LEVEL_VALUES + WINDOW_MAX);
/** Innovations of the window, newest first. */
export const INNOVATIONS = new Float64Array(KERNEL.memory.buffer, 4_096, WINDOW_MAX);
/** Bits of the bfloat16 distances by lag, the shortest first. */
export const DISTANCES = new Uint16Array(KERNEL.memory.buffer, 8_704, LAG_MAX - LAG_MIN + 1);
