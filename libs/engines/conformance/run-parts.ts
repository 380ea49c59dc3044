import { afterEach, beforeEach, describe } from '@jest/globals';
import { type Harness, type MakeHarness, type Part } from './harness.js';

/** Parts of a suite that make no sense for a test double, each with the reason. */
export type Omitted<N extends string> = Readonly<Partial<Record<N, string>>>;

/**
 * Runs every part of a suite, except those that a test double omits. Suites offer `omitted` only in a separate function
 * (`describe…Double`), which the meta-test does not count for an adapter.
 */
export const runParts = <P, N extends string>(
  title: string,
  names: readonly N[],
  parts: Readonly<Record<N, Part<P>>>,
  make: MakeHarness<P>,
  omitted?: Omitted<N>,
): void => {
  describe(title, () => {
    let current: Harness<P> | undefined;
    const harness = (): Harness<P> => {
      if (!current) throw new Error('the harness is there only while a test runs');
      return current;
    };
    beforeEach(async () => {
      current = await make();
    });
    afterEach(async () => {
      await current?.close();
      current = undefined;
    });
    for (const name of names) {
      const reason = omitted?.[name];
      const run = (): void => parts[name](() => harness().port, harness);
      if (reason === undefined) describe(name, run);
      else describe.skip(`${name}: ${reason}`, run);
    }
  });
};
