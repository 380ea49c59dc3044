import { type IncomingMessage } from 'node:http';
import { RefusedRequest } from './refused-request.js';

/** Switches in the headers of a sender's request (docs/reference/rest-api.md#endpoint-switches). */
export interface Switches {
  /** No list keeps the output of the run. */
  readonly nostore: boolean;
  /** The event is listed as a test, and neither run nor passed on. */
  readonly notrigger: boolean;
}

const NONE: Switches = { nostore: false, notrigger: false };
const UPLOAD_HEADER = 'x-pd-upload-body';
const UPLOAD_PARAMETER = 'pipedream_upload_body';

/** Throws RefusedRequest for switches that exclude each other, and for a switch that is not built. */
export const switchesOf = ({ headers }: IncomingMessage, query: string): Switches => {
  if (headers[UPLOAD_HEADER] !== undefined) throw notBuilt(`header ${UPLOAD_HEADER}`);
  // Few queries contain the word, so few are parsed.
  if (query.includes(UPLOAD_PARAMETER) && new URLSearchParams(query).has(UPLOAD_PARAMETER))
    throw notBuilt(`query parameter ${UPLOAD_PARAMETER}`);
  const [nostore, notrigger] = [isOn(headers['x-pd-nostore']), isOn(headers['x-pd-notrigger'])];
  if (!nostore && !notrigger) return NONE;
  if (nostore && notrigger)
    throw new RefusedRequest(
      'invalid_parameter',
      'headers x-pd-nostore and x-pd-notrigger together leave nothing to do with the event: send one of them',
    );
  return { nostore, notrigger };
};

/** A header without a value is on, so that no sender has an event stored that it asked not to store. */
const isOn = (value: string | string[] | undefined): boolean =>
  value !== undefined && value !== '0' && value !== 'false';

const notBuilt = (what: string): RefusedRequest =>
  new RefusedRequest(
    'not_supported',
    `${what} is not supported yet, and the body would not become a file: send the request without it`,
  );
