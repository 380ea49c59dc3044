import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { privateRunUrlKey } from './private-run-url-key.js';
import { RunUrlKeyView } from './run-url-key-view.js';

const DATA = Buffer.from('named');
const same = (key: KeyObject, other: KeyObject): boolean => key.equals(other);

describe('the key of run URLs', () => {
  let plane: ControlPlane;
  let view: RunUrlKeyView;

  beforeEach(async () => {
    view = new RunUrlKeyView();
    plane = await ControlPlane.start({ projections: [], views: [view] });
  });
  afterEach(() => plane.stop());

  const started = (known: { readonly secretRef: string | undefined } = view): Promise<KeyObject> =>
    privateRunUrlKey({ ...plane.ports(), view: known });

  it('is made once, and its public half is known to every process', async () => {
    const first = await started();
    await plane.idle();
    expect(view.publicKey && verify(null, DATA, view.publicKey, sign(null, DATA, first))).toBe(true);
    expect(same(await started(), first)).toBe(true);
    expect(plane.vault.secrets.size).toBe(1);
  });

  it('is one when two processes make it at once', async () => {
    const unknown = { secretRef: undefined };
    const [one, other] = await Promise.all([started(unknown), started(unknown)]);
    expect(same(one, other)).toBe(true);
    expect(plane.vault.secrets.size).toBe(1);
    await plane.idle();
    expect(view.publicKey && same(view.publicKey, createPublicKey(one))).toBe(true);
  });

  it('is made by the next start when a process dies before the event', async () => {
    const { handleCommand: _, ...ports } = plane.ports();
    const dies = { ...ports, view, handleCommand: () => Promise.reject(new Error('it died')) };
    await expect(privateRunUrlKey(dies)).rejects.toThrow('it died');
    const key = await started();
    await plane.idle();
    expect(view.publicKey && same(view.publicKey, createPublicKey(key))).toBe(true);
  });

  it('is not replaced when the vault has lost it', async () => {
    await started();
    await plane.idle();
    plane.vault.secrets.clear();
    await expect(started()).rejects.toThrow(/the vault has no secret sec_/);
  });
});
