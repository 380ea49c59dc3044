import { Inject, Injectable } from '@nestjs/common';
import { type EventStore } from '#libs/kernel/event-store.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { streamName } from '#libs/kernel/events.js';
import { isIdOf, newCommandId } from '#libs/kernel/ids.js';
import { load, type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EVENT_STORE, HANDLE_COMMAND, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { componentDecider, savedDataOf, type SavedComponent } from './domain/component.js';
import { componentByKey } from './get-component/find-component.js';
import { componentNotFound } from './get-component/get-component.query.js';
import {
  type ComponentCatalog,
  type ComponentReference,
  type DeployableComponent,
  type ResolvedComponent,
} from './published.js';
import { REGISTRY_WORKSPACE } from './registry/registry-entry.js';
import {
  SaveComponent,
  SaveComponentHandler,
  type PreparedComponent,
} from './save-component/save-component.handler.js';
import { NO_CHANGES } from './save-component/saved-packages.js';

/** Reads ids from the event log, so that a component can be deployed as soon as it is saved. */
@Injectable()
export class StoredComponentCatalog implements ComponentCatalog {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    private readonly saver: SaveComponentHandler,
  ) {}

  async resolve(reference: ComponentReference, context: CommandContext): Promise<ResolvedComponent> {
    const { componentId, componentCode, componentUrl, files, fileName, key, refreshPackages = false } = reference;
    const { version, ownOnly = false, isStep = false } = reference;
    if (componentId !== undefined)
      return this.refreshed(await this.byId(componentId, context.workspaceId), refreshPackages, context);
    if (componentCode !== undefined || componentUrl !== undefined) {
      const given = {
        ...(componentCode === undefined ? {} : { code: componentCode }),
        ...(componentUrl === undefined ? {} : { url: componentUrl }),
        ...(files === undefined ? {} : { files }),
        ...(fileName === undefined ? {} : { fileName }),
        refreshPackages,
        isStep,
      };
      return this.staged(await this.saver.prepare(new SaveComponent(given, context)));
    }
    if (key !== undefined) {
      const doc = key.startsWith('sc_')
        ? undefined
        : await componentByKey(this.readModels, key, context.workspaceId, { version, ownOnly });
      if (!doc) throw componentNotFound(key);
      return this.refreshed(doc.component, refreshPackages, context);
    }
    throw new DomainError(
      'component.reference_missing',
      'one of component_id, component_code, component_url and key is required',
      { field: 'component_id' },
    );
  }

  private async refreshed(
    component: SavedComponent,
    refreshPackages: boolean,
    context: CommandContext,
  ): Promise<ResolvedComponent> {
    const done = (): Promise<void> => Promise.resolve();
    const keep = (): Promise<void> => this.kept(component, context);
    const unchanged = { ...deployable(component), ...facts(component), keep, release: done };
    if (!refreshPackages) return unchanged;
    await this.checkOwn(component.componentId, context.workspaceId);
    const refreshed = await this.saver.refresh(component, context);
    return refreshed ? this.staged(refreshed) : { ...unchanged, packageChanges: NO_CHANGES };
  }

  /** Saves a component again that was deleted since it was found, because its user is written by now. */
  private async kept(component: SavedComponent, context: CommandContext): Promise<void> {
    const { componentId } = component;
    const stream = streamName(componentDecider.category, componentId);
    if ((await load(this.store, this.upcasters, componentDecider, stream)).state.status === 'saved') return;
    const command = { type: 'SaveComponentCode', data: savedDataOf(component) } as const;
    const again = { ...context, commandId: newCommandId(), causationId: context.commandId };
    await this.handle(componentDecider, componentId, command, again);
  }

  private async staged(prepared: PreparedComponent): Promise<ResolvedComponent> {
    const { component, changes } = prepared;
    const staged = await prepared.stage();
    return {
      ...deployable(component),
      ...facts(component),
      ...(changes === undefined ? {} : { packageChanges: changes }),
      keep: async () => void (await prepared.keep()),
      release: () => staged.release(),
    };
  }

  /** Every workspace may use a component of the registry, so none of them may change its packages. */
  private async checkOwn(id: string, workspaceId: string): Promise<void> {
    for await (const first of this.store.read(streamName(componentDecider.category, id), { limit: 1 })) {
      if (first.metadata.workspaceId === workspaceId) return;
    }
    throw new DomainError(
      'component.package_unavailable',
      `component ${id} is from the registry of the server, so its npm packages cannot be refreshed here: save its code with POST /components, and use that component`,
      { id },
    );
  }

  private async byId(id: string, workspaceId: string): Promise<SavedComponent> {
    if (!isIdOf('sc', id)) throw componentNotFound(id);
    const stream = streamName(componentDecider.category, id);
    for await (const first of this.store.read(stream, { limit: 1 })) {
      if (![workspaceId, REGISTRY_WORKSPACE].includes(first.metadata.workspaceId)) break;
      const { state } = await load(this.store, this.upcasters, componentDecider, stream);
      if (state.status === 'saved') return state.component;
    }
    throw componentNotFound(id);
  }
}

export const deployable = (component: SavedComponent): DeployableComponent => ({
  id: component.componentId,
  key: component.key,
  name: component.name,
  kind: component.kind,
  bundleHash: component.bundleHash,
  configurableProps: component.configurableProps,
  hooks: component.hooks,
  dedupe: component.dedupe,
  ...(component.hasAdditionalProps === true ? { hasAdditionalProps: true as const } : {}),
  ...besideOf(component),
  ...(component.warnings ? { warnings: component.warnings } : {}),
});

const facts = ({
  version,
  description,
  codeHash,
}: SavedComponent): Pick<ResolvedComponent, 'version' | 'description' | 'codeHash'> => ({
  version,
  description,
  codeHash,
});

const besideOf = ({ packages }: SavedComponent): Pick<DeployableComponent, 'packages'> =>
  packages?.beside === undefined
    ? {}
    : { packages: { lockHash: packages.lockHash, hasMachineCode: packages.beside.hasMachineCode } };
