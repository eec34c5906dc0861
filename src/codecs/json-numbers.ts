/** json-numbers.wat, compiled by `npm run generate`. */
const NUMBERS_BINARY = `
AGFzbQEAAAABOQlgAn5+AX5gA35+fgF+YAF+AX9gAn9/AGACf34AYAN/fn8Bf2ACf3wBf2ADf39/AX9gBH9/f3wBfwMKCQABAgMEBQYHCAUDAQAEBxsD
Bm1lbW9yeQIABXBpZWNlAAcGbnVtYmVyAAgK2QoJVgEFfiAAQv////8PgyECIABCIIghAyABQv////8PgyEEIAFCIIghBSADIAR+IAIgBH5CIIh8IQYg
AyAFfiAGQiCIfCACIAV+IAZC/////w+DfEIgiHwLKgECfiABIAJ+IQMgAyAAIAIQAHwhBCABIAIQACAEIANUrXwgBEIBVq2ECzkBAX9BCEERIABCgMLX
L1QbIQECQANAIAFBAUYNASAAIAFBA3QpA4hNWg0BIAFBAWshAQwACwsgAQsQACAAIAFBAXQvAaBOOwEAC8kBAgF+AX8CQANAIAFCgMLXL1QNASABQoDC
1y+AIQIgASACQoDC1y9+fachAyACIQEgAEEIayEAIABBBmogA0HkAHAQAyADQeQAbiEDIABBBGogA0HkAHAQAyADQeQAbiEDIABBAmogA0HkAHAQAyAA
IANB5ABuEAMMAAsLIAGnIQMCQANAIANB5ABJDQEgAEECayEAIAAgA0HkAHAQAyADQeQAbiEDDAALCyADQQpPBEAgAEECayADEAMFIABBAWsgA0EwajoA
AAsLyQIBAn8gARACIQMgAyACaiEEIARBekogBEEATHEEQCAAQrDcwIGDhoyYMDcDACAAIARrIANBAmpqIQAgACABEAQgAA8LIAJBAE4gBEEVTHEEQCAA
IANqIQAgACABEAQgAEKw4MCBg4aMmDA3AwAgAEKw4MCBg4aMmDA3AwggAEKw4MCBg4aMmDA3AxAgACACag8LIAAgA2pBAWogARAEIARBAEogBEEVTHEE
QCADIARrIQMDQCAAIAAtAAE6AAAgAEEBaiEAIARBAWsiBA0ACyAAQS46AAAgACADakEBag8LIAAgAC0AAToAACAAQS46AAEgACADQQFqQQEgA0EBSxtq
IQAgBEEBayEEIABB5QA6AAAgAEEtQSsgBEEASBs6AAEgBEEASARAQQAgBGshBAsgBK0hASAAQQJqIAEQAmohACAAIAEQBCAAC7kDBgF+An8BfgF/B34C
fyABvUL/////////B4MhAiABvUI0iKchAyACUCADQQFLcSEGIAMEQCACQoCAgICAgIAIhCECBUEBIQMLIANBswhrIQMgAkIBgyEFIAJCAoYhAiADQZOI
zQBsQf/9H0EAIAYba0EWdSEEQaQCIARrQQR0KQMAIQdBpAIgBGtBBHQpAwghCCADQQFqQQAgBGtBz6bqAGxBE3VqrCENIAUgByAIIAJCAn0gBq18IA2G
EAF8IQkgByAIIAJCAnwgDYYQASAFfSEKIAcgCCACIA2GEAEhCwJAIAtCKIAhDCALQihaBEAgDEIofiENIAkgDVghDiANQih8IApYIQ8gDiAPRwRAIAwg
D618IQwgBEEBaiEEDAILCyALQgKIIQwgDEIChiENIAkgDVghDiANQgR8IApYIQ8gDiAPRgRAIAsgDEIBg3wgDUICfFYhDwsgDCAPrXwhDAsCQCAMQgGD
pw0AIAxCgMLXL4AhDSANQoDC1y9+IAxRBEAgDSEMIARBCGohBAsDQCAMQgqAIQ0gDUIKfiAMUg0BIA0hDCAEQQFqIQQMAAsLIAAgDCAEEAULMAEBfyAA
IAIgAWtqIQMDQCAAIAEpAwA3AwAgAEEIaiEAIAFBCGoiASACSQ0ACyADC4cBAQF+IAAgASACEAchACADmUQAAAAAAADwf2NFBEAgAEHu6rHjBjYCACAA
QQRqDwsgA0QAAAAAAAAAAGMEQCADmiEDIABBLToAACAAQQFqIQALIANEAAAAAAAAQENjBEAgA7AhBCAEuSADYQRAIAAgBBACaiEAIAAgBBAEIAAPCwsg
ACADEAYL
`;

