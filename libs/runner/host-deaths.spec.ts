import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HostDeathNotes } from './host-deaths.js';

describe('notes of runs in flight', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const warnings: unknown[] = [];
  /** Opens the notes again without closing them first, as after a kill. */
  const start = () => HostDeathNotes.open(folder, (error) => void warnings.push(error));
  const dieDuring = (id: string, times: number): void => {
    for (let i = 0; i < times; i++) start().begin([id]);
  };

  it('suspect no run after one death of the host, and no run that ended in order', () => {
    const first = start();
    first.begin(['a', 'b']);
    first.end('a');
    expect(start().isSuspect('b')).toBe(false);
    const third = start();
    third.begin(['b']);
    third.close();
    expect(start().isSuspect('b')).toBe(false);
    expect(warnings).toEqual([]);
  });

  it('suspect a run in flight at two deaths, until it ends', () => {
    dieDuring('a', 2);
    const notes = start();
    expect([notes.isSuspect('a'), notes.isSuspect('b'), notes.deathsOf('a')]).toEqual([true, false, 2]);
    notes.end('a');
    expect(notes.isSuspect('a')).toBe(false);
  });

  it('end a run that killed the host three times while it ran alone, and no other', async () => {
    dieDuring('killer', 2);
    for (let n = 0; n < 3; n++) {
      const notes = start();
      expect(await notes.alone('killer')).toBe('run');
      notes.end('other');
    }
    const last = start();
    expect(last.deathsOf('killer')).toBe(5);
    expect(await last.alone('killer')).toBe('give up');
    last.end('killer');
    expect(last.blocked()).toBeUndefined();
  });

  it('count no death against a suspect that has ended', async () => {
    dieDuring('a', 2);
    for (let n = 0; n < 4; n++) {
      const notes = start();
      expect(await notes.alone('a')).toBe('run');
      notes.end('a');
    }
    const notes = start();
    expect(await notes.alone('a')).toBe('run');
  });

  it('make a suspect wait for running runs, make later runs wait for it, and let suspects take turns', async () => {
    dieDuring('a', 2);
    dieDuring('b', 2);
    const notes = start();
    const order: string[] = [];
    notes.begin(['x']);
    const alone = async (id: string): Promise<void> => {
      await notes.alone(id);
      order.push(id);
    };
    const waits = [alone('a'), alone('b')];
    const blocked = notes.blocked()?.then(() => order.push('others'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    notes.end('x');
    expect(notes.blocked()).toBeDefined();
    await waits[0];
    expect(order).toEqual(['a']);
    notes.end('a');
    await waits[1];
    notes.end('b');
    await blocked;
    expect(order).toEqual(['a', 'b', 'others']);
    expect(notes.blocked()).toBeUndefined();
  });

  it('stay small, and still hold the runs in flight', () => {
    const notes = start();
    notes.begin(['long']);
    for (let n = 0; n < 20_000; n++) {
      notes.begin([`inv_0123456789abcdef${n}`]);
      notes.end(`inv_0123456789abcdef${n}`);
    }
    const sizes = readdirSync(folder).map((name) => statSync(path.join(folder, name)).size);
    expect(Math.max(...sizes)).toBeLessThan(140_000);
    start().begin(['long']);
    expect(start().isSuspect('long')).toBe(true);
  });
});
