const http = require('http');
const { pipeline } = require('stream/promises');

module.exports = {
  name: 'http of Node',
  version: '0.0.1',
  props: { http: '$.interface.http', server: 'string' },
  async run() {
    const reply = await new Promise((resolve, reject) => {
      const request = http.request(
        `${this.server}/x`,
        { method: 'PATCH', headers: { 'content-type': 'text/plain' } },
        resolve,
      );
      request.on('error', reject);
      request.end('body');
    });
    let text = '';
    await pipeline(reply, async (parts) => {
      for await (const part of parts) text += part;
    });
    this.$emit(JSON.parse(text));
  },
};
