import { describe, expect, it } from '@jest/globals';
import { InMemoryVault } from '#libs/kernel/testing/control-plane.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { type VariableEvent } from './published.js';
import { VariablesView } from './variables-view.js';
import { WorkspaceVariables } from './workspace-variables.js';

/** A vault that counts reads and can pause them. */
class CountingVault extends InMemoryVault {
  reads = 0;
  before: () => Promise<void> = async () => undefined;

  override async get(ref: string, workspaceId: string): Promise<string | undefined> {
    this.reads++;
    await this.before();
    return super.get(ref, workspaceId);
  }
}

const world = (behindMs = 5_000) => {
  const view = new VariablesView();
  const vault = new CountingVault();
  let position = 0;
  const happened = (event: VariableEvent, workspaceId: string): void =>
    view.apply(recorded('variable-var_1', event, { metadata: { workspaceId }, position: ++position }));
  let refs = 0;
  const written = async (value: string, workspaceId: string): Promise<string> => {
    const ref = `sec_${++refs}`;
    await vault.put(ref, workspaceId, value);
    return ref;
  };
  const told = (name: string, valueRef: string, workspaceId: string): void =>
    happened({ type: 'VariableSet', data: { name, valueRef, replacedRef: null, setAt: 1 } }, workspaceId);
  const set = async (name: string, value: string, workspaceId = 'o_1'): Promise<string> => {
    const ref = await written(value, workspaceId);
    told(name, ref, workspaceId);
    return ref;
  };
  const deleted = (name: string, ref: string): void =>
    happened({ type: 'VariableDeleted', data: { name, replacedRef: ref, deletedAt: 2 } }, 'o_1');
  return { vault, variables: new WorkspaceVariables(view, vault, behindMs), set, written, told, deleted };
};

describe('the variables of a workspace with their values', () => {
  it('are its own, and none without any', async () => {
    const { variables, set } = world();
    expect(await variables.variablesOf('o_1')).toEqual({});
    await set('A', 'mine');
    await set('A', 'theirs', 'o_2');
    expect(await variables.variablesOf('o_1')).toEqual({ A: 'mine' });
    expect(await variables.variablesOf('o_2')).toEqual({ A: 'theirs' });
  });

  it('may have the name of a property of objects', async () => {
    const { variables, set } = world();
    await set('__proto__', 'x');
    const values = await variables.variablesOf('o_1');
    expect(Object.entries(values)).toEqual([['__proto__', 'x']]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });

  it('are read once until one changes', async () => {
    const { variables, vault, set, deleted } = world();
    await set('A', '1');
    const ref = await set('B', '2');
    const first = await variables.variablesOf('o_1');
    expect(await variables.variablesOf('o_1')).toBe(first);
    expect(vault.reads).toBe(2);
    const version = variables.versionOf('o_1');
    await set('A', '3');
    expect(variables.versionOf('o_1')).not.toBe(version);
    expect(await variables.variablesOf('o_1')).toEqual({ A: '3', B: '2' });
    deleted('B', ref);
    expect(await variables.variablesOf('o_1')).toEqual({ A: '3' });
  });

  it('are read once for several that ask together', async () => {
    const { variables, vault, set } = world();
    await set('A', '1');
    const [one, other] = await Promise.all([variables.variablesOf('o_1'), variables.variablesOf('o_1')]);
    expect(one).toBe(other);
    expect(vault.reads).toBe(1);
  });

  it('are those after a change whose former value is gone before the table knows of it', async () => {
    const { variables, vault, set, written, told } = world();
    const former = await set('A', 'old');
    const newer = await written('new', 'o_1');
    await vault.delete(former);
    vault.before = async () => {
      vault.before = async () => told('A', newer, 'o_1');
    };
    expect(await variables.variablesOf('o_1')).toEqual({ A: 'new' });
  });

  it('are refused when a value is missing for good, and read again the next time', async () => {
    const { variables, vault, set } = world(0);
    const ref = await set('A', 'x');
    await vault.delete(ref);
    await expect(variables.variablesOf('o_1')).rejects.toThrow('the value of variable A of o_1 is missing');
    await vault.put(ref, 'o_1', 'restored');
    expect(await variables.variablesOf('o_1')).toEqual({ A: 'restored' });
  });

  it('of many workspaces do not stay in memory without a bound', async () => {
    const { variables, vault, set } = world();
    const value = 'x'.repeat(65_536);
    // Each counts 2 bytes a character, so 32 MB hold fewer than 256.
    for (let n = 0; n < 300; n++) await set('A', value, `o_${n}`);
    for (let n = 0; n < 300; n++) await variables.variablesOf(`o_${n}`);
    const before = vault.reads;
    await variables.variablesOf('o_299');
    expect(vault.reads).toBe(before);
    await variables.variablesOf('o_0');
    expect(vault.reads).toBe(before + 1);
  });
});
