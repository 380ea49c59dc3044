import { setTimeout } from 'node:timers/promises';
import { isFields, textOf } from './json.js';
import { type Choice, type Prompts } from './prompts.js';

export interface Option {
  readonly label: string;
  readonly value: unknown;
}

/** A page of options of a prop. */
export interface OptionPage {
  readonly options: readonly Option[];
  /** Given back for the next page. */
  readonly context: unknown;
}

export interface PageOf {
  readonly page: number;
  readonly context: unknown;
  /** What is typed, for a prop that searches itself. */
  readonly query?: string;
}

export interface RemoteOptions {
  /** Whether the component searches, and not this program. */
  readonly usesQuery: boolean;
  read(asked: PageOf): Promise<OptionPage>;
}

const MORE = 'more';
export const DONE = 'done';
/** What somebody types within this time is one search of the component. */
const TYPING_MS = 250;

/** Rejects when more is typed. */
export const typingPause = (signal: AbortSignal): Promise<void> => setTimeout(TYPING_MS, undefined, { signal });

/** Options of an answer or of an entry of a prop: texts, numbers, or objects with label and value. */
export const optionsIn = (list: unknown): readonly Option[] =>
  (Array.isArray(list) ? list : []).map((each: unknown): Option => {
    if (!isFields(each) || !('value' in each)) return { label: textOf(each), value: each };
    const label = textOf(each['label']);
    return { label: label === '' ? textOf(each['value']) : label, value: each['value'] };
  });

/** Options that were read so far, for one text that was typed. */
interface Loaded {
  readonly options: readonly Option[];
  readonly next: PageOf | undefined;
}

/** Reads the next page. A page that brings nothing new is the last one. */
const loaded = async (remote: RemoteOptions, before: readonly Option[], asked: PageOf): Promise<Loaded> => {
  const { options: read, context } = await remote.read(asked);
  const known = new Set(before.map(({ value }) => textOf(value)));
  const fresh = read.filter(({ value }) => !known.has(textOf(value)));
  const options = [...before, ...fresh];
  // Pages of a list have one length, but for the last.
  const isLast = fresh.length === 0 || (asked.page > 0 && fresh.length < before.length / asked.page);
  return { options, next: isLast ? undefined : { ...asked, page: asked.page + 1, context } };
};

/** Where somebody chooses: options read so far, and further ones behind "Load more". */
export class OptionSearch {
  private readonly byQuery = new Map<string, Loaded>();
  private last = '';

  private constructor(
    private readonly remote: RemoteOptions,
    first: Loaded,
  ) {
    this.byQuery.set('', first);
  }

  /** Resolves with undefined when there are no options at all. */
  static async open(remote: RemoteOptions): Promise<OptionSearch | undefined> {
    const first = await loaded(remote, [], { page: 0, context: {} });
    return first.options.length === 0 && !remote.usesQuery ? undefined : new OptionSearch(remote, first);
  }

  /** Resolves with the chosen option, or with one of the further choices. */
  async choose(prompts: Prompts, message: string, further: readonly Choice[]): Promise<Option | string> {
    for (;;) {
      const chosen = await prompts.search(message, (typed, signal) => this.choices(typed, signal, further));
      const { options, next } = this.byQuery.get(this.last) ?? { options: [], next: undefined };
      if (chosen === MORE && next !== undefined) {
        this.byQuery.set(this.last, await loaded(this.remote, options, next));
        continue;
      }
      return options[Number(chosen)] ?? chosen;
    }
  }

  private async choices(typed: string, signal: AbortSignal, further: readonly Choice[]): Promise<readonly Choice[]> {
    const query = this.remote.usesQuery ? typed : '';
    const { options, next } = this.byQuery.get(query) ?? (await this.queried(query, signal));
    this.last = query;
    const wanted = typed.toLowerCase();
    const matches = options
      .map(({ label }, at): Choice => ({ name: label, value: String(at) }))
      .filter(({ name }) => this.remote.usesQuery || name.toLowerCase().includes(wanted));
    return [...matches, ...further, ...(next === undefined ? [] : [{ name: 'Load more', value: MORE }])];
  }

  private async queried(query: string, signal: AbortSignal): Promise<Loaded> {
    await typingPause(signal);
    const found = await loaded(this.remote, [], { page: 0, context: {}, query });
    this.byQuery.set(query, found);
    return found;
  }
}
