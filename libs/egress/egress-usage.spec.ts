import { describe, expect, it } from '@jest/globals';
import { EgressUsage } from './egress-usage.js';

const connection = (sent: number, received: number, error: string | null = null) => ({
  host: 'a.example',
  port: 443,
  address: '192.0.2.1',
  sent,
  received,
  ms: 5,
  error,
});

describe('the usage of egress', () => {
  it('adds up the connections of each source', () => {
    const usage = new EgressUsage();
    usage.note('dc_a', connection(10, 200));
    usage.note('dc_b', connection(1, 1));
    usage.note('dc_a', connection(5, 0, 'EGRESS_REFUSED'));
    expect(usage.bySource('connections')).toEqual({ dc_a: 2, dc_b: 1 });
    expect(usage.bySource('failed')).toEqual({ dc_a: 1, dc_b: 0 });
    expect(usage.bySource('sent')).toEqual({ dc_a: 15, dc_b: 1 });
    expect(usage.bySource('received')).toEqual({ dc_a: 200, dc_b: 1 });
  });

  it('shows the 100 sources that moved most bytes', () => {
    const usage = new EgressUsage();
    for (let i = 0; i < 150; i++) usage.note(`dc_${i}`, connection(i, 0));
    const shown = usage.bySource('sent');
    expect(Object.keys(shown)).toHaveLength(100);
    expect(Math.min(...Object.values(shown))).toBe(50);
  });

  it('forgets the source that was used longest ago once it counts 10,000', () => {
    const usage = new EgressUsage();
    usage.note('dc_first', connection(1e9, 0));
    usage.note('dc_kept', connection(1e9, 0));
    for (let i = 0; i < 9_998; i++) usage.note(`dc_${i}`, connection(1, 0));
    usage.note('dc_kept', connection(1, 0));
    usage.note('dc_last', connection(1, 0));
    expect(usage.bySource('sent')).toMatchObject({ dc_kept: 1e9 + 1 });
    expect(usage.bySource('sent')).not.toHaveProperty('dc_first');
  });
});
