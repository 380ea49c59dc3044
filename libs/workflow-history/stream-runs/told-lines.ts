import { type LogLine } from '#libs/component-model/run-output.js';
import { type LiveLines } from '#libs/stream-log/line-records.js';

interface Told {
  /** Of the lines of an execution, those from the first number on and before the second. */
  readonly from: number;
  readonly to: number;
}

/** Which log lines a stream has sent of the executions that go on, so that it sends none again with their outcome. */
export class ToldLines {
  private readonly told = new Map<string, Told>();

  /** The lines that follow those it has. A first batch begins an execution, also after a crash. */
  tell({ namespace, item, from, lines }: LiveLines): readonly LogLine[] {
    const key = keyOf(namespace, item);
    const before = from === 0 ? undefined : this.told.get(key);
    // A stream that began meanwhile has not heard the first batches.
    const known = before ?? { from, to: from };
    if (from > known.to) return [];
    this.told.set(key, { from: known.from, to: Math.max(known.to, from + lines.length) });
    return lines.slice(known.to - from);
  }

  /** The executions begin again. Their lines may repeat, and none is left out. */
  forget(): void {
    this.told.clear();
  }

  /** The lines of an outcome that were not told. */
  rest(namespace: string, item: number | null, lines: readonly LogLine[]): readonly LogLine[] {
    const key = keyOf(namespace, item);
    const told = this.told.get(key);
    this.told.delete(key);
    return told ? lines.filter((_, at) => at < told.from || at >= told.to) : lines;
  }
}

const keyOf = (namespace: string, item: number | null): string => `${namespace}/${item ?? ''}`;
