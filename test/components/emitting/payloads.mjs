class Money {
  #cents = 1250;
  toJSON() {
    return { euros: this.#cents / 100 };
  }
}

export default {
  name: 'Payloads',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    const later = { n: 1 };
    const sent = this.$emit(later);
    later.n = 2;
    this.$emit(typeof sent.then);
    this.$emit();
    this.$emit(new Date(0));
    this.$emit(new Money());
    this.$emit(Buffer.from('ab'));
    this.$emit([undefined, 'x', NaN]);
    this.$emit('text', { id: { a: 1 }, summary: { b: 2 } });
    this.$emit('number', { id: 7, summary: 12, ts: '1767225600000' });
    this.$emit('date', { ts: new Date(1767225600001) });
  },
};
