import { named, seconds, text, type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';

/** Variable as in docs/reference/rest-api.md#variable-fields. The value is never part of a reply. */
export const Variable = named('Variable', { name: text('Name in `process.env`'), updated_at: seconds() });

export type VariableReply = TypeOf<typeof Variable>;

export const variableReply = ({
  name,
  updatedAt,
}: {
  readonly name: string;
  /** Epoch ms. */
  readonly updatedAt: number;
}): VariableReply => ({ name, updated_at: epochSeconds(updatedAt) });
