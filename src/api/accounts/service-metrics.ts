import { boundedLabel, type Metrics } from '../../ops/metrics.ts';

/** Keys that have a label of their own. */
const KEYS_MAX = 100;

export function countTokens({ tokens }: Pick<Metrics, 'tokens'>): (keyId: string, charged: number) => void {
  const labelOf = boundedLabel(KEYS_MAX);
  return (keyId, charged) => tokens.inc({ key: labelOf(keyId) }, charged);
}
