// Receives a GitHub webhook: https://docs.github.com/webhooks
import { createHmac, timingSafeEqual } from 'node:crypto';

export default {
  name: 'GitHub webhook',
  key: 'github-webhook',
  version: '0.1.0',
  description: 'Emits each delivery of a GitHub webhook once, after its signature was checked.',
  // GitHub repeats a delivery under the same id: the last 100 ids are remembered.
  dedupe: 'unique',
  props: {
    http: { type: '$.interface.http', customResponse: true },
    secret: {
      type: 'string',
      label: 'Webhook secret',
      description: 'The secret entered in the settings of the GitHub webhook.',
      secret: true,
    },
  },
  methods: {
    /** The HMAC covers the exact bytes that GitHub sent, so it is taken over the raw body, not over the parsed one. */
    isSigned({ headers, bodyRaw }) {
      const expected = Buffer.from(`sha256=${createHmac('sha256', this.secret).update(bodyRaw).digest('hex')}`);
      const given = Buffer.from(headers['x-hub-signature-256'] ?? '');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    summaryOf(kind, { action, repository, sender }) {
      const what = action ? `${kind} ${action}` : kind;
      const where = repository?.full_name ? ` in ${repository.full_name}` : '';
      const who = sender?.login ? ` by ${sender.login}` : '';
      return what + where + who;
    },
  },
  async run(event) {
    if (!this.isSigned(event)) {
      console.error(`delivery ${event.headers['x-github-delivery']} refused: X-Hub-Signature-256 does not match`);
      this.http.respond({ status: 401, body: { error: 'X-Hub-Signature-256 does not match the webhook secret' } });
      return;
    }
    const id = event.headers['x-github-delivery'];
    const kind = event.headers['x-github-event'];
    if (!id || !kind) {
      this.http.respond({ status: 400, body: { error: 'X-GitHub-Delivery and X-GitHub-Event are required' } });
      return;
    }
    this.$emit(
      { event: kind, delivery: id, payload: event.body },
      { id, summary: this.summaryOf(kind, event.body), ts: Date.now() },
    );
    this.http.respond({ status: 200, body: { accepted: id } });
  },
};
