import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { request } from 'undici';
import {
  endpointOf,
  UnexpectedReply,
  type ApiClient,
  type Paged,
  type Source,
  type Target,
} from '#test/harness/api-client.js';
import { DEPLOYED } from './kill9-components.js';
import { BAD_GATEWAY, type Gate } from './kill9-load.js';

/** Statuses after which it is unknown whether the command succeeded. */
const UNANSWERED: readonly number[] = [503, BAD_GATEWAY];

export interface DeployerOptions {
  /** Pause between two deployments. Default: none. */
  readonly pauseMs?: number;
  /** Sources above which the oldest is deleted. Default: no limit. */
  readonly keep?: number;
}

/**
 * Deploys sources, stops and starts every second and deletes every third, continuously, so that kills hit commands and
 * hooks in the middle.
 */
export class KillDeployer {
  private readonly deployed = new Map<string, Source>();
  private readonly deleted = new Set<string>();
  /** Sources that may be inactive, because a command that concerned them was not answered. */
  private readonly unsure = new Set<string>();
  private readonly unexpected: string[] = [];
  private stopping = false;
  private working: Promise<void> | undefined;
  /** The command that has no answer yet. */
  private asked: Promise<unknown> | undefined;
  private failure: Error | undefined;

  constructor(
    private readonly server: Target,
    private readonly api: ApiClient,
    private readonly gate: Gate,
    private readonly options: DeployerOptions = {},
  ) {}

  get count(): number {
    return this.deployed.size;
  }

  start(): void {
    this.working = this.work().catch((error: unknown) => {
      this.failure = error instanceof Error ? error : new Error(String(error));
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.working;
    if (this.failure) throw this.failure;
  }

  /** Call with the gate shut: resolves when no command is without an answer. */
  async atRest(): Promise<void> {
    while (this.asked) await this.asked;
  }

  /** Answered commands hold, listed sources work, and nothing is half-created. */
  async problems(): Promise<string[]> {
    const listed = await this.listed();
    const names = new Set(listed.map(({ id }) => id));
    const gone = [...this.deployed.keys()].filter((id) => !this.deleted.has(id) && !names.has(id));
    const back = [...this.deleted].filter((id) => names.has(id));
    const broken: string[] = [];
    const deployed = listed.filter(({ id, name }) => name.startsWith('kill-deployed') && !this.unsure.has(id));
    for (const source of deployed) {
      const text = await this.answerOf(source);
      if (text !== '200 {"whole":true}') broken.push(`${source.id} answers ${text}`);
    }
    return [
      ...gone.map((id) => `source ${id} was created with 200 and is not listed`),
      ...back.map((id) => `source ${id} was deleted with 204 and is listed`),
      ...broken,
      ...this.unexpected,
    ];
  }

  private async work(): Promise<void> {
    for (let n = 1; !this.stopping; n++) {
      await pause(this.options.pauseMs ?? 0);
      await this.gate.pass();
      const source = await this.tried(() => this.api.createSource({ component_code: DEPLOYED }));
      if (!source) continue;
      this.deployed.set(source.id, source);
      if (n % 2 === 0) await this.restart(source.id);
      if (n % 3 === 0) await this.remove(source.id);
      const kept = [...this.deployed.keys()].filter((id) => !this.deleted.has(id));
      if (kept[0] !== undefined && kept.length > (this.options.keep ?? Infinity)) await this.remove(kept[0]);
    }
  }

  /** Runs the hooks `deactivate` and `activate`. */
  private async restart(id: string): Promise<void> {
    for (const active of [false, true]) {
      await this.gate.pass();
      const done = await this.tried(() => this.api.expect(200, 'PUT', `/v1/sources/${id}`, { body: { active } }));
      if (done === undefined) this.unsure.add(id);
    }
  }

  private async remove(id: string): Promise<void> {
    await this.gate.pass();
    // An unanswered delete may or may not have happened, so the source is forgotten.
    const done = await this.tried(() => this.api.deleteSource(id).then(() => true), this.unsure.has(id));
    if (done) this.deleted.add(id);
    else {
      this.deployed.delete(id);
      this.unsure.add(id);
    }
  }

  /**
   * Returns undefined when the server died in the meantime or is shutting down. Any other answer is a problem, but for
   * `mayBeBusy`: a change whose process died is ended by another one minutes later
   * (docs/reference/component-model.md#deploy-interrupted).
   */
  private async tried<T>(work: () => Promise<T>, mayBeBusy = false): Promise<T | undefined> {
    const answer = work();
    this.asked = answer.catch(() => undefined);
    try {
      return await answer;
    } catch (error) {
      const isBusy = mayBeBusy && error instanceof UnexpectedReply && error.reply.text.includes('"source_busy"');
      if (error instanceof UnexpectedReply && !isBusy && !UNANSWERED.includes(error.reply.status)) {
        this.unexpected.push(error.message);
        return undefined;
      }
      if (types.isNativeError(error)) return undefined;
      throw error;
    } finally {
      this.asked = undefined;
    }
  }

  private async listed(): Promise<readonly Source[]> {
    const all: Source[] = [];
    for (let after: string | null = ''; after !== null;) {
      const query: Record<string, string> = { limit: '100', ...(after === '' ? {} : { after }) };
      const page: Paged<Source> = await this.api.expect(200, 'GET', '/v1/users/me/sources', { query });
      all.push(...page.data);
      after = page.data.length < 100 ? null : page.page_info.end_cursor;
    }
    return all;
  }

  private async answerOf(source: Source): Promise<string> {
    const reply = await request(endpointOf(this.server, source), { method: 'POST' });
    return `${reply.statusCode} ${await reply.body.text()}`;
  }
}
