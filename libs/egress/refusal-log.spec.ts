import { describe, expect, it } from '@jest/globals';
import { AddressPolicy } from './address-policy.js';
import { refusalLog } from './refusal-log.js';

describe('the log of refused connections', () => {
  it('names address, reason and allowing entry, and counts the lines that it left out', () => {
    const lines: object[] = [];
    let now = 0;
    const onRefused = refusalLog({ warn: (fields, message) => lines.push({ ...fields, message }) }, () => now);
    const policy = new AddressPolicy([], { onRefused });
    for (let i = 0; i < 100; i++) expect(() => policy.check('intranet.example', '10.1.2.3')).toThrow();
    expect(lines).toHaveLength(20);
    expect(lines[0]).toEqual({
      host: 'intranet.example',
      address: '10.1.2.3',
      reason: 'private address',
      allowEntry: '10.1.2.3/32',
      message: 'egress.refused',
    });
    now = 60_000;
    expect(() => policy.check('::1', '::1')).toThrow();
    expect(lines[20]).toMatchObject({ host: '::1', unlogged: 80 });
    expect(() => policy.check('::1', '::1')).toThrow();
    expect(lines[21]).not.toHaveProperty('unlogged');
  });
});
