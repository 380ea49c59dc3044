import { Inject, Injectable } from '@nestjs/common';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { componentIdOf } from '../domain/component-identity.js';
import { type SavedComponent } from '../domain/component.js';
import { compareVersions } from '../domain/version-order.js';
import { SaveComponent, SaveComponentHandler } from '../save-component/save-component.handler.js';
import { type BuildProgress } from './build-progress.js';
import {
  registryDecider,
  registryEntryId,
  REGISTRY_WORKSPACE,
  type RegistryCommand,
  type RegistryEntry,
} from './registry-entry.js';
import { registryEntries } from './registry.projection.js';
import { type RegistryFolder } from './registry-folder.js';

export interface Synced {
  readonly listed: number;
  readonly removed: number;
  /** Files that are unchanged, or lost to another file with their key. */
  readonly kept: number;
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Concurrent builds. The registry is a workspace like any other, so users' builds take turns with it. */
const AT_ONCE = 2;

/** Makes the registry equal to its folder, in one process at a time. A repeat changes nothing. */
@Injectable()
export class RegistrySync {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    private readonly saver: SaveComponentHandler,
  ) {}

  /** @param progress called with every file of the folder that looks like a component. */
  async sync(folder: RegistryFolder, signal: AbortSignal, progress: BuildProgress): Promise<Synced> {
    const before = new Map<string, RegistryEntry>();
    for await (const entry of registryEntries(this.readModels)) before.set(entry.key, entry);
    const byPath = new Map([...before.values()].map((entry) => [entry.path, entry]));
    const candidates = await folder.candidates();
    progress.begin(candidates);
    const listing = new Listing(before, candidates, (command, key) => this.decide(command, key));

    // 1. Build what is new, and list each as soon as it is built. A file that cannot be built keeps the entry that it had.
    const refused: { path: string; reason: string }[] = [];
    const waiting = [...candidates];
    const work = async (): Promise<void> => {
      for (let path = waiting.shift(); path !== undefined && !signal.aborted; path = waiting.shift()) {
        const former = byPath.get(path);
        const built = await this.built(folder, path, former, progress);
        if ('reason' in built) refused.push(built);
        if (!signal.aborted) await listing.take(path, 'reason' in built ? former : built);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (signal.aborted) return { listed: 0, removed: 0, kept: 0, refused };

    // 2. Remove what is gone.
    return { ...(await listing.finish()), refused };
  }

  private async built(
    folder: RegistryFolder,
    path: string,
    former: RegistryEntry | undefined,
    progress: BuildProgress,
  ): Promise<RegistryEntry | { readonly path: string; readonly reason: string }> {
    progress.started(path);
    try {
      const entry = await this.entryOf(folder, path, former);
      progress.ended(path);
      return entry;
    } catch (error) {
      const reason = messageOf(error);
      progress.ended(path, reason);
      return { path, reason };
    }
  }

  private decide(command: RegistryCommand, key: string): Promise<unknown> {
    return this.handle(registryDecider, registryEntryId(key), command, contextOf());
  }

  private async entryOf(
    folder: RegistryFolder,
    path: string,
    former: RegistryEntry | undefined,
  ): Promise<RegistryEntry> {
    const { code, files, fileName } = await folder.read(path);
    if (former?.componentId === componentIdOf(REGISTRY_WORKSPACE, code, files, fileName)) return former;
    const given = { code, fileName, ...(files ? { files } : {}) };
    const { component } = await this.saver.execute(new SaveComponent(given, contextOf()));
    return entryFrom(component, path);
  }
}

type Decide = (command: RegistryCommand, key: string) => Promise<unknown>;

/** Lists entries while others are still built. Of several files with one key, the newest version wins, then the first path. */
class Listing {
  private readonly listed: Map<string, RegistryEntry>;
  private readonly winners = new Map<string, RegistryEntry>();
  /** Files that are neither built nor refused yet. */
  private readonly pending: Set<string>;
  private readonly turns = new SerialQueue();
  private taken = 0;

  constructor(
    private readonly before: ReadonlyMap<string, RegistryEntry>,
    candidates: readonly string[],
    private readonly decide: Decide,
  ) {
    this.listed = new Map(before);
    this.pending = new Set(candidates);
  }

  /** Adds the result of a file; undefined for none. Resolves once its key leads to the winner so far. */
  async take(path: string, entry: RegistryEntry | undefined): Promise<void> {
    this.pending.delete(path);
    if (!entry) return;
    this.taken += 1;
    const { key } = entry;
    const other = this.winners.get(key);
    if (!other || wins(entry, other)) this.winners.set(key, entry);
    await this.turns.run(async () => {
      const [winner, now] = [this.winners.get(key), this.listed.get(key)];
      // The file of the listed component may win again, so the key must not lead to an older version until then.
      const mayWin = winner && now && this.pending.has(now.path) && !wins(winner, now);
      if (winner && mayWin !== true) await this.list(winner);
    });
  }

  /** Call it when no file is pending. */
  async finish(): Promise<Pick<Synced, 'listed' | 'removed' | 'kept'>> {
    for (const winner of this.winners.values()) await this.list(winner);
    const gone = [...this.before.keys()].filter((key) => !this.winners.has(key));
    for (const key of gone) await this.decide({ type: 'RemoveRegistryEntry' }, key);
    const listed = [...this.winners.values()].filter((entry) => !isSame(entry, this.before.get(entry.key))).length;
    return { listed, removed: gone.length, kept: this.taken - listed };
  }

  private async list(entry: RegistryEntry): Promise<void> {
    if (isSame(entry, this.listed.get(entry.key))) return;
    await this.decide({ type: 'ListRegistryEntry', entry }, entry.key);
    this.listed.set(entry.key, entry);
  }
}

const wins = (one: RegistryEntry, other: RegistryEntry): boolean => {
  const order = compareVersions(one.version, other.version);
  return order === 0 ? one.path < other.path : order > 0;
};

const isSame = (one: RegistryEntry, other: RegistryEntry | undefined): boolean =>
  one.componentId === other?.componentId && one.path === other.path;

const entryFrom = (component: SavedComponent, path: string): RegistryEntry => {
  const { key, componentId, kind, name, description, version, configurableProps } = component;
  if (key === null) throw new Error('it declares no key, by which a component of the registry is found');
  const app = configurableProps.find(({ type }) => type === 'app')?.['app'];
  return { key, componentId, kind, name, description, version, app: typeof app === 'string' ? app : null, path };
};

const contextOf = (): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId: 'registry', apiKeyId: null },
    workspaceId: REGISTRY_WORKSPACE,
  };
};
