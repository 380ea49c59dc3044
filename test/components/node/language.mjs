async function* pages() {
  for (let page = 0; page < 3; page++) yield page;
}

export default {
  name: 'Language',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  methods: {
    *numbers() {
      yield* [1, 2];
    },
  },
  async run() {
    const seen = [];
    for await (const page of pages()) seen.push(page);
    const copy = structuredClone({ at: new Date(0), map: new Map([['a', 1]]) });
    const weak = new WeakRef(copy);
    const proxy = new Proxy({}, { get: (_target, name) => `no ${String(name)}` });
    this.$emit({
      seen,
      numbers: [...this.numbers()],
      copy: [copy.at.toISOString(), copy.map.get('a'), weak.deref() === copy],
      proxy: proxy.thing,
      big: (2n ** 64n).toString(),
      named: /(?<year>\d{4})/u.exec('in 2026').groups.year,
      parts: [Object.groupBy === undefined ? 'old' : 'new', [3, 1].toSorted().at(-1), 'a-b'.replaceAll('-', '+')],
      optional: undefined?.missing ?? 'fallback',
      tagged: String.raw`\n`,
      symbol: Symbol.for('a') === Symbol.for('a'),
    });
  },
};
