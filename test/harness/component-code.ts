export interface ComponentParts {
  readonly name?: string;
  readonly key?: string;
  readonly version?: string;
  /** Source text of the members of `props`. Default: one HTTP interface named http. */
  readonly props?: string;
  /** Source text of further members of the component: `run() {…}, hooks: {…}, dedupe: 'unique'`. */
  readonly members: string;
  /** Source text in front of the component. */
  readonly head?: string;
}

let counter = 0;

/** Code of a component. Each call gives different code, so that no result equals a saved component. */
export const componentCode = (parts: ComponentParts): string => {
  const n = ++counter;
  const {
    name = `Test ${n}`,
    key = `test-${n}`,
    version = '0.0.1',
    props = `http: '$.interface.http'`,
    head = '',
  } = parts;
  return `// ${n}-${process.pid}
${head}
export default {
  name: ${JSON.stringify(name)},
  key: ${JSON.stringify(key)},
  version: ${JSON.stringify(version)},
  props: { ${props} },
  ${parts.members}
};
`;
};

export const CUSTOM_HTTP = `http: { type: '$.interface.http', customResponse: true }`;

/** Emits the body of each request on the default channel. */
export const relayCode = (name?: string): string =>
  componentCode({ ...(name === undefined ? {} : { name }), members: 'run(event) { this.$emit(event.body); },' });

/**
 * Emits `[payload, metadata]` pairs from the body, an array. Serial, so that batches are committed in posting order.
 */
export const emitterCode = (members = ''): string =>
  componentCode({
    props: `http: '$.interface.http', db: '$.service.db'`,
    members: `${members} run(event) { for (const [payload, meta] of event.body) this.$emit(payload, meta); },`,
  });

/** Answers with the event passed to `run`. */
export const echoCode = (): string =>
  componentCode({ props: CUSTOM_HTTP, members: 'run(event) { this.http.respond({ status: 200, body: event }); },' });
