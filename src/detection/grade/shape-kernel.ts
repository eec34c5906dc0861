import { LAG_MAX, LAG_MIN, LEVEL_VALUES } from '../memory/shape-lags.ts';

/**
 * The arithmetic of the shape search in WebAssembly, two float64 at a time: shape-kernel.wat, which is compiled by
 * `npm run generate`. Its memory is shared by all searches:
 * each fills it before it reads it.
 */
const SHAPE_BINARY = `
AGFzbQEAAAABMAhgAn98AX9gAX8Bf2ACf38CfHxgAn98AXxgA39/fwF/YAJ/fwBgAnt7AXtgAXsBfwMNDAABAgMEBQEABAYGBwUDAQABBhcDfwFBAAt8
AUQAAAAAAAAAAAt/AUEACwcyBQZtZW1vcnkCAAhpbm5vdmF0ZQAABmNvbW1vbgACCm1vdmVBcm91bmQABARtb3ZlAAgKkQ8MkgICAn8JeyAB/RQhBCAE
/e0BIQVBAP1dAwD9XyEMQQj9XQMA/V8hCiAMIAr9DQgJCgsMDQ4PEBESExQVFhchC0HwHyAAQQN0aiEDA0AgAkECdP1dAxD9XyEIIAogCP0NCAkKCwwN
Dg8QERITFBUWFyEJIAggCSAK/fABIAv98AEgDP3wAf0MAAAAAAAA0D8AAAAAAADQP/3yAf3xASEGIAcgBv3wASEHIAYgBf33ASAE/fYBIQYgAyAGIAb9
DQgJCgsMDQ4PAAECAwQFBgf9CwQAIAkhCyAKIQwgCCEKIANBEGshAyACQQJqIgIgAEgNAAsgByAH/Uj9U0UEQEEADwtBDCAAQQJ0aiQAIAEkASAAEAEL
UgIBfwF8QQAkAgNAIABBAWshACAAQQN0IQEgASsDgCAhAiACIAJiBEAgAUQAAAAAAADwfzkDgCAjAkEBdCAAOwGAYCMCQQFqJAILIAANAAsjAguZAQIB
fwV8IwAgAEECdGshACMAIAFBAnRrIQFBBCECA0AgACACayoCALshAyABIAJrKgIAuyEEIAMgA2EgBCAEYXEEQCAFIAOgIQUgBiAEoCEGIAdEAAAAAAAA
8D+gIQcLIAJBBGoiAkEQTA0ACyAHRAAAAAAAAABAYwRARAAAAAAAAPh/IQcLIAAgBSAHoxADIAEgBiAHoxADCxIAIwEjAZogACoCALsgAaGlpAuaAQIC
fwF9IwAgAEECdGsqAgAhBSAFIAVcBEAgAhAGDwtBgNAAQYDEAEGACPwKAAAgAEEDdCsDgCBEAAAAAAAA8H9hBEADQCAAIAMQBSADQQFqIgMgAUgNAAsF
IAAgAUEAEAgaA0AgA0EBdC8BgGAgAGshBCAEQRBrIQQgBCABSQRAIAAgBBAFCyADQQFqIgMjAkgNAAsLIAIQBgtYAgJ/AXwgAUEBdCEDIAMgAy8BgFA7
AYBEIAAgAUEQamohAiAAIAIQAqEhBCAEIARiBEAgACAAEAIaIQQLIAQgBKIhBCAEIARhBEAgAyADIAQQBzsBgEQLC0EBBH9BgP8BIQNBfyEEAkADQCAB
IABODQEgAUEBdC8BgEQhAiACIANIBEAgAiEDIAEhBAsgAUEBaiEBDAALCyAEC1ICAXwBfyAALwGAREEQdL67IQIgAUSamZmZmZnpPyACokSYmZmZmZnJ
PyABoqAgAkQAAAAAAADwf2EbtrwhAyADQf//AWogA0EQdkEBcWpBEHYLmwYEBH8RewN/AXwgAEEDdCEFIAX9CgOAICEHRJqZmZmZmek//RQhE0SYmZmZ
mZnJP/0UIRRB//8B/REhFUGA/wH9ECEWQQj9ECEXIBYhEP0M/////////////////////yER/QwAAAEAAgADAAQABQAGAAcAIRIgAiABIAIgAUgbQXhx
IQYCQCAGQQBMDQADQCAHIAX9AASAIf3xASEMIAwgDP3yASEMIAcgBf0ABJAh/fEBIQ0gDSAN/fIBIQ0gByAF/QAEoCH98QEhDiAOIA798gEhDiAHIAX9
AASwIf3xASEPIA8gD/3yASEPIAT9AASARCEIIAggFv0tIQn9DAAAAAAAAAAAAAAAAAAAAAAgCP0NAAEQEQIDEhMEBRQVBgcWFyEK/QwAAAAAAAAAAAAA
AAAAAAAAIAj9DQgJGBkKCxobDA0cHQ4PHh8hCyATIAr9X/3yASAUIAz98gH98AH9XiATIAogCv0NCAkKCwwNDg8ICQoLDA0OD/1f/fIBIBQgDf3yAf3w
Af1e/Q0AAQIDBAUGBxAREhMUFRYXIQogEyAL/V/98gEgFCAO/fIB/fAB/V4gEyALIAv9DQgJCgsMDQ4PCAkKCwwNDg/9X/3yASAUIA/98gH98AH9Xv0N
AAECAwQFBgcQERITFBUWFyELIAogFf2uASAKQQ/9qwFBH/2tAf2uAUEQ/a0BIAsgFf2uASALQQ/9qwFBH/2tAf2uAUEQ/a0B/YYBIQggCf1TBEAgDCAN
EAkgDiAPEAkQCiAIIAn9UiEICyAEIAj9CwSARCASIBEgCCAQ/S/9UiERIBAgCP2WASEQIBIgF/2OASESIARBEGohBCAFQcAAaiEFIANBCGoiAyAGSA0A
CwsgEBALIRogEf0M/3//f/9//3//f/9//3//fyAQIBr9EP0t/VIQCyEYAkAgAyABTg0AA0AgB/0hACAFKwOAIaEhGyAbIBuiIRsgBCAbEAchGSAEIBk7
AYBEIBkgGkggAyACSHEEQCAZIRogAyEYCyAEQQJqIQQgBUEIaiEFIANBAWoiAyABSA0ACwsgGAscACAA/V4gAf1e/Q0AAQIDBAUGBxAREhMUFRYXC1sA
IAD9DP9/AAD/fwAA/38AAP9/AAD9rgEgAEEP/asBQR/9rQH9rgFBEP2tASAB/Qz/fwAA/38AAP9/AAD/fwAA/a4BIAFBD/2rAUEf/a0B/a4BQRD9rQH9
hgELWgAgACAAIAD9DQgJCgsMDQ4PAAECAwQFBgf9lgEhACAAIAAgAP0NBAUGBwABAgMMDQ4PCAkKC/2WASEAIAAgACAA/Q0CAwABBgcEBQoLCAkODwwN
/ZYB/RgACw==
`;

