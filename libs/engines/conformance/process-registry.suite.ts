import { expect, it } from '@jest/globals';
import { EXPIRY_MS, SILENCE_MS, type ProcessRegistry, type ProcessReport } from '#libs/kernel/process-registry.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';

export const PROCESS_REGISTRY_PARTS = ['reports', 'silence', 'expiry', 'leave'] as const;

/** The registry as seen by several processes. In the embedded engine all of them are one process. */
export interface RegistryUnderTest {
  process(): ProcessRegistry;
  /** The clock of all processes. */
  elapse(ms: number): void;
}

export const describeProcessRegistry = (name: string, make: MakeHarness<RegistryUnderTest>): void =>
  runParts(`ProcessRegistry: ${name}`, PROCESS_REGISTRY_PARTS, parts, make);

const report = (id: string, position: string, backlog = 0): ProcessReport => ({
  id,
  role: 'runner',
  position,
  backlog,
  uptimeMs: 0,
});
const byId = (reports: readonly ProcessReport[]): ProcessReport[] =>
  [...reports].sort((a, b) => (a.id < b.id ? -1 : 1));
const idsOf = async (registry: ProcessRegistry): Promise<string[]> => byId(await registry.live()).map(({ id }) => id);

const parts: Record<(typeof PROCESS_REGISTRY_PARTS)[number], Part<RegistryUnderTest>> = {
  reports: (port) => {
    it('shows the latest report of each process to all', async () => {
      const [one, other] = [port().process(), port().process()];
      expect(await one.live()).toEqual([]);
      await one.report(report('one', '0001'));
      await other.report(report('other', '0002', 7));
      await one.report(report('one', '0003', 12));
      const expected = [report('one', '0003', 12), report('other', '0002', 7)];
      expect(byId(await one.live())).toEqual(expected);
      expect(byId(await other.live())).toEqual(expected);
    });

    it('shows the pressure of a process while its reports contain it', async () => {
      const [one, other] = [port().process(), port().process()];
      const pressure = { sources: { dc_a: 900 }, workspaces: { o_1: 950 } };
      await one.report({ ...report('one', '0001', 950), pressure });
      expect(await other.live()).toEqual([{ ...report('one', '0001', 950), pressure }]);
      await one.report(report('one', '0001', 3));
      expect(await other.live()).toEqual([report('one', '0001', 3)]);
    });

    it('shows how long a process had run at its last report', async () => {
      const [one, other] = [port().process(), port().process()];
      await one.report(report('one', '0001'));
      await one.report({ ...report('one', '0001'), uptimeMs: 1_500.5 });
      expect(await other.live()).toEqual([{ ...report('one', '0001'), uptimeMs: 1_500.5 }]);
    });
  },

  silence: (port) => {
    it('leaves out a silent process until it reports again', async () => {
      const [one, other, reader] = [port().process(), port().process(), port().process()];
      await one.report(report('one', '0001'));
      await other.report(report('other', '0001'));
      expect(await idsOf(reader)).toEqual(['one', 'other']);
      port().elapse(SILENCE_MS - 10);
      await other.report(report('other', '0001'));
      expect(await idsOf(reader)).toEqual(['one', 'other']);
      port().elapse(20);
      expect(await idsOf(reader)).toEqual(['other']);
      await one.report(report('one', '0002'));
      expect(await idsOf(reader)).toEqual(['one', 'other']);
    });

    it('counts an unchanged report as a sign of life', async () => {
      const [one, reader] = [port().process(), port().process()];
      for (let round = 0; round < 5; round++) {
        await one.report(report('one', '0001'));
        expect(await idsOf(reader)).toEqual(['one']);
        port().elapse(SILENCE_MS - 10);
      }
      expect(await idsOf(reader)).toEqual(['one']);
    });
  },

  expiry: (port) => {
    it('keeps a silent process registered for a while, and registers it again with its next report', async () => {
      const [one, other, reader] = [port().process(), port().process(), port().process()];
      const look = async (): Promise<readonly string[]> => {
        // A look at the live processes removes the dead ones.
        await reader.live();
        return [...(await reader.registered())].sort();
      };
      await one.report(report('one', '0001'));
      await other.report(report('other', '0001'));
      expect(await look()).toEqual(['one', 'other']);
      port().elapse(EXPIRY_MS - 10);
      await other.report(report('other', '0001'));
      expect(await look()).toEqual(['one', 'other']);
      expect(await idsOf(reader)).toEqual(['other']);
      port().elapse(20);
      expect(await look()).toEqual(['other']);
      await one.report(report('one', '0002'));
      expect(await look()).toEqual(['one', 'other']);
    });
  },

  leave: (port) => {
    it('removes the process at once', async () => {
      const [one, reader] = [port().process(), port().process()];
      await one.report(report('one', '0001'));
      await one.report(report('two', '0001'));
      expect(await idsOf(reader)).toEqual(['one', 'two']);
      await one.leave('one');
      await one.leave('one');
      expect(await idsOf(reader)).toEqual(['two']);
    });
  },
};
