import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type HookName } from '#libs/component-model/hooks.js';
import { type UserError } from '#libs/component-model/run-output.js';
import { type HookOutcome, type HookRunner, type Observation, type SourceDefinition } from './published.js';

/** Runs the hooks of one operation in turn, and keeps their observations for the caller and the event log. */
export class HookSession {
  readonly observations: Observation[] = [];

  constructor(
    private readonly runner: HookRunner,
    private readonly clock: Clock,
    private readonly sourceId: string,
    private readonly workspaceId: string,
  ) {}

  /** Runs a hook. Starts no process when the component lacks the hook. Throws source.hook_failed. */
  async run(definition: SourceDefinition, hook: HookName): Promise<void> {
    if (!definition.hooks.includes(hook)) return;
    this.add({ k: 'hook', ts: this.clock.now(), h: hook });
    const { sourceId, workspaceId } = this;
    const outcome = await this.runner.runHook({ sourceId, workspaceId, definition, hook });
    for (const { k, ts, msg } of outcome.logs) this.add({ k, ts, msg });
    if (outcome.status === 'ok') return;
    const error = errorOf(outcome, hook);
    this.add({ k: 'error', ts: this.clock.now(), err: error });
    const text = `hook ${hook} failed: ${error.name}: ${error.message}`;
    throw new DomainError('source.hook_failed', hook === 'deactivate' ? `${text} (${REMEDY})` : text, {
      hook,
      source_id: sourceId,
      observations: [...this.observations],
    });
  }

  /** Runs a hook like `run`, but returns the failure of the hook. Throws a failure of the platform. */
  async attempt(definition: SourceDefinition, hook: HookName): Promise<DomainError | undefined> {
    try {
      await this.run(definition, hook);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'source.hook_failed') return error;
      throw error;
    }
  }

  /** Adds within a bound, because observations go into an event. The error, which comes last, is always kept. */
  private add(observation: Observation): void {
    const fits = this.observations.length < MAX_OBSERVATIONS || observation.err !== undefined;
    if (fits) this.observations.push(shortened(observation));
  }
}

const REMEDY = 'send ignore_hook_errors: true to go on all the same';

const MAX_OBSERVATIONS = 100;
const MAX_TEXT = 4_000;

const cut = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;

const shortened = ({ k, ts, h, msg, err }: Observation): Observation => ({
  k,
  ts,
  ...(h === undefined ? {} : { h }),
  ...(msg === undefined ? {} : { msg: cut(msg) }),
  ...(err === undefined ? {} : { err: shortenedError(err) }),
});

type ObservedError = NonNullable<Observation['err']>;

const shortenedError = ({ name, message, stack, cause, errors }: ObservedError): ObservedError => ({
  name: cut(name),
  message: cut(message),
  stack: cut(stack),
  ...(cause === undefined ? {} : { cause: shortenedPart(cause) }),
  ...(errors === undefined ? {} : { errors: errors.map(shortenedPart) }),
});

const shortenedPart = (part: UserError): UserError => ({ ...shortenedError(part), code: part.code });

const errorOf = ({ status, error }: HookOutcome, hook: HookName): ObservedError => {
  if (error) return error;
  const message = status === 'killed' ? `the process of hook ${hook} ended` : `hook ${hook} failed without an error`;
  return { name: 'Error', message, stack: '' };
};
