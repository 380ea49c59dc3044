import { describe, expect, it } from '@jest/globals';
import { Metrics, Readiness } from '#libs/telemetry/index.js';
import { observe, type Observed } from './observe.js';

// docs/reference/rest-api.md#readyz
describe('the readiness of a process with every role', () => {
  it('names a database that was found damaged', async () => {
    const found: string[] = [];
    const readiness = new Readiness();
    observe({
      plane: { projectors: { status: () => [] }, engines: { events: { lastPosition: async () => 0n } } },
      readModels: {},
      engines: { damage: () => found[0] },
      reactors: [],
      metrics: new Metrics(),
      readiness,
      shuttingDown: () => false,
    } as unknown as Observed);
    expect(await readiness.report()).toMatchObject({ status: 'ready', checks: { 'data directory': 'ok' } });
    found.push('data.db is damaged');
    expect(await readiness.report()).toMatchObject({ status: 'not_ready', checks: { 'data directory': found[0] } });
  });
});
