import { type EmitCall, type ToldEmit } from '#libs/component-model/run-output.js';

/** Limits of the emits that the caller of a manual run is told (docs/reference/limits.md#run-told-emits). */
export const TOLD_EMITS = 100;
export const TOLD_CHARACTERS = 256 << 10;

/** The first emits of a run, as many as fit. */
export const toldEmits = (emits: readonly EmitCall[], dropped: ReadonlySet<object>): readonly ToldEmit[] => {
  const told: ToldEmit[] = [];
  let characters = 0;
  for (const emit of emits.slice(0, TOLD_EMITS)) {
    const { channel, payload, summary = null } = emit;
    characters += channel.length + payload.length + (summary?.length ?? 0);
    if (characters > TOLD_CHARACTERS) break;
    told.push({ channel, payload, summary, dropped: dropped.has(emit) ? 'dedupe' : null });
  }
  return told;
};
