import { describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { emitIds, timeOfEmitId } from './emit-ids.js';
import { EventIds } from './event-ids.js';

describe('emit ids', () => {
  it('are 27 characters, the same for the same execution, and distinct within it', () => {
    const at = Date.UTC(2026, 0, 1);
    const first = emitIds('inv_1', at);
    const again = emitIds('inv_1', at);
    const all = Array.from({ length: 1000 }, (_, i) => first(i));
    expect(all.every((id) => /^[0-9A-Za-z]{27}$/.test(id))).toBe(true);
    expect(new Set(all).size).toBe(1000);
    expect(again(7)).toBe(all[7]);
    expect(emitIds('inv_2', at)(7)).not.toBe(all[7]);
  });

  it('are the KSUID text of the second, the digest of the execution, and the index', () => {
    const at = Date.UTC(2026, 0, 1);
    for (let n = 0; n < 2_000; n++) {
      const index = n % 7 === 0 ? 0xffff_ffff - n : n;
      const digest = hash('sha256', `inv_${n}`, 'buffer');
      const bytes = Buffer.alloc(20);
      bytes.writeUInt32BE(at / 1000 - 1_400_000_000, 0);
      digest.copy(bytes, 4, 0, 16);
      bytes.writeUInt32BE((digest.readUInt32BE(12) ^ index) >>> 0, 16);
      let rest = BigInt(`0x${bytes.toString('hex')}`);
      let text = '';
      for (let digit = 0; digit < 27; digit++, rest /= 62n) {
        text = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.charAt(Number(rest % 62n)) + text;
      }
      expect(emitIds(`inv_${n}`, at)(index)).toBe(text);
    }
  });

  it('contain the second of the execution, rarely the one before', () => {
    const at = Date.UTC(2026, 0, 1);
    const times = Array.from({ length: 2_000 }, (_, n) => timeOfEmitId(emitIds(`inv_${n}`, at + 999)(n)));
    expect(new Set(times)).toEqual(new Set([at]));
    expect([timeOfEmitId('e1'), timeOfEmitId(`${'0'.repeat(26)}-`)]).toEqual([undefined, undefined]);
  });

  it('sort by the second of the execution', () => {
    const early = emitIds('inv_z', Date.UTC(2026, 0, 1))(0);
    const late = emitIds('inv_a', Date.UTC(2026, 0, 1) + 1000)(0);
    expect(early < late).toBe(true);
  });
});

describe('event ids', () => {
  it('strictly increase, even when the clock stands still or goes back', () => {
    const ids = new EventIds('');
    expect(ids.last()).toBe('');
    expect([ids.next(1000), ids.next(1000), ids.next(999), ids.next(1001)]).toEqual([
      '1000-0',
      '1000-1',
      '1000-2',
      '1001-0',
    ]);
  });

  it('continue from the last id before a restart', () => {
    expect(new EventIds('2000-4').next(1500)).toBe('2000-5');
  });
});
