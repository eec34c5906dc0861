import { LAG_MAX, LAG_MIN, LEVEL_VALUES } from '../memory/shape-lags.ts';

/**
 * The arithmetic of the shape search in WebAssembly, two float64 at a time: shape-kernel.wat, which is compiled by
 * `npm run generate`. Its memory is shared by all searches:
 * each fills it before it reads it.
 */
const SHAPE_BINARY = `
AGFzbQEAAAABHQVgAn98AGABfwF8YAN/f38Bf2ACe3sBe2ABewF/AwgHAAABAgMDBAUDAQABBxwDBm1lbW9yeQIACGlubm92YXRlAAAEbW92ZQADCocM
B4ICAgJ/CXsgAf0UIQQgBP3tASEFQQD9XQMA/V8hDEEI/V0DAP1fIQogDCAK/Q0ICQoLDA0ODxAREhMUFRYXIQtB8B8gAEEDdGohAwNAIAJBAnT9XQMQ
/V8hCCAKIAj9DQgJCgsMDQ4PEBESExQVFhchCSAIIAkgCv3wASAL/fABIAz98AH9DAAAAAAAANA/AAAAAAAA0D/98gH98QEhBiAHIAb98AEhByAGIAX9
9wEgBP32ASEGIAMgBiAG/Q0ICQoLDA0ODwABAgMEBQYH/QsEACAJIQsgCiEMIAghCiADQRBrIQMgAkECaiICIABIDQALIAcgB/1I/VMEQCAAIAEQAQsL
TQICfwF8QYAgIABBA3RqIQMDQCADQQhrIQMgAysDACEEIAQgBGIEQCACQQJ0EAIhBCADIAEgAZogBKWkOQMACyACQQFqIgIgAEgNAAsLfAIBfwR8IAAq
AhC7IQIgAiACYgRARAAAAAAAAAAADwtBDCEBA0AgACABaioCALshAyADIANhBEAgBCADoCEEIAVEAAAAAAAA8D+gIQULIAFBBGsiAUEATg0ACyAFRAAA
AAAAAAAAYQRARAAAAAAAAAAADwsgAiAEIAWjoQvhBgQEfxF7A38CfCAAQQN0IQUgBf0KA4AgIQdEmpmZmZmZ6T/9FCETRJiZmZmZmck//RQhFEH//wH9
ESEVQYD/Af0QIRZBCP0QIRcgFiEQ/Qz/////////////////////IRH9DAAAAQACAAMABAAFAAYABwAhEiACIAEgAiABSBtBeHEhBgJAIAZBAEwNAANA
IAcgBf0ABIAh/fEBIQwgDCAM/fIBIQwgByAF/QAEkCH98QEhDSANIA398gEhDSAHIAX9AASgIf3xASEOIA4gDv3yASEOIAcgBf0ABLAh/fEBIQ8gDyAP
/fIBIQ8gBP0ABIBEIQggCCAW/S0hCf0MAAAAAAAAAAAAAAAAAAAAACAI/Q0AARARAgMSEwQFFBUGBxYXIQr9DAAAAAAAAAAAAAAAAAAAAAAgCP0NCAkY
GQoLGhsMDRwdDg8eHyELIBMgCv1f/fIBIBQgDP3yAf3wAf1eIBMgCiAK/Q0ICQoLDA0ODwgJCgsMDQ4P/V/98gEgFCAN/fIB/fAB/V79DQABAgMEBQYH
EBESExQVFhchCiATIAv9X/3yASAUIA798gH98AH9XiATIAsgC/0NCAkKCwwNDg8ICQoLDA0OD/1f/fIBIBQgD/3yAf3wAf1e/Q0AAQIDBAUGBxAREhMU
FRYXIQsgCiAV/a4BIApBD/2rAUEf/a0B/a4BQRD9rQEgCyAV/a4BIAtBD/2rAUEf/a0B/a4BQRD9rQH9hgEhCCAJ/VMEQCAMIA0QBCAOIA8QBBAFIAgg
Cf1SIQgLIAQgCP0LBIBEIBIgESAIIBD9L/1SIREgECAI/ZYBIRAgEiAX/Y4BIRIgBEEQaiEEIAVBwABqIQUgA0EIaiIDIAZIDQALCyAQEAYhGiAR/Qz/
f/9//3//f/9//3//f/9/IBAgGv0Q/S39UhAGIRgCQCADIAFODQADQCAH/SEAIAUrA4AhoSEbIBsgG6IhGyAELwGAREEQdL67IRwgG0SamZmZmZnpPyAc
okSYmZmZmZnJPyAboqAgHEQAAAAAAADwf2EbtrwhGSAZQf//AWogGUEQdkEBcWpBEHYhGSAEIBk7AYBEIBkgGkggAyACSHEEQCAZIRogAyEYCyAEQQJq
IQQgBUEIaiEFIANBAWoiAyABSA0ACwsgGAscACAA/V4gAf1e/Q0AAQIDBAUGBxAREhMUFRYXC1sAIAD9DP9/AAD/fwAA/38AAP9/AAD9rgEgAEEP/asB
QR/9rQH9rgFBEP2tASAB/Qz/fwAA/38AAP9/AAD/fwAA/a4BIAFBD/2rAUEf/a0B/a4BQRD9rQH9hgELWgAgACAAIAD9DQgJCgsMDQ4PAAECAwQFBgf9
lgEhACAAIAAgAP0NBAUGBwABAgMMDQ4PCAkKC/2WASEAIAAgACAA/Q0CAwABBgcEBQoLCAkODwwN/ZYB/RgACw==
`;

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
