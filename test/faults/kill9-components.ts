/** Sources whose state reveals a lost, repeated or half-committed run. Each emits `{id, …}` for a body `{id}`. */

/** Stateless, so its runs overlap. Its events come in either form while releases change. */
export const RELAY = `export default {
  name: 'Kill relay', key: 'kill-relay', version: '1',
  props: { http: '$.interface.http' },
  run(event) { this.$emit({ id: JSON.parse(event.bodyRaw).id }); },
};`;

/** Run n emits n, because the db and the emits are committed together or not at all. */
export const COUNTER = `export default {
  name: 'Kill counter', key: 'kill-counter', version: '1',
  props: { http: '$.interface.http', db: '$.service.db' },
  run(event) {
    const n = (this.db.get('n') ?? 0) + 1;
    this.db.set('n', n);
    this.$emit({ id: event.body.id, n });
  },
};`;

/** Every id is posted twice and must be emitted once, even when the server died in between. */
export const UNIQUE = `export default {
  name: 'Kill unique', key: 'kill-unique', version: '1', dedupe: 'unique',
  props: { http: '$.interface.http' },
  run(event) { this.$emit({ id: event.body.id }, { id: event.body.id }); },
};`;

/** One client posts ids in rising order. The db makes runs serial, so every id passes once. */
export const GREATEST = `export default {
  name: 'Kill greatest', key: 'kill-greatest', version: '1', dedupe: 'greatest',
  props: { http: '$.interface.http', db: '$.service.db' },
  run(event) { this.$emit({ id: event.body.id }, { id: event.body.id }); },
};`;

/** Deploys slowly, so that a kill hits the deployment. Works only when both hooks have run. */
export const DEPLOYED = `export default {
  name: 'Kill deployed', key: 'kill-deployed', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db' },
  hooks: {
    async deploy() { await new Promise((resolve) => setTimeout(resolve, 60)); this.db.set('deployed', true); },
    async activate() { await new Promise((resolve) => setTimeout(resolve, 60)); this.db.set('activated', this.db.get('deployed')); },
  },
  run() { this.http.respond({ status: 200, body: { whole: this.db.get('activated') === true } }); },
};`;

/** Answers its caller itself, and emits. */
export const RESPONDER = `export default {
  name: 'Kill responder', key: 'kill-responder', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run(event) {
    const { id } = event.body;
    this.$emit({ id });
    this.http.respond({ status: 200, body: { id } });
  },
};`;

/** Listens to another source and passes its ids on, which makes two hops. */
export const CHAIN = `export default {
  name: 'Kill chain', key: 'kill-chain', version: '1',
  run(event) { this.$emit({ id: event.id }); },
};`;

/** A timer ticks every 15 seconds at most, so use fifteen of them, one second apart. */
const everySecond = Array.from({ length: 15 }, (_, second) => {
  const seconds = [0, 15, 30, 45].map((quarter) => quarter + second).join(',');
  return `t${second}: { type: '$.interface.timer', default: { cron: '${seconds} * * * * *' } }`;
});

/** Timestamp of the event that starts the ticker. */
export const START = 0;

/**
 * Ticks every second once it was started, because a tick before its listener subscribes would have no receiver. The id
 * is the scheduled time, so a double tick shows as two emits and a half-committed one in n.
 */
export const TICKER = `export default {
  name: 'Kill ticker', key: 'kill-ticker', version: '1',
  props: { ${everySecond.join(', ')}, db: '$.service.db' },
  run(event) {
    const before = this.db.get('n') ?? 0;
    if (before === 0 && event.timestamp !== ${START}) return;
    this.db.set('n', before + 1);
    this.$emit({ id: event.timestamp, n: before + 1 });
  },
};`;
