import { describe, expect, it } from '@jest/globals';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { type PlannedSource, SECRET_MASK, type SourceDefinition } from '#libs/sources/published.js';
import { type StoredSource } from './domain/stored-version.js';
import { SourceSecrets } from './source-secrets.js';

const context = { workspaceId: 'o_1' } as CommandContext;
const definition: Pick<SourceDefinition, 'props'> = {
  props: [
    { kind: 'value', prop: 'shop', value: 'x' },
    { kind: 'secret', prop: 'token', secretRef: 'sec_token' },
    {
      kind: 'request',
      prop: 'call',
      value: { url: 'https://example.com', auth: { type: 'bearer', token: SECRET_MASK } },
      secretRef: 'sec_call',
    },
  ],
};
const planned = (secrets: readonly { readonly ref: string; readonly text: string }[]): PlannedSource =>
  ({ definition, plan: { secrets } }) as unknown as PlannedSource;
const given = {
  shop: 'x',
  token: SECRET_MASK,
  call: { url: 'https://example.com', auth: { type: 'bearer', token: SECRET_MASK } },
};

describe('the secrets of a source that a workflow owns', () => {
  const vault = new InMemoryVault();
  const copies = new SourceSecrets(vault, { now: () => 1_763_712_000_000 });

  const kept = async (secrets: readonly { readonly ref: string; readonly text: string }[]): Promise<StoredSource> => {
    const copied = await copies.of(planned(secrets), context);
    for (const { ref, text } of copied.secrets) await vault.put(ref, context.workspaceId, text);
    return { trigger: 'a', uses: 'b', definition: definition as SourceDefinition, ...copied.stored };
  };

  it('are copied, whether they are new or kept, and outlive those of the source', async () => {
    await vault.put('sec_call', 'o_1', '{"token":"of the call"}');
    const stored = await kept([{ ref: 'sec_token', text: 'of the source' }]);
    await vault.delete('sec_call');
    expect(Object.keys(stored.secrets ?? {})).toEqual(['token', 'call']);
    expect(await copies.inClear(stored, undefined, given, context)).toEqual({
      shop: 'x',
      token: 'of the source',
      call: { url: 'https://example.com', auth: { type: 'bearer', token: 'of the call' } },
    });
  });

  it('stay masks where the present source has the same', async () => {
    const all = (token: string) => [
      { ref: 'sec_token', text: token },
      { ref: 'sec_call', text: '{"token":"same"}' },
    ];
    const [former, present] = [await kept(all('one')), await kept(all('two'))];
    expect(await copies.inClear(former, present, given, context)).toEqual({ ...given, token: 'one' });
  });

  it('are missed when they are stored no more', async () => {
    const without = { trigger: 'a', uses: 'b', definition: definition as SourceDefinition };
    await expect(copies.inClear(without, undefined, given, context)).rejects.toMatchObject({
      code: 'source.invalid_prop',
      details: { prop: 'token' },
    });
  });
});
