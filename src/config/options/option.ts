import { boolean, type Kind, text } from '../schema/kinds.ts';

/** An option of the environment, the command line, or both. */
export interface Option<T> {
  /** Name of the variable; null if there is only a flag. */
  readonly env: string | null;
  /** Name of the flag without dashes; null for a secret, since every user of a machine can see command lines. */
  readonly flag: string | null;
  readonly kind: Kind<T>;
  readonly help: string;
  /** Listed by `--help`; the others by `--help all`. */
  readonly isFirst?: true;
  /** The option whose value, a secret, is in the file that this one names. */
  readonly holds?: string;
}

export interface OptionWithDefault<T> extends Option<T> {
  readonly fallback: T;
}

/** An option as it is written: with a default, or without one. */
type WrittenOption<T, F> = [F] extends [undefined] ? Option<T> : OptionWithDefault<T>;

function optionOf<T, F>(option: Option<T>, fallback: F): WrittenOption<T, F> {
  return (fallback === undefined ? option : { ...option, fallback }) as WrittenOption<T, F>;
}

/** A setting with a variable and the flag of the same name: `KAFKA_GROUP_ID` and `--kafka-group-id`. */
export function setting<T, F extends NoInfer<T> | undefined = undefined>(
  env: string,
  kind: Kind<T>,
  help: string,
  fallback?: F,
) {
  return optionOf({ env, flag: env.toLowerCase().replaceAll('_', '-'), kind, help }, fallback as F);
}

/** The same option, which `--help` of a command with many options lists. */
export function listedFirst<O extends Option<unknown>>(option: O): O {
  return { ...option, isFirst: true };
}

export function secret<T = string>(env: string, help: string, kind: Kind<T> = text as Kind<T>): Option<T> {
  return { env, flag: null, kind, help };
}

/** The file that holds a secret, as orchestrators mount it. @param holds the option of that secret */
export function secretFile(env: string, holds: string): Option<string> {
  return { ...setting(`${env}_FILE`, text, `file that holds ${env}`), holds };
}

/** A flag that only some commands have, such as `--rate` of `feed`. */
export function commandFlag<T, F extends NoInfer<T> | undefined = undefined>(
  flag: string,
  kind: Kind<T>,
  help: string,
  fallback?: F,
) {
  return optionOf({ env: null, flag, kind, help }, fallback as F);
}

/** A flag of a command that is given, or not. */
export function switchFlag(flag: string, help: string): OptionWithDefault<boolean> {
  return commandFlag(flag, boolean, help, false);
}
