/** crc32c.wat, compiled by `npm run generate`: Node has CRC-32 of another polynomial alone. */
const CHECKSUM_BINARY = `
AGFzbQEAAAABDQJgAn9/AGADf39/AX8DAwIAAQUDAQABBxMCBm1lbW9yeQIABmV4dGVuZAABCo8GApAFAQ17QQ/9DyECIAD9AAQAIQMgAP0ABCAhBCAA
/QAEQCEFIAD9AARgIQYDQCAAQYABaiEAIAMgAv1OIQcgA0EE/Y0BIAL9TiELIAQgAv1OIQggBEEE/Y0BIAL9TiEMIAUgAv1OIQkgBUEE/Y0BIAL9TiEN
IAYgAv1OIQogBkEE/Y0BIAL9TiEOIAD9AAQAQQD9AASACCAH/YACQQD9AASQCCAL/YACQQD9AASgCCAI/YACQQD9AASwCCAM/YACQQD9AATACCAJ/YAC
QQD9AATQCCAN/YACQQD9AATgCCAK/YACQQD9AATwCCAO/YAC/VH9Uf1R/VH9Uf1R/VH9USEDIAD9AAQgQQD9AASACSAH/YACQQD9AASQCSAL/YACQQD9
AASgCSAI/YACQQD9AASwCSAM/YACQQD9AATACSAJ/YACQQD9AATQCSAN/YACQQD9AATgCSAK/YACQQD9AATwCSAO/YAC/VH9Uf1R/VH9Uf1R/VH9USEE
IAD9AARAQQD9AASACiAH/YACQQD9AASQCiAL/YACQQD9AASgCiAI/YACQQD9AASwCiAM/YACQQD9AATACiAJ/YACQQD9AATQCiAN/YACQQD9AATgCiAK
/YACQQD9AATwCiAO/YAC/VH9Uf1R/VH9Uf1R/VH9USEFIAD9AARgQQD9AASACyAH/YACQQD9AASQCyAL/YACQQD9AASgCyAI/YACQQD9AASwCyAM/YAC
QQD9AATACyAJ/YACQQD9AATQCyAN/YACQQD9AATgCyAK/YACQQD9AATwCyAO/YAC/VH9Uf1R/VH9Uf1R/VH9USEGIAAgAUkNAAsgACAD/QsEACAAIAT9
CwQgIAAgBf0LBEAgACAG/QsEYAt7AQF/IAIgAWtBgAJPBEAgASAAIAEoAgBzNgIAQQAhACABIAIgAWtBgAFrQYB/cWohAyABIAMQACABQRBqIANBEGoQ
ACADIQELAkADQCABIAJPDQEgAEEIdiAAIAEtAABzQf8BcUECdCgCAHMhACABQQFqIQEMAAsLIAALC4gEAQBBgAgLgAQA5uAG5AIE4kagpkCiREKkACZV
cwguXXuylOfBupzvyQB7VC8CeVYtrtX6gazX+IMA0oBSJPakdkCSwBJktuQ2AHhaIqXd/4fMtJbuaREzSwC8RfmbJ95iC7dO8pAs1WkAUbvqSxrwoYfW
PG3MnXcmAIA1tXPzRsZV1WDgJqYTkwAlETRUcUVgMRQgBWVAdFEAjXn0ML1JxKIv21aSH+tmAE1YFV8SB0pRHAlEDkNWGwA7ADt2TXZNwfrB+reMt4wA
OpuheELj2UR+3+U8BqedAP7pF5xidYst08Q6sU9YpgDa1w27YWy2OOLvNYNZVI4A6eoDt15dtOILCOFVvL9WAIiQGHf/52/SWkLKpS01vQDPrWLmKUuE
cL/dEpZZO/QApPRQgyd3023JmT3uShq+AOabfWGH+hwV845odJLvCQDB6Sg2998eh0Zur7FwWJkAWdaPSBGex/StInu85WozAL5P8fpEtQsQrl/h6lSl
GwAci5clOa6yEg6ZhTcrvKAAELKijZ0/L21938/g8FJCAESJzfezfjoLT4LG/Lh1MQDbU4g442uw7jW9ZtYNhV4Aq78Ulzwog1X+6kHCaX3WAAaSlF5Y
zMqwtiIk7uh8egCJ+nOOB3T99H0Oh3rzgAkARo3L8rR/OZ7YE1VsKuGnAEsFTgtADkWJwozHgsmHzA==
`;

interface ChecksumKernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Continues from a checksum over bytes [start, end) of the memory. */
  extend(crc: number, start: number, end: number): number;
}

const KERNEL = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(CHECKSUM_BINARY, 'base64')))
  .exports as ChecksumKernel;

/** Reversed Castagnoli polynomial: the checksum of Kafka's record batches. */
const POLYNOMIAL = 0x82f63b78;
/** Behind the tables. */
const BYTES_AT = 1_536;
/** Bytes that are copied at once: with the tables they fill 32 KiB, a first cache. */
const CHUNK_BYTES = 31_232;
const CHUNK = new Uint8Array(KERNEL.memory.buffer, BYTES_AT, CHUNK_BYTES);

new Int32Array(KERNEL.memory.buffer, 0, 256).forEach((_, byte, effects) => {
  effects[byte] = byte;
  for (let bit = 0; bit < 8; bit++) effects[byte] = (effects[byte] >>> 1) ^ (effects[byte] & 1 ? POLYNOMIAL : 0);
});

/** CRC-32C of bytes[start, end), an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1;
  for (let at = start; at < end; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, Math.min(end, at + CHUNK_BYTES));
    CHUNK.set(chunk);
    crc = KERNEL.extend(crc, BYTES_AT, BYTES_AT + chunk.length);
  }
  return ~crc >>> 0;
}
