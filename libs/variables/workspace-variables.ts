import { pause } from '#libs/async/pause.js';
import { BoundedMap, bytesOfText } from '#libs/kernel/bounded-map.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type VariablesView } from './variables-view.js';

export type VariableValues = Readonly<Record<string, string>>;

interface Kept {
  readonly version: string;
  readonly values: VariableValues;
}

/** Decrypted values that a process keeps, of all workspaces together. */
const KEPT_BYTES = 32 * 1_024 * 1_024;
const PAUSE_MS = 50;
/** Longest wait for the table in memory to learn of a change that has already removed the former value. */
const BEHIND_MS = 5_000;

const NONE: VariableValues = Object.freeze({});

/** The variables of workspaces with their values, for a process that runs their code. */
export class WorkspaceVariables {
  private readonly kept = new BoundedMap<string, Kept>(KEPT_BYTES, (_, { values }) => bytesOf(values));
  private readonly reading = new Map<string, Promise<Kept>>();

  constructor(
    private readonly view: VariablesView,
    private readonly vault: Pick<Vault, 'get'>,
    private readonly behindMs = BEHIND_MS,
  ) {}

  /** A text that changes with every change of a variable of the workspace. */
  versionOf(workspaceId: string): string {
    return this.view.versionOf(workspaceId);
  }

  /**
   * Resolves with the values by name, with the same object while nothing changes. Rejects when a value cannot be read or
   * decrypted.
   */
  async variablesOf(workspaceId: string): Promise<VariableValues> {
    const version = this.view.versionOf(workspaceId);
    if (version === '') {
      this.kept.delete(workspaceId);
      return NONE;
    }
    const kept = this.kept.get(workspaceId);
    if (kept?.version === version) return kept.values;
    const { values } = await this.readOnce(workspaceId, version);
    return values;
  }

  /** Steps that start together share one read. */
  private readOnce(workspaceId: string, version: string): Promise<Kept> {
    const key = `${workspaceId} ${version}`;
    const running = this.reading.get(key);
    if (running) return running;
    const reading = this.read(workspaceId).finally(() => this.reading.delete(key));
    this.reading.set(key, reading);
    return reading;
  }

  private async read(workspaceId: string): Promise<Kept> {
    const until = performance.now() + this.behindMs;
    for (;;) {
      const version = this.view.versionOf(workspaceId);
      const known = this.view.of(workspaceId);
      const texts = await Promise.all(known.map(({ valueRef }) => this.vault.get(valueRef, workspaceId)));
      const missing = known.find((_, i) => texts[i] === undefined);
      if (!missing) {
        const values = Object.freeze(Object.fromEntries(known.map(({ name }, i) => [name, texts[i] ?? ''])));
        const read = { version, values };
        this.kept.delete(workspaceId);
        this.kept.set(workspaceId, read);
        return read;
      }
      // The value was replaced or deleted, and the table does not know it yet.
      if (performance.now() >= until)
        throw new Error(`the value of variable ${missing.name} of ${workspaceId} is missing from the vault`);
      await pause(PAUSE_MS);
    }
  }
}

const bytesOf = (values: VariableValues): number =>
  Object.entries(values).reduce((sum, [name, value]) => sum + bytesOfText(name) + bytesOfText(value), 0);
