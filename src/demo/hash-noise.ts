/**
 * Random numbers without state. The same seed and place always give the same number, so any step can be computed alone.
 */

/** A 32-bit seed of a text (FNV-1a). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Uniform in [0, 1), by the finalizer of MurmurHash3 over seed, place and draw. */
export function uniformAt(seed: number, place: number, draw: number): number {
  let hash = seed ^ Math.imul(place, 0x9e3779b1) ^ Math.imul(draw + 1, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/**
 * Nearly normal, mean 0 and deviation 1, never beyond 3.5: the sum of four uniform numbers (Irwin-Hall distribution).
 */
export function noiseAt(seed: number, place: number): number {
  const sum =
    uniformAt(seed, place, 0) + uniformAt(seed, place, 1) + uniformAt(seed, place, 2) + uniformAt(seed, place, 3);
  return (sum - 2) * Math.sqrt(3);
}

/** A smooth walk between hashed knots `knotSteps` apart, mean 0, never beyond 1. */
export function wanderAt(seed: number, step: number, knotSteps: number): number {
  const knot = Math.floor(step / knotSteps);
  const part = step / knotSteps - knot;
  const eased = part * part * (3 - 2 * part);
  const at = (place: number) => 2 * uniformAt(seed, place, 4) - 1;
  return at(knot) * (1 - eased) + at(knot + 1) * eased;
}
