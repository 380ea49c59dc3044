import { named, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { ROLES } from './published.js';

/** Member as in docs/reference/rest-api.md#member-fields. */
export const Member = named('Member', {
  user_id: text('`u_…`'),
  username: text('Name of the user'),
  email: text('Address of the user'),
  role: oneOf(ROLES, 'What the user may do in the workspace'),
});
export type MemberReply = TypeOf<typeof Member>;
