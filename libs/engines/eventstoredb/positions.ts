import { isPosition, positionOf, START, type Position } from '#libs/kernel/events.js';

/** Position of a record in the server's transaction file. Byte offsets, not event counts. */
export interface LogPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

/** `<20 digits commit>-<20 digits prepare>`. START is a prefix of every such text, so it sorts first. */
export const textOf = ({ commit, prepare }: LogPosition): Position => `${positionOf(commit)}-${positionOf(prepare)}`;

/** Throws for a position of another engine (20 digits), which has no meaning in this log. */
export const logPositionOf = (position: Position): LogPosition | 'start' => {
  if (position === START) return 'start';
  const [commit, prepare] = position.split('-');
  if (!isPosition(position) || commit === undefined || prepare === undefined) {
    throw new Error(`position ${position} is not one of EventStoreDB: expected 20 digits, a "-", 20 digits`);
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};
