import { LAG_MAX, LAG_MIN, LEVEL_VALUES } from '../memory/shape-lags.ts';

/**
 * The arithmetic of the shape search in WebAssembly, two float64 at a time: shape-kernel.wat, which is compiled by
 * `npm run generate`. Its memory is shared by all searches:
 * each fills it before it reads it.
 */
const SHAPE_BINARY = `
AGFzbQEAAAABHQVgAn98AGABfwF8YAN/f38Bf2ACe3sBe2ABewF/AwgHAAABAgMDBAUDAQABBxwDBm1lbW9yeQIACGlubm92YXRlAAAEbW92ZQADCoYM
B4ECAgJ/CXsgAf0UIQQgBP3tASEFQQD9XQMA/V8hDEEI/V0DAP1fIQogDCAK/Q0ICQoLDA0ODxAREhMUFRYXIQtB8B8gAEEDdGohAwNAIAJBAnT9XQMQ
/V8hCCAKIAj9DQgJCgsMDQ4PEBESExQVFhchCSAIIAkgCv3wASAL/fABIAz98AH9DAAAAAAAANA/AAAAAAAA0D/98gH98QEhBiAHIAYgBv1I/VAhByAG
IAX99wEgBP32ASEGIAMgBiAG/Q0ICQoLDA0ODwABAgMEBQYH/QsEACAJIQsgCiEMIAghCiADQRBrIQMgAkECaiICIABIDQALIAf9UwRAIAAgARABCwtN
AgJ/AXxBgCAgAEEDdGohAwNAIANBCGshAyADKwMAIQQgBCAEYgRAIAJBAnQQAiEEIAMgASABmiAEpaQ5AwALIAJBAWoiAiAASA0ACwt8AgF/BHwgACoC
ELshAiACIAJiBEBEAAAAAAAAAAAPC0EMIQEDQCAAIAFqKgIAuyEDIAMgA2EEQCAEIAOgIQQgBUQAAAAAAADwP6AhBQsgAUEEayIBQQBODQALIAVEAAAA
AAAAAABhBEBEAAAAAAAAAAAPCyACIAQgBaOhC+EGBAR/EXsDfwJ8IABBA3QhBSAF/QoDgCAhB0SamZmZmZnpP/0UIRNEmJmZmZmZyT/9FCEUQf//Af0R
IRVBgP8B/RAhFkEI/RAhFyAWIRD9DP////////////////////8hEf0MAAABAAIAAwAEAAUABgAHACESIAIgASACIAFIG0F4cSEGAkAgBkEATA0AA0Ag
ByAF/QAEgCH98QEhDCAMIAz98gEhDCAHIAX9AASQIf3xASENIA0gDf3yASENIAcgBf0ABKAh/fEBIQ4gDiAO/fIBIQ4gByAF/QAEsCH98QEhDyAPIA/9
8gEhDyAE/QAEgEQhCCAIIBb9LSEJ/QwAAAAAAAAAAAAAAAAAAAAAIAj9DQABEBECAxITBAUUFQYHFhchCv0MAAAAAAAAAAAAAAAAAAAAACAI/Q0ICRgZ
CgsaGwwNHB0ODx4fIQsgEyAK/V/98gEgFCAM/fIB/fAB/V4gEyAKIAr9DQgJCgsMDQ4PCAkKCwwNDg/9X/3yASAUIA398gH98AH9Xv0NAAECAwQFBgcQ
ERITFBUWFyEKIBMgC/1f/fIBIBQgDv3yAf3wAf1eIBMgCyAL/Q0ICQoLDA0ODwgJCgsMDQ4P/V/98gEgFCAP/fIB/fAB/V79DQABAgMEBQYHEBESExQV
FhchCyAKIBX9rgEgCkEP/asBQR/9rQH9rgFBEP2tASALIBX9rgEgC0EP/asBQR/9rQH9rgFBEP2tAf2GASEIIAn9UwRAIAwgDRAEIA4gDxAEEAUgCCAJ
/VIhCAsgBCAI/QsEgEQgEiARIAggEP0v/VIhESAQIAj9lgEhECASIBf9jgEhEiAEQRBqIQQgBUHAAGohBSADQQhqIgMgBkgNAAsLIBAQBiEaIBH9DP9/
/3//f/9//3//f/9//38gECAa/RD9Lf1SEAYhGAJAIAMgAU4NAANAIAf9IQAgBSsDgCGhIRsgGyAboiEbIAQvAYBEQRB0vrshHCAbRJqZmZmZmek/IByi
RJiZmZmZmck/IBuioCAcRAAAAAAAAPB/YRu2vCEZIBlB//8BaiAZQRB2QQFxakEQdiEZIAQgGTsBgEQgGSAaSCADIAJIcQRAIBkhGiADIRgLIARBAmoh
BCAFQQhqIQUgA0EBaiIDIAFIDQALCyAYCxwAIAD9XiAB/V79DQABAgMEBQYHEBESExQVFhcLWwAgAP0M/38AAP9/AAD/fwAA/38AAP2uASAAQQ/9qwFB
H/2tAf2uAUEQ/a0BIAH9DP9/AAD/fwAA/38AAP9/AAD9rgEgAUEP/asBQR/9rQH9rgFBEP2tAf2GAQtaACAAIAAgAP0NCAkKCwwNDg8AAQIDBAUGB/2W
ASEAIAAgACAA/Q0EBQYHAAECAwwNDg8ICQoL/ZYBIQAgACAAIAD9DQIDAAEGBwQFCgsICQ4PDA39lgH9GAAL
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