interface ShapeKernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  /**
   * Fills INNOVATIONS from the window of so many VALUES: infinite where the value, or one of the four before, is
   * missing. Returns the number of those.
   */
  innovate(count: number, clamp: number): number;
  /**
   * Moves the DISTANCES of so many lags by the row that is `row` rows older than the newest one. Returns the index of
   * the smallest of the first `searched`, the first of equal ones; -1 where there is none.
   */
  move(row: number, lags: number, searched: number): number;
  /** The same for a window with infinite innovations: such rows are compared by what both of two have. */
  moveAround(row: number, lags: number, searched: number): number;
  /** The innovations of two rows, from those of the four values before that both have; NaN with less than two. */
  common(row: number, other: number): readonly [number, number];
}

const KERNEL = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(SHAPE_BINARY, 'base64')))
  .exports as ShapeKernel;

/** Rows of the longest window. */
const WINDOW_MAX = 512;

export const { innovate, move, moveAround, common } = KERNEL;
/** The four values before a window, then the window, in the order of time; NaN if missing. */
export const VALUES = new Float32Array(KERNEL.memory.buffer, 0, LEVEL_VALUES + WINDOW_MAX);
/** Innovations of the window, newest first; infinite where one is not known whole. */
export const INNOVATIONS = new Float64Array(KERNEL.memory.buffer, 4_096, WINDOW_MAX);
/** Bits of the bfloat16 distances by lag, the shortest first. */
export const DISTANCES = new Uint16Array(KERNEL.memory.buffer, 8_704, LAG_MAX - LAG_MIN + 1);
