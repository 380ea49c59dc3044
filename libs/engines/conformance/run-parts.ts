import { afterEach, beforeEach, describe } from '@jest/globals';
import { type Harness, type MakeHarness, type Part } from './harness.js';

/** Runs every part of a suite. There is no option to skip one. */
export const runParts = <P, N extends string>(
  title: string,
  names: readonly N[],
  parts: Readonly<Record<N, Part<P>>>,
  make: MakeHarness<P>,
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
      describe(name, () => {
        parts[name](() => harness().port, harness);
      });
    }
  });
};
