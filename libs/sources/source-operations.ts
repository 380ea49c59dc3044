import { Inject, Injectable, Logger } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type PackageChanges } from '#libs/component-model/package-lock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName, type Position } from '#libs/kernel/events.js';
import { load, type CommandContext, type CommandResult, type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { CLOCK, EVENT_STORE, HANDLE_COMMAND, READ_YOUR_WRITES, UPCASTERS, VAULT } from '#libs/kernel/tokens.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ConfiguredProps, type PropPlan } from './domain/props.js';
import { SECRET_MASK } from './domain/secret-mask.js';
import {
  deployedSource,
  secretRefsOf,
  sourceDecider,
  sourceNotFound,
  type SourceCommand,
  type SourceRecord,
  type SourceState,
} from './domain/source.js';
import { HookSession } from './hook-session.js';
import { NameSlugs } from './name-slugs.js';
import { type Accounts, ACCOUNTS, HOOK_RUNNER, SOURCE_TOPICS } from './ports.js';
import { type HookRunner, propsOf, type SourceDefinition, type SourceTopics } from './published.js';
import { stepOf } from './step-of.js';

/**
 * Longest wait before a hook until this process serves the endpoints, which the hook may register with other services.
 */
const APPLIED_TIMEOUT_MS = 10_000;

export interface SourceResult {
  readonly source: SourceRecord;
  /** Number of the last event of the operation. */
  readonly revision: number;
  readonly workspaceId: string;
  /** Undefined when nothing changed. */
  readonly position: Position | undefined;
  /** Warnings about the component and the request. */
  readonly warnings?: readonly Warning[];
  /** Changes of the component's packages by a refresh. Absent without one. */
  readonly packageChanges?: PackageChanges;
}

/** Common steps of the operations that run hooks. Each method is one step. */
@Injectable()
export class SourceOperations {
  private readonly logger = new Logger('sources');
  private readonly running = new Set<string>();

  constructor(
    @Inject(HANDLE_COMMAND) private readonly handle: HandleCommand,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(READ_YOUR_WRITES) private readonly readModels: ReadYourWrites,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(HOOK_RUNNER) private readonly runner: HookRunner,
    @Inject(SOURCE_TOPICS) private readonly topics: SourceTopics,
    readonly slugs: NameSlugs,
    @Inject(ACCOUNTS) readonly accounts: Accounts,
  ) {}

  /**
   * Runs one operation of a source at a time in this process. The source's stream ensures it across processes. Throws
   * source.busy.
   */
  async exclusively<T>(sourceId: string, act: () => Promise<T>): Promise<T> {
    if (this.running.has(sourceId)) {
      throw new DomainError('source.busy', `source ${sourceId} is being changed by another request: try again later`, {
        id: sourceId,
      });
    }
    this.running.add(sourceId);
    try {
      return await act();
    } finally {
      this.running.delete(sourceId);
    }
  }

  /** Loads the source from the log. Throws source.not_found, also when it belongs to another workspace. */
  async stateOf(sourceId: string, workspaceId: string): Promise<SourceState> {
    const stream = streamName(sourceDecider.category, sourceId);
    for await (const first of this.store.read(stream, { limit: 1 })) {
      if (first.metadata.workspaceId !== workspaceId) break;
      return (await load(this.store, this.upcasters, sourceDecider, stream)).state;
    }
    throw sourceNotFound(sourceId);
  }

  decide(sourceId: string, command: SourceCommand, context: CommandContext): Promise<CommandResult<SourceState>> {
    return this.handle(sourceDecider, sourceId, command, stepOf(context));
  }

  /** The source as an operation left it. */
  resultOf(
    sourceId: string,
    { state, revision, position }: CommandResult<SourceState>,
    { workspaceId }: CommandContext,
  ): SourceResult {
    const source = deployedSource(state);
    if (!source) throw new Error(`source ${sourceId} is ${state.status} after its operation`);
    return { source, revision: Number(revision), workspaceId, position };
  }

  hookSession(sourceId: string, workspaceId: string): HookSession {
    return new HookSession(this.runner, this.clock, sourceId, workspaceId);
  }

  async storeSecrets(secrets: PropPlan['secrets'], workspaceId: string): Promise<void> {
    // Writes one at a time, so that no write is in flight when a failure deletes the others.
    for (const { ref, text } of secrets) await this.vault.put(ref, workspaceId, text);
  }

  /** Replaces a secret that equals the stored one by the mask, so sending a configuration twice changes nothing. */
  async maskKnownSecrets(given: ConfiguredProps, source: SourceRecord, workspaceId: string): Promise<ConfiguredProps> {
    const masked = new Map(Object.entries(given));
    for (const { prop, secretRef } of propsOf(source.definition, 'secret')) {
      const text = masked.get(prop);
      if (typeof text !== 'string') continue;
      if ((await this.vault.get(secretRef, workspaceId)) === text) masked.set(prop, SECRET_MASK);
    }
    return Object.fromEntries(masked);
  }

  createTopics(sourceId: string): Promise<void> {
    return this.topics.create(sourceId);
  }

  /** Waits until the endpoints are served, because a hook may register them with services that call back at once. */
  async untilServed(definition: SourceDefinition, position: Position | undefined): Promise<void> {
    if (definition.hooks.length === 0 || position === undefined) return;
    if (await this.readModels.waitFor(position, APPLIED_TIMEOUT_MS)) return;
    throw new DomainError(
      'platform.unavailable',
      `the endpoints of the source were not served after ${APPLIED_TIMEOUT_MS} ms: try again`,
      { position, waited_ms: APPLIED_TIMEOUT_MS },
    );
  }

  /** Waits until readers have applied the position. Resolves with false after `timeoutMs`. */
  applied(position: Position, timeoutMs: number): Promise<boolean> {
    return this.readModels.waitFor(position, timeoutMs);
  }

  operationEnded(sourceId: string): Promise<void> {
    return this.runner.operationEnded(sourceId);
  }

  async deleteSecrets(refs: Iterable<string>): Promise<void> {
    for (const ref of refs) await this.vault.delete(ref);
  }

  /**
   * Removes the data outside the log of a source that is gone. The slug comes last, because `reconcileSources` looks
   * for leftovers of every held slug.
   */
  async forget(
    source: { readonly sourceId: string; readonly nameSlug: string; readonly secretRefs: readonly string[] },
    context: CommandContext,
  ): Promise<void> {
    await this.topics.remove(source.sourceId);
    await this.deleteSecrets(source.secretRefs);
    await this.slugs.release(source.nameSlug, source.sourceId, context);
  }

  /** Runs a step that must not change the outcome of an operation. Logs a failure; the next start repeats the step. */
  async bestEffort(sourceId: string, step: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.logger.warn({ msg: `${step} failed`, sourceId, err: error });
      return false;
    }
  }
}

/** Every vault record that a definition uses or that an earlier operation may have left. */
export const allSecretsOf = (source: {
  readonly definition: SourceDefinition;
  readonly unusedSecrets: readonly string[];
}): readonly string[] => [...secretRefsOf(source.definition), ...source.unusedSecrets];