interface NumbersKernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  piece(at: number, from: number, end: number): number;
  number(at: number, from: number, end: number, value: number): number;
}

const MODULE = new WebAssembly.Module(Buffer.from(NUMBERS_BINARY, 'base64'));
/** The powers of ten that the digits of doubles need. */
const [POWER_MIN, POWER_MAX] = [-292, 324];
const WHOLE_POWERS_AT = 9_872;
const PAIRS_AT = 10_016;
const PIECES_AT = 10_240;
export const TEXT_AT = 196_608;

/** Pieces of text that are written again and again. */
export interface Piece {
  readonly from: number;
  readonly end: number;
}

/**
 * Writes JSON of numbers and of text that is known before. Its memory has the text from TEXT_AT on. There is room for
 * 64 KiB of it, and nothing checks that.
 */
export interface JsonWriter {
  readonly bytes: Uint8Array;
  /** Keeps a text as UTF-8; null if there is no more room. */
  keep(text: string): Piece | null;
  /** Writes a piece at a place of the text. Returns where it ends. */
  readonly piece: NumbersKernel['piece'];
  /** The same with a number behind it, as JSON.stringify writes it: null if it is not finite. */
  readonly number: NumbersKernel['number'];
}

export function jsonWriter(): JsonWriter {
  const { memory, piece, number } = new WebAssembly.Instance(MODULE).exports as NumbersKernel;
  const bytes = new Uint8Array(memory.buffer);
  fillPowers(memory.buffer);
  for (let pair = 0; pair < 100; pair++) {
    bytes[PAIRS_AT + 2 * pair] = 48 + Math.floor(pair / 10);
    bytes[PAIRS_AT + 2 * pair + 1] = 48 + (pair % 10);
  }
  let kept = PIECES_AT;
  return {
    bytes,
    piece,
    number,
    keep(text) {
      const written = Buffer.from(text);
      const piece = { from: kept, end: kept + written.length };
      // Pieces are read eight bytes at a time.
      if (piece.end + 8 > TEXT_AT) return null;
      bytes.set(written, kept);
      kept = piece.end;
      return piece;
    },
  };
}

/** Each with its 128 highest bits, rounded up. */
function fillPowers(buffer: ArrayBuffer): void {
  const words = new BigUint64Array(buffer, 0, 2 * (POWER_MAX - POWER_MIN + 1));
  for (let power = POWER_MIN; power <= POWER_MAX; power++) {
    const ten = 10n ** BigInt(Math.abs(power));
    const bits = BigInt(ten.toString(2).length);
    const highest = power < 0 ? quotientUp(1n << (127n + bits), ten) : quotientUp(ten << 128n, 1n << bits);
    const at = 2 * (power - POWER_MIN);
    words[at] = highest & 0xffff_ffff_ffff_ffffn;
    words[at + 1] = highest >> 64n;
  }
  const wholes = new BigUint64Array(buffer, WHOLE_POWERS_AT, 18);
  for (let power = 0; power < wholes.length; power++) wholes[power] = 10n ** BigInt(power);
}

function quotientUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
