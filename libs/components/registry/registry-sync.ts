import { Inject, Injectable } from '@nestjs/common';
import { messageOf } from '#libs/kernel/error-message.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { componentIdOf } from '../domain/component-identity.js';
import { type SavedComponent } from '../domain/component.js';
import { compareVersions } from '../domain/version-order.js';
import { SaveComponent, SaveComponentHandler } from '../save-component/save-component.handler.js';
import { registryDecider, registryEntryId, REGISTRY_WORKSPACE, type RegistryEntry } from './registry-entry.js';
import { registryEntries } from './registry.projection.js';
import { type RegistryFolder } from './registry-folder.js';

export interface Synced {
  readonly listed: number;
  readonly removed: number;
  /** Files that are unchanged, or lost to another file with their key. */
  readonly kept: number;
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Builds at once. The registry is a workspace like any other, so users' builds take turns with it. */
const AT_ONCE = 2;

/** Makes the registry equal to its folder. One process at a time does it, and a repeat changes nothing. */
@Injectable()
export class RegistrySync {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    private readonly saver: SaveComponentHandler,
  ) {}

  async sync(folder: RegistryFolder, signal: AbortSignal): Promise<Synced> {
    const before = new Map<string, RegistryEntry>();
    for await (const entry of registryEntries(this.readModels)) before.set(entry.key, entry);
    const byPath = new Map([...before.values()].map((entry) => [entry.path, entry]));

    // 1. Build what is new. A file that cannot be built keeps the entry that it had.
    const refused: { path: string; reason: string }[] = [];
    const entries: RegistryEntry[] = [];
    const waiting = [...(await folder.candidates())];
    const work = async (): Promise<void> => {
      for (let path = waiting.shift(); path !== undefined && !signal.aborted; path = waiting.shift()) {
        try {
          entries.push(await this.entryOf(folder, path, byPath.get(path)));
        } catch (error) {
          refused.push({ path, reason: messageOf(error) });
          const former = byPath.get(path);
          if (former) entries.push(former);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (signal.aborted) return { listed: 0, removed: 0, kept: 0, refused };

    // 2. Of several files with one key, the newest version wins.
    const winners = new Map<string, RegistryEntry>();
    for (const entry of entries.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const other = winners.get(entry.key);
      if (!other || compareVersions(entry.version, other.version) > 0) winners.set(entry.key, entry);
    }

    // 3. List what changed, and remove what is gone.
    let listed = 0;
    for (const entry of winners.values()) {
      const former = before.get(entry.key);
      if (former?.componentId === entry.componentId && former.path === entry.path) continue;
      await this.decide({ type: 'ListRegistryEntry', entry }, entry.key);
      listed += 1;
    }
    const gone = [...before.keys()].filter((key) => !winners.has(key));
    for (const key of gone) await this.decide({ type: 'RemoveRegistryEntry' }, key);
    return { listed, removed: gone.length, kept: entries.length - listed, refused };
  }

  private decide(command: Parameters<typeof registryDecider.decide>[0], key: string): Promise<unknown> {
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
