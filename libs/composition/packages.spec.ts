import { describe, expect, it } from '@jest/globals';
import { Metrics } from '#libs/telemetry/index.js';
import { installReport } from './packages.js';

const FACTS = {
  workspace_id: 'o_1',
  packages: 2,
  bytes: 1_000,
  downloaded: 2,
  downloaded_bytes: 300,
  resolve_ms: 10,
  fetch_ms: 20,
  unpack_ms: 30,
  ms: 70,
};

describe('the report of an install of npm packages', () => {
  it('is one line with all facts, a warning for a failure, and is counted by outcome', async () => {
    const lines: [string, object, string][] = [];
    const metrics = new Metrics();
    const report = installReport(
      {
        info: (fields, message) => void lines.push(['info', fields, message]),
        warn: (fields, message) => void lines.push(['warn', fields, message]),
      },
      metrics.packages,
    );
    const nothing = { ...FACTS, downloaded: 0, downloaded_bytes: 0 };
    report({ ...FACTS, cached: false });
    report({ ...nothing, cached: true });
    report({ ...nothing, cached: false, failed: 'the npm package "p" does not exist' });
    expect(lines).toEqual([
      ['info', { outcome: 'installed', ...FACTS }, 'packages.install'],
      ['info', { outcome: 'cached', ...nothing }, 'packages.install'],
      ['warn', { outcome: 'failed', ...nothing, failed: 'the npm package "p" does not exist' }, 'packages.install'],
    ]);
    const text = await metrics.text();
    for (const line of [
      'sluice_package_installs_total{outcome="installed"} 1',
      'sluice_package_installs_total{outcome="cached"} 1',
      'sluice_package_installs_total{outcome="failed"} 1',
      'sluice_package_install_seconds_count{outcome="installed"} 1',
      'sluice_packages_downloaded_total 2',
      'sluice_packages_downloaded_bytes_total 300',
    ])
      expect(text).toContain(line);
    expect(text).not.toContain('sluice_package_install_seconds_count{outcome="cached"}');
  });
});
