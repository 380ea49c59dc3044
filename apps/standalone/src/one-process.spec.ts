import { describe, expect, it } from '@jest/globals';
import { type ControlPlane } from '#libs/composition/control-plane.js';
import { type Started } from '#libs/composition/start.js';
import { topicPolicy } from '#libs/composition/topic-policy.js';
import { loadConfig } from '#libs/config/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { Metrics } from '#libs/telemetry/index.js';
import { oneProcess } from './one-process.js';

const opened = () => {
  const metrics = new Metrics();
  const closes: (readonly [step: string, close: () => Promise<void>])[] = [];
  const config = loadConfig({}, () => undefined);
  const shutdown = { add: (step: string, close: () => Promise<void>) => void closes.push([step, close]) };
  const started = { config, metrics, shutdown } as unknown as Started;
  const plane = { clock: systemClock, engines: {} } as unknown as ControlPlane;
  return { own: oneProcess(started, plane, topicPolicy(config)), metrics, closes };
};

describe('the process with every role', () => {
  it('runs leased work from the start until its step of the shutdown', async () => {
    const { own, closes } = opened();
    const events: string[] = [];
    await own.leased({
      name: 'timers',
      async start() {
        events.push('started');
        return { stop: async () => void events.push('stopped') };
      },
    });
    expect([events, closes.map(([step]) => step)]).toEqual([['started'], ['platform events', 'timers']]);
    await closes[1]?.[1]();
    expect(events).toEqual(['started', 'stopped']);
  });

  it('does not start when leased work cannot', async () => {
    const { own, closes } = opened();
    const work = { name: 'timers', start: () => Promise.reject(new Error('no ticks')) };
    await expect(own.leased(work)).rejects.toThrow('no ticks');
    expect(closes.map(([step]) => step)).toEqual(['platform events']);
  });

  it('exports the backlog of each role', async () => {
    const { own, metrics } = opened();
    own.reportBacklog({ group: 'webhook-worker', prefix: 'deliveries.', backlog: () => 3, pressure: () => undefined });
    own.reportLag({ group: 'message-worker', prefix: 'messages.', backlog: () => 5 });
    own.countBacklog('attempts', () => 4);
    const text = await metrics.text();
    expect(text).toContain('sluice_lag{group="webhook-worker"} 3');
    expect(text).toContain('sluice_lag{group="message-worker"} 5');
    expect(text).toContain('sluice_lag{group="attempts"} 4');
  });
});
