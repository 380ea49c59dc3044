import { axios } from '@pipedream/platform';

export default {
  name: 'axios of the platform',
  version: '0.0.1',
  props: { http: '$.interface.http', server: 'string' },
  async run() {
    const { server } = this;
    this.$emit(
      await axios(this, { url: `${server}/a?x=1&y=2`, params: { y: 3, z: undefined }, headers: { drop: undefined } }),
    );
    this.$emit(await axios(this, { method: 'POST', url: server, data: { a: 1, gone: undefined } }));
    const whole = await axios(this, { url: server, returnFullResponse: true });
    this.$emit([whole.status, whole.data.method]);
    const ledger = axios.create({ baseURL: server });
    this.$emit((await ledger(this, { url: '/b' })).url);
    const failed = await axios(this, { url: `${server}/missing` }).catch((error) => error);
    this.$emit([failed.message, failed.response.status, axios.isAxiosError(failed), 'config' in failed]);
    const refused = await axios(this, { url: server, body: 'x' }).catch((error) => error);
    this.$emit(refused.message);
  },
};
