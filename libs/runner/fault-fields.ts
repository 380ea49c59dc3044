import { type UserError } from '#libs/component-model/run-output.js';

/** Characters of an author's message in a line of the server. */
const MESSAGE_LENGTH = 500;

/** What a line of the log says about a failure. The message has its secrets masked already. */
export const faultFields = ({ name, code, message }: UserError) => ({
  error: name,
  code,
  message: message.length <= MESSAGE_LENGTH ? message : `${message.slice(0, MESSAGE_LENGTH)}…`,
});
