import { isPosition, positionOf, START, type Position } from '#libs/kernel/events.js';

/** Place of a record in the server's transaction file: byte offsets, not counted events. */
export interface LogPosition {
  readonly commit: bigint;
  readonly prepare: bigint;
}

/** `<20 digits commit>-<20 digits prepare>`. START is the beginning of every such text, so it sorts before all. */
export const textOf = ({ commit, prepare }: LogPosition): Position => `${positionOf(commit)}-${positionOf(prepare)}`;

/** Throws for a position of another engine (20 digits): it says nothing about this log. */
export const logPositionOf = (position: Position): LogPosition | 'start' => {
  if (position === START) return 'start';
  const [commit, prepare] = position.split('-');
  if (!isPosition(position) || commit === undefined || prepare === undefined) {
    throw new Error(`position ${position} is not one of EventStoreDB: expected 20 digits, a "-", 20 digits`);
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};
