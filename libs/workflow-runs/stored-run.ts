import { type RunHead, type RunState } from './run-state.js';

/** The head as the journal stores it. */
export const headText = ({ head }: RunState): string => JSON.stringify(head);

export const headOf = (text: string): RunHead => JSON.parse(text) as RunHead;

export const runOf = ({ head, parts }: { readonly head: string; readonly parts: RunState['parts'] }): RunState => ({
  head: headOf(head),
  parts,
});

/** What a commit from one state to the other writes: changed texts by name, null for one that goes. */
export const changedParts = (before: RunState, after: RunState): Readonly<Record<string, string | null>> => {
  const changed: Record<string, string | null> = {};
  for (const [name, text] of Object.entries(after.parts)) if (before.parts[name] !== text) changed[name] = text;
  for (const name of Object.keys(before.parts)) if (!(name in after.parts)) changed[name] = null;
  return changed;
};
