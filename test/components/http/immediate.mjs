export default {
  name: 'Responds at once',
  version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run() {
    await this.http.respond({ status: '202', body: 'taken', immediate: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
    this.$emit('went on');
  },
};
