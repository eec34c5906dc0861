import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Units by the names of detectors. */
export const Units = createContext<Readonly<Record<string, string>>>({});

/** The unit of the values of a detector; null if it names none. */
export function useUnit(detector: string): string | null {
  const units = useContext(Units);
  return Object.hasOwn(units, detector) ? units[detector] : null;
}
