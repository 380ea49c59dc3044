import { type UserError } from '#libs/component-model/run-output.js';

/** Most characters of an author's message in a line of the server's log. */
const MESSAGE_LENGTH = 500;

/** Fields of a log line about a failure, whose secrets must be masked already. */
export const faultFields = ({ name, code, message }: UserError) => ({
  error: name,
  code,
  message: message.length <= MESSAGE_LENGTH ? message : `${message.slice(0, MESSAGE_LENGTH)}…`,
});
