export default {
  name: 'Fetch',
  version: '0.0.1',
  props: { http: '$.interface.http', server: 'string' },
  async run() {
    const reply = await fetch(`${this.server}/items?x=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ a: 1 }),
    });
    this.$emit([reply.status, reply.headers.get('content-type'), await reply.json()]);
    const form = new FormData();
    form.set('title', 'A tide');
    form.set('file', new Blob(['bytes']), 'a.txt');
    const sent = await (await fetch(this.server, { method: 'PUT', body: form })).json();
    this.$emit([
      sent.type.split(';')[0],
      /name="title"[\s\S]*A tide[\s\S]*filename="a\.txt"[\s\S]*bytes/.test(sent.body),
    ]);
    const missing = await fetch(`${this.server}/missing`);
    this.$emit([missing.ok, (await missing.json()).reason]);
  },
};
