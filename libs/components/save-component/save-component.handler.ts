import { Inject, Injectable, Optional } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { RevisionConflict, type EventStore } from '#libs/kernel/event-store.js';
import { streamName, type Position } from '#libs/kernel/events.js';
import { load, type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { BLOBS, CLOCK, EVENT_STORE, HANDLE_COMMAND, UPCASTERS } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { checkCodeSize } from '../domain/code-size.js';
import { componentDecider, type SavedComponent } from '../domain/component.js';
import { componentIdOf } from '../domain/component-identity.js';
import {
  CODE_LIMITS,
  COMPONENT_FETCHER,
  COMPONENT_INSPECTOR,
  DEFAULT_CODE_LIMITS,
  type CodeLimits,
  type ComponentFetcher,
  type ComponentInspector,
  type FetchedComponent,
} from '../ports.js';
import { type ComponentSaved } from '../published.js';
import { Inspections } from './inspections.js';

const INSPECTIONS_AT_ONCE = 4;
/** Name of code that came without one. */
const UNNAMED = 'component.js';

/** Code wins over the URL, which is then only kept as a note of where the code lives (rest-api.md, "Components"). */
export interface ComponentCode {
  readonly code?: string;
  readonly url?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export interface SaveComponentResult {
  readonly component: SavedComponent;
  readonly code: string;
  readonly position: Position | undefined;
}

export class SaveComponent extends Command<SaveComponentResult> {
  constructor(
    readonly given: ComponentCode,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@Injectable()
@CommandHandler(SaveComponent)
export class SaveComponentHandler implements ICommandHandler<SaveComponent> {
  private readonly inspections = new Inspections(INSPECTIONS_AT_ONCE);

  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(BLOBS) private readonly blobs: BlobStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(COMPONENT_INSPECTOR) private readonly inspector: ComponentInspector,
    @Inject(COMPONENT_FETCHER) private readonly fetcher: ComponentFetcher,
    @Optional() @Inject(CODE_LIMITS) private readonly limits: CodeLimits = DEFAULT_CODE_LIMITS,
  ) {}

  async execute({ given, context }: SaveComponent): Promise<SaveComponentResult> {
    // 1. The code, given or fetched.
    const source = await this.sourceOf(given);
    checkCodeSize(source.code, source.files ?? {}, this.limits);
    const id = componentIdOf(context.workspaceId, source.code, source.files);
    const savedAt = this.clock.now();

    // 2. Code that is known is not evaluated again: what it was bundled with stays (decisions.md 2.15).
    const known = await this.find(id);
    if (known) return this.append({ ...savedDataOf(known), url: given.url ?? null, savedAt }, source.code, context);

    // 3. Bundle and evaluate.
    const { bundle, metadata } = await this.inspections.of(id, () => this.inspect(source));
    if (metadata.kind === 'app') {
      const text = `an app is not deployable: ${metadata.name} exports an app; save a component that uses it instead`;
      throw new DomainError('component.not_deployable', text, { name: metadata.name });
    }

    // 4. Code and bundle are durable before the event that refers to them.
    const [codeHash, bundleHash] = await Promise.all([this.blobs.put(source.code), this.blobs.put(bundle)]);
    const { name, key, description, annotations, configurableProps, hooks, dedupe, hasRun } = metadata;
    const version = metadata.version.replaceAll('{{ts}}', String(savedAt));
    return this.append(
      {
        componentId: id,
        userId: context.actor.userId,
        kind: metadata.kind,
        ...{ key, name, version, description, annotations, codeHash, bundleHash },
        url: given.url ?? null,
        ...{ configurableProps, hooks, dedupe, hasRun, savedAt },
      },
      source.code,
      context,
    );
  }

  private async sourceOf({ code, url, files }: ComponentCode): Promise<FetchedComponent> {
    if (code !== undefined) {
      return { code, fileName: fileNameOf(url), finalUrl: url ?? '', ...(files ? { files } : {}) };
    }
    if (url !== undefined) return this.fetcher.fetch(url);
    throw new DomainError(
      'component.reference_missing',
      'neither component_code nor component_url is given: one of them is required',
      { field: 'component_code' },
    );
  }

  private async inspect(component: FetchedComponent): ReturnType<ComponentInspector['inspect']> {
    const { code, fileName, files, missing = [] } = component;
    const as = (name: string) => this.inspector.inspect(code, { fileName: name, ...(files ? { files } : {}) });
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

  /** Code without a file name that is no JavaScript may be TypeScript. Undefined: it is neither. */
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
  ): Promise<SaveComponentResult> {
    try {
      const command = { type: 'SaveComponentCode', data } as const;
      const { state, position } = await this.handle(componentDecider, data.componentId, command, context);
      if (state.status === 'none') throw new Error(`component ${data.componentId} was not saved`);
      // Nothing new to say: somebody else said it a moment ago, and the caller is to see that.
      return { component: state.component, code, position: position ?? (await this.store.lastPosition()) };
    } catch (error) {
      // Others refreshed the same component just now, again and again: it is saved all the same.
      const known = error instanceof RevisionConflict ? await this.find(data.componentId) : undefined;
      if (!known) throw error;
      return { component: known, code, position: await this.store.lastPosition() };
    }
  }

  private async find(id: string): Promise<SavedComponent | undefined> {
    const stream = streamName(componentDecider.category, id);
    const { state } = await load(this.store, this.upcasters, componentDecider, stream);
    return state.status === 'saved' ? state.component : undefined;
  }
}

const savedDataOf = ({ createdAt, updatedAt: _, ...data }: SavedComponent): ComponentSaved['data'] => ({
  ...data,
  savedAt: createdAt,
});

/** The ending says how the code is to be read. */
const fileNameOf = (url: string | undefined): string => {
  const name = url !== undefined && URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined;
  return name !== undefined && /^[\w.-]+\.[cm]?[jt]s$/.test(name) ? name : UNNAMED;
};
