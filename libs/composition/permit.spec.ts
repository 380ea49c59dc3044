import { describe, expect, it } from '@jest/globals';
import { Permit } from './permit.js';

const NEVER_LOOKS = 3_600_000;

describe('a permit', () => {
  it('is given once it may be held, and taken when it may be no more', async () => {
    let may = false;
    const permit = new Permit(() => may, NEVER_LOOKS);
    const { signal } = new AbortController();
    const acquired = permit.acquire('share', signal);
    permit.changed();
    may = true;
    permit.changed();
    const lease = await acquired;
    expect(lease?.lost.aborted).toBe(false);
    const lost = new Promise((resolve) => lease?.lost.addEventListener('abort', resolve));
    may = false;
    permit.changed();
    await lost;
    await lease?.release();
  });

  it('is looked at without being told', async () => {
    let looks = 0;
    const permit = new Permit(() => ++looks > 3, 1);
    const lease = await permit.acquire('share', new AbortController().signal);
    expect(lease).toBeDefined();
    await lease?.release();
    await lease?.release();
    expect(lease?.lost.aborted).toBe(false);
  });

  it('is waited for until that is given up', async () => {
    const giveUp = new AbortController();
    const acquired = new Permit(() => false, NEVER_LOOKS).acquire('share', giveUp.signal);
    giveUp.abort();
    expect(await acquired).toBeUndefined();
  });
});
