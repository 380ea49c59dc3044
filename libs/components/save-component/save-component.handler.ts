import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { BoundedTurns } from '#libs/async/bounded-turns.js';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import { type BlobStore, type StagedBlobs } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { RevisionConflict, type EventStore } from '#libs/kernel/event-store.js';
import { streamName, type Position } from '#libs/kernel/events.js';
import { load, type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { BLOBS, CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { checkCodeSize } from '../domain/code-size.js';
import { componentDecider, savedDataOf, type ComponentState, type SavedComponent } from '../domain/component.js';
import { componentIdOf } from '../domain/component-identity.js';
import { checkFileName, checkFilePaths } from '../domain/file-paths.js';
import { boundedMetadata } from '../domain/metadata-limits.js';
import { named } from '../domain/component-name.js';
import { rejectionOf } from '../domain/rejection.js';
import {
  CODE_LIMITS,
  COMPONENT_FETCHER,
  COMPONENT_INSPECTOR,
  INSPECTION_LIMITS,
  type CodeLimits,
  type ComponentFetcher,
  type ComponentInspector,
  type FetchedComponent,
  type InspectOptions,
  type InspectionLimits,
} from '../ports.js';
import { urlIn } from '#libs/kernel/url-text.js';
import { type ComponentSaved } from '../published.js';
import { checkCodeRoom } from './code-room.js';
import { fullQueue } from './full-queue.js';
import { Inspections } from './inspections.js';
import { PendingBlobs } from './pending-blobs.js';
import { changesOf, lockOf, partsOf, savedPackagesOf } from './saved-packages.js';
import { type ComponentLimits } from '../limits.js';

/** See docs/reference/component-model.md#fetch-turns. A fetch takes 30 s at most, so the queue of a workspace moves on. */
const FETCH_TURNS = { atOnce: 8, waiting: 50, waitingInAll: 200 };
const FETCH_CODES = { own: 'component.too_many_fetches', inAll: 'component.fetches_overloaded' } as const;

/** Name of code without a file name. */
const UNNAMED = 'component.js';

/** Code wins over the URL, which is then only a note. See docs/reference/rest-api.md#component-code-or-url. */
export interface ComponentCode {
  readonly code?: string;
  readonly url?: string;
  /** Path of the code among `files`. */
  readonly fileName?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Resolves the newest npm packages, and builds known code again. */
  readonly refreshPackages?: boolean;
  /** The code is that of a step of a workflow. */
  readonly isStep?: boolean;
}

export interface SaveComponentResult {
  readonly component: SavedComponent;
  readonly code: string;
  readonly position: Position | undefined;
  /** Number of the last event of the component. */
  readonly revision: number;
  /** What a refresh did to the packages. Absent without one. */
  readonly changes?: PackageChanges;
}

/** A component whose code was checked. Nothing of it is stored before `keep`. */
export interface PreparedComponent extends Pick<SaveComponentResult, 'changes'> {
  /** The component as `keep` will save it. */
  readonly component: SavedComponent;
  /** Lets processes run the code before `keep`. Does nothing for code that is saved already. */
  stage(): Promise<StagedBlobs>;
  keep(): Promise<SaveComponentResult>;
}

interface BuildRequest {
  readonly source: FetchedComponent;
  readonly url: string | null;
  readonly id: string;
  readonly savedAt: number;
  readonly as: InspectOptions['as'];
}

export class SaveComponent extends Command<SaveComponentResult> {
  constructor(
    readonly given: ComponentCode,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(SaveComponent)
export class SaveComponentHandler implements ICommandHandler<SaveComponent> {
  private readonly inspections: Inspections;
  /** By workspace, for the requests of this process. */
  private readonly stagedBytes = new Map<string, number>();
  private readonly fetches = new BoundedTurns(FETCH_TURNS, fullQueue('fetches of component_url', FETCH_CODES));

  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(COMPONENT_INSPECTOR) private readonly inspector: ComponentInspector,
    @Inject(COMPONENT_FETCHER) private readonly fetcher: ComponentFetcher,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(CODE_LIMITS) private readonly limits: CodeLimits,
    @Inject(INSPECTION_LIMITS) inspectionLimits: InspectionLimits,
    @Inject(RESOURCE_LIMITS) private readonly resources: ComponentLimits,
  ) {
    this.inspections = new Inspections(inspectionLimits);
  }

  async execute(command: SaveComponent): Promise<SaveComponentResult> {
    return (await this.prepare(command)).keep();
  }

  async prepare({ given, context }: SaveComponent): Promise<PreparedComponent> {
    // 1. Take the given code, or fetch it.
    const source = await this.sourceOf(given, context);
    checkCodeSize(source.code, source.files ?? {}, this.limits);
    const id = componentIdOf(context.workspaceId, source.code, source.files, given.fileName, given.isStep);
    const savedAt = this.clock.now();

    // 2. Known code is not evaluated again: its first bundle stays. See docs/reference/component-model.md#code-pinned.
    const known = await this.find(id);
    const as = given.isStep === true ? 'step' : 'component';
    const request = { source, url: given.url ?? null, id, savedAt, as } as const;
    if (!known || given.refreshPackages === true) return this.prepared(request, context, known?.component);
    const again = { ...savedDataOf(known.component), url: request.url, savedAt };
    const keep = () => this.append(again, source.code, context);
    const stage = () => Promise.resolve({ release: () => Promise.resolve() });
    return { component: known.component, stage, keep };
  }

  /** Builds saved code with the newest packages. Code without packages stays as it is. */
  async refresh(known: SavedComponent, context: CommandContext): Promise<PreparedComponent | undefined> {
    const code = await this.blobs.get(known.codeHash);
    if (code === undefined) throw new Error(`code ${known.codeHash} of ${known.componentId} is not in the blob store`);
    const parts = await partsOf(this.blobs, known);
    if (!parts) return undefined;
    const source = { code, finalUrl: known.url ?? '', ...parts };
    // A step's code may lack the type. Code that has it is described the same.
    const as = known.kind === 'action' ? 'step' : 'component';
    const request = { source, url: null, id: known.componentId, savedAt: this.clock.now(), as } as const;
    return this.prepared(request, context, known);
  }

  /** Builds new code, or saved code again with other packages. */
  private async prepared(
    request: BuildRequest,
    context: CommandContext,
    known?: SavedComponent,
  ): Promise<PreparedComponent> {
    const { data, pending } = await this.built(request, context);
    const changes = known && changesOf(await lockOf(this.blobs, known), await lockOf(pending, data));
    const told = changes === undefined ? {} : { changes };
    const keep = async (): Promise<SaveComponentResult> => {
      await pending.storeIn(this.blobs);
      return { ...(await this.append(data, request.source.code, context, known !== undefined)), ...told };
    };
    const stage = () => this.staged(pending, context.workspaceId, data.bytes);
    return { component: savedBy(data, known), stage, keep, ...told };
  }

  /** Counts towards the code of the workspace until it is released, because requests may run for minutes. */
  private async staged(pending: PendingBlobs, workspaceId: string, bytes: number): Promise<StagedBlobs> {
    const add = (more: number): void => {
      const total = (this.stagedBytes.get(workspaceId) ?? 0) + more;
      if (total === 0) this.stagedBytes.delete(workspaceId);
      else this.stagedBytes.set(workspaceId, total);
    };
    add(bytes);
    try {
      const blobs = await pending.stageIn(this.blobs);
      return { release: () => blobs.release().finally(() => add(-bytes)) };
    } catch (error) {
      add(-bytes);
      throw error;
    }
  }

  private async built(
    { source, url, id, savedAt, as }: BuildRequest,
    context: CommandContext,
  ): Promise<{ readonly data: ComponentSaved['data']; readonly pending: PendingBlobs }> {
    // 3. Bundle and evaluate, if there is room. The size of the bundle is known only afterwards.
    const { workspaceId, actor } = context;
    const codeBytes = Buffer.byteLength(source.code);
    await this.checkRoom(workspaceId, codeBytes);
    const inspection = { workspaceId, userId: actor.userId, componentId: id, bytes: sizeOf(source) };
    const { bundle, metadata, packages } = await this.inspections.of(inspection, () =>
      this.inspected(source, workspaceId, as),
    );
    if (metadata.kind === 'app') {
      const text = `an app is not deployable: ${metadata.name} exports an app; save a component that uses it instead`;
      throw new DomainError('component.not_deployable', text, { name: metadata.name });
    }

    const bytes = codeBytes + Buffer.byteLength(bundle);
    await this.checkRoom(workspaceId, bytes);

    // 4. Code and bundle are stored before the event that refers to them.
    const pending = new PendingBlobs();
    const [codeHash, bundleHash] = [await pending.put(source.code), await pending.put(bundle)];
    const {
      name,
      key,
      description,
      annotations,
      configurableProps,
      hooks,
      dedupe,
      hasRun,
      hasAdditionalProps,
      warnings,
    } = metadata;
    const version = metadata.version.replaceAll('{{ts}}', String(savedAt));
    const noted = [...warnings, ...(packages?.warnings ?? [])];
    const kept = packages && (await savedPackagesOf(pending, packages, source));
    const data = {
      componentId: id,
      userId: context.actor.userId,
      kind: metadata.kind,
      key,
      name,
      version,
      description,
      annotations,
      codeHash,
      bundleHash,
      ...(kept ? { packages: kept } : {}),
      bytes,
      url,
      configurableProps,
      hooks,
      dedupe,
      hasRun,
      ...(hasAdditionalProps ? { hasAdditionalProps: true as const } : {}),
      ...(noted.length === 0 ? {} : { warnings: noted }),
      savedAt,
    };
    return { data, pending };
  }

  private checkRoom(workspaceId: string, bytes: number): Promise<void> {
    const more = (this.stagedBytes.get(workspaceId) ?? 0) + bytes;
    return checkCodeRoom(this.readModels, workspaceId, more, this.resources.codeBytesPerWorkspace);
  }

  private async sourceOf(
    { code, url, fileName, files }: ComponentCode,
    { workspaceId, actor }: CommandContext,
  ): Promise<FetchedComponent> {
    if (files !== undefined) checkFilePaths(files);
    if (code !== undefined) {
      if (fileName !== undefined) checkFileName(fileName, files);
      return { code, fileName: fileName ?? fileNameOf(url), finalUrl: url ?? '', ...(files ? { files } : {}) };
    }
    // Its code is counted while it waits for the build; one fetch holds no more than its limits.
    if (url !== undefined)
      return this.fetches.run({ workspaceId, userId: actor.userId }, 0, () => this.fetcher.fetch(url));
    throw new DomainError(
      'component.reference_missing',
      'neither component_code nor component_url is given: one of them is required',
      { field: 'component_code' },
    );
  }

  /** Throws component.invalid with `name` and `message` in its details. */
  private async inspected(
    source: FetchedComponent,
    workspaceId: string,
    as: InspectOptions['as'],
  ): ReturnType<ComponentInspector['inspect']> {
    try {
      const { metadata, ...built } = await this.inspect(source, workspaceId, as);
      const fileName = source.fileName === UNNAMED ? undefined : source.fileName;
      return { ...built, metadata: boundedMetadata(named(metadata, fileName)) };
    } catch (error) {
      throw rejectionOf(error);
    }
  }

  private async inspect(
    component: FetchedComponent,
    workspaceId: string,
    kind: InspectOptions['as'],
  ): ReturnType<ComponentInspector['inspect']> {
    const { code, fileName, files, missing = [] } = component;
    const as = (name: string) =>
      this.inspector.inspect(code, { fileName: name, workspaceId, as: kind, ...(files ? { files } : {}) });
    try {
      return await as(fileName);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'component.invalid') throw error;
      const typed =
        fileName === UNNAMED && error.details?.['name'] === 'SyntaxError' ? await this.asTyped(as) : undefined;
      if (typed) return typed;
      if (missing.length === 0) throw error;
      throw new DomainError(error.code, `${error.message}. Not found: ${missing.join('; ')}`, error.details);
    }
  }

  /** Tries code without a file name as TypeScript when it is not JavaScript. Undefined when it is neither. */
  private async asTyped(
    as: (fileName: string) => ReturnType<ComponentInspector['inspect']>,
  ): Promise<Awaited<ReturnType<ComponentInspector['inspect']>> | undefined> {
    try {
      return await as(UNNAMED.replace(/js$/, 'ts'));
    } catch (error) {
      if (error instanceof DomainError && error.details?.['name'] === 'SyntaxError') return undefined;
      throw error;
    }
  }

  private async append(
    data: ComponentSaved['data'],
    code: string,
    context: CommandContext,
    refreshed = false,
  ): Promise<SaveComponentResult> {
    try {
      const command = { type: 'SaveComponentCode', data, refreshed } as const;
      const { state, position, revision } = await this.handle(componentDecider, data.componentId, command, context);
      if (state.status === 'none') throw new Error(`component ${data.componentId} was not saved`);
      // No event was written because another request just saved the same. The caller must see that request's event.
      const seen = position ?? (await this.store.lastPosition());
      return { component: state.component, code, position: seen, revision: Number(revision) };
    } catch (error) {
      // Other requests keep refreshing the same component, so it is saved in any case.
      const known = error instanceof RevisionConflict && !refreshed ? await this.find(data.componentId) : undefined;
      if (!known) throw error;
      return { ...known, code, position: await this.store.lastPosition() };
    }
  }

  private async find(id: string): Promise<{ component: SavedComponent; revision: number } | undefined> {
    const stream = streamName(componentDecider.category, id);
    const { state, revision } = await load(this.store, this.upcasters, componentDecider, stream);
    return state.status === 'saved' ? { component: state.component, revision: Number(revision) } : undefined;
  }
}

const sizeOf = ({ code, files = {} }: FetchedComponent): number =>
  Object.values(files).reduce((sum, text) => sum + text.length, code.length);

/** The component after its code is saved, or saved again with other packages. */
const savedBy = (data: ComponentSaved['data'], known: SavedComponent | undefined): SavedComponent => {
  const before: ComponentState = known ? { status: 'saved', component: known } : componentDecider.initialState();
  const command = { type: 'SaveComponentCode', data, refreshed: known !== undefined } as const;
  const events = componentDecider.decide(command, before);
  const state = events.reduce((current, event) => componentDecider.evolve(current, event), before);
  if (state.status === 'none') throw new Error(`component ${data.componentId} would not be saved`);
  return state.component;
};

/** Takes the file name from the URL, because its ending decides how the code is read. */
const fileNameOf = (url: string | undefined): string => {
  const name = url === undefined ? undefined : urlIn(url)?.pathname.split('/').at(-1);
  return name !== undefined && /^[\w.-]+\.[cm]?[jt]s$/.test(name) ? name : UNNAMED;
};
