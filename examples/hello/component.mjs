// The smallest useful source: post JSON to its endpoint, and it is emitted.
export default {
  name: 'Hello',
  key: 'hello',
  version: '0.1.0',
  description: 'Emits the body of every request to its endpoint.',
  props: {
    http: '$.interface.http',
  },
  async run(event) {
    const { name = 'world' } = event.body;
    console.log(`${event.method} ${event.path} from ${event.client_ip}`);
    this.$emit({ greeting: `Hello, ${name}!`, received: event.body }, { summary: `Hello, ${name}!` });
  },
};
