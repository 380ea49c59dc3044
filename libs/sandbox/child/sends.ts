import { WARNING } from '#libs/component-model/run-output.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type Fields, type Kind, sendFunctions } from './send-calls.js';
import { methodOf, requestOf, withParams } from './send-request.js';

/** Time for one request of `$.send.http`, which is not tried again. */
const HTTP_MS = 5_000;
const AT_ONCE = 10;
/** Characters of an answer that the log shows. */
const SHOWN = 1_000;

/** Calls of `$.send` in a single run of an action. Requests are sent when the run is over; the others are for workflows. */
export class Sends {
  private readonly requests: Fields[] = [];

  /** @param log writes a line of the run */
  constructor(private readonly log: (kind: string, text: string) => void) {}

  functions(): ReturnType<typeof sendFunctions> {
    return sendFunctions((kind, fields) => this.take(kind, fields));
  }

  /** Sends the requests. A failure is a line in the log, because `run` is over. */
  async deliver(): Promise<void> {
    for (let at = 0; at < this.requests.length; at += AT_ONCE)
      await Promise.all(this.requests.slice(at, at + AT_ONCE).map((request) => this.request(request)));
  }

  private take(kind: Kind, fields: Fields): void {
    if (kind === 'http') this.requests.push(fields);
    else
      this.log(WARNING, `$.send.${kind}: only workflows deliver it, so this single run of an action does not send it`);
  }

  private async request(fields: Fields): Promise<void> {
    const url = new URL(fields['url'] as string);
    const where = `${methodOf(fields)} ${url.origin}${url.pathname}`.toWellFormed();
    try {
      const response = await fetch(withParams(url, fields['params']), {
        ...requestOf(fields),
        signal: AbortSignal.timeout(HTTP_MS),
      });
      const text = (await response.text()).slice(0, SHOWN).toWellFormed();
      this.log('send.http', `${where}: ${response.status}${text === '' ? '' : ` ${text}`}`);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
      this.log(WARNING, `$.send.http: ${where} failed: ${messageOf(error)}${cause}`.toWellFormed());
    }
  }
}
