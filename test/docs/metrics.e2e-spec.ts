import { describe, expect, it } from '@jest/globals';
import { metricsMissingIn } from '#test/harness/shipped-metrics.js';
import { startServer } from '#test/harness/server.js';
import { metricsInCode } from './metrics-reference.js';

describe('docs/reference/metrics.md', () => {
  it('describes every metric that a server exports, and the server exports what alerts and dashboard read', async () => {
    const server = await startServer();
    try {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const exported = [...text.matchAll(/^# HELP (sluice_\w+) (.*)\n# TYPE \1 (\w+)$/gm)];
      expect(exported.length).toBeGreaterThan(15);
      const known = new Map(metricsInCode().map((metric) => [metric.name, metric]));
      for (const [, name = '', help, type] of exported) {
        const { help: documented, type: kind, labels = [] } = known.get(name) ?? {};
        expect({ name, help, type }).toEqual({ name, help: documented, type: kind });
        const samples = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{([^}]*)\\}`, 'gm'))];
        const used = samples.flatMap(([, list = '']) => [...list.matchAll(/(\w+)="/g)].map(([, label]) => label));
        const told = used.filter((label) => label !== 'le' && !labels.includes(label ?? ''));
        expect({ name, told }).toEqual({ name, told: [] });
      }
      expect(metricsMissingIn(text, 'embedded')).toEqual([]);
    } finally {
      await server.close();
    }
  }, 60_000);
});
