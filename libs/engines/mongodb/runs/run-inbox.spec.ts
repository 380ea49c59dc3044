import { describe, expect, it } from '@jest/globals';
import { RunInbox, type InboxChange } from './run-inbox.js';

const ids = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `inv_${from + i}`);

/** The ids in the form of the document. */
class Stored {
  readonly chunks: Record<string, readonly string[]> = {};
  write({ chunks, dropped }: InboxChange): void {
    for (const n of dropped) delete this.chunks[n];
    for (const [n, texts] of chunks) this.chunks[n] = texts;
  }
}

describe('the inbox of a source', () => {
  it('writes no more than the newest chunk and what follows, and knows what the document holds', () => {
    const inbox = new RunInbox();
    const stored = new Stored();
    for (let n = 0; n < 500; n++) {
      const change = inbox.plan(ids(7, n * 7));
      expect([...change.chunks.values()].flat().length).toBeLessThan(64 + 7);
      stored.write(change);
      inbox.apply(change);
      const { length } = inbox.ids();
      expect(length).toBeGreaterThanOrEqual(Math.min(1000, (n + 1) * 7));
      expect(length).toBeLessThan(1500);
    }
    expect(new RunInbox(stored.chunks).ids()).toEqual(inbox.ids());
    expect(Math.max(...Object.values(stored.chunks).map(({ length }) => length))).toBe(64);
    expect(inbox.has('inv_3499')).toBe(true);
    expect(inbox.has('inv_0')).toBe(false);
  });

  it('takes more ids at once than it keeps', () => {
    const inbox = new RunInbox();
    const stored = new Stored();
    for (const batch of [ids(40), ids(5000, 40)]) {
      const change = inbox.plan(batch);
      stored.write(change);
      inbox.apply(change);
    }
    expect(inbox.ids()).toEqual(ids(5040).slice(-inbox.ids().length));
    expect(inbox.ids().length).toBeGreaterThanOrEqual(1000);
    expect(new RunInbox(stored.chunks).ids()).toEqual(inbox.ids());
  });

  it('changes nothing until the change is written', () => {
    const inbox = new RunInbox({ 3: ['a'] });
    inbox.plan(['b']);
    expect(inbox.ids()).toEqual(['a']);
    expect(inbox.plan([])).toEqual({ chunks: new Map(), dropped: [] });
  });

  it('keeps a repeated id when its first place is dropped', () => {
    const inbox = new RunInbox();
    for (const batch of [
      ['again', ...ids(900)],
      ['again', ...ids(900, 900)],
    ])
      inbox.apply(inbox.plan(batch));
    expect(inbox.has('again')).toBe(true);
    expect(inbox.has('inv_0')).toBe(false);
    expect(inbox.ids().filter((id) => id === 'again')).toEqual(['again']);
  });
});
