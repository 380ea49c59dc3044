import { describe, expect, it } from '@jest/globals';
import { type ProjectorStatus } from '#libs/kernel/projection.js';
import { Metrics, Readiness } from '#libs/telemetry/index.js';
import { watchReaders } from './stopped-readers.js';

describe('readers that stop', () => {
  it('are named by a metric and by /readyz', async () => {
    const [metrics, readiness] = [new Metrics(), new Readiness()];
    const status = (name: string, failure?: string): ProjectorStatus => ({
      name,
      caughtUp: false,
      checkpoint: null,
      ...(failure === undefined ? {} : { failure }),
    });
    let all = [status('sources.v1')];
    watchReaders({ metrics, readiness }, () => all);
    expect(await metrics.text()).not.toContain('sluice_readers_stopped{');
    all = [status('sources.v1'), status('webhooks.v1', 'stopped at 7')];
    expect(await metrics.text()).toContain('sluice_readers_stopped{name="webhooks.v1"} 1');
    expect(await readiness.report()).toMatchObject({ status: 'not_ready', checks: { projections: 'stopped at 7' } });
  });
});
