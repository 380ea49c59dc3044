/** Names of the parts. Namespaces hold no `/`. */
export const PARTS = {
  origin: 'origin',
  event: 'event',
  /** Error of a failed run, or the reason of one that exited. */
  end: 'end',
  reply: 'reply',
  /** What `$.flow.rerun` passes to the next execution. */
  context: 'context',
  /** The request that ended the wait of a `rerun`. */
  callback: 'callback',
  /** A resume that came while its step was still running. */
  kept: 'kept',
  step: (namespace: string) => `step/${namespace}`,
  exports: (namespace: string) => `exports/${namespace}`,
  props: (namespace: string) => `props/${namespace}`,
  logs: (namespace: string) => `logs/${namespace}`,
  resumeData: (namespace: string) => `resume/${namespace}`,
  /** What became of a message that a step sent. Only the history of runs has it. */
  sent: (namespace: string, index: number) => `sent/${namespace}/${index}`,
  isSent: (name: string) => name.startsWith('sent/'),
} as const;

/** Texts of a run by name, as they are stored. */
export interface RunParts {
  readonly parts: Readonly<Record<string, string>>;
  /**
   * Newest texts of items, in front of `parts`, so that the outcome of an item need not copy the names of all others. No
   * state that was read from a store has them.
   */
  readonly recent?: Readonly<Record<string, string>>;
}

/** Names in `recent`. Each outcome copies them, and copies all names of a run once for so many. */
const MOST_RECENT = 64;

export const partOf = ({ parts, recent }: RunParts, name: string): string | undefined => recent?.[name] ?? parts[name];

/** Sets the text of an item, which never goes. */
export const withRecent = ({ parts, recent = {} }: RunParts, name: string, text: string): RunParts => {
  const next = { ...recent, [name]: text };
  return Object.keys(next).length > MOST_RECENT
    ? { parts: { ...parts, ...next }, recent: {} }
    : { parts, recent: next };
};

/** What a commit from one state to the other writes: changed texts by name, null for one that goes. */
export const changedParts = (before: RunParts, after: RunParts): Readonly<Record<string, string | null>> => {
  const isSame = before.parts === after.parts;
  const [old, now] = [before, after].map(({ parts, recent }): RunParts['parts'] =>
    isSame ? (recent ?? {}) : recent ? { ...parts, ...recent } : parts,
  );
  const changed: Record<string, string | null> = {};
  for (const [name, text] of Object.entries(now ?? {})) if (old?.[name] !== text) changed[name] = text;
  for (const name of Object.keys(old ?? {})) if (!(name in (now ?? {}))) changed[name] = null;
  return changed;
};
