export default {
  name: 'Options',
  version: '0.0.1',
  props: {
    http: '$.interface.http',
    size: { type: 'string', options: ['S', 'M'] },
    colour: { type: 'string', options: [{ label: 'Red', value: '#f00' }, { value: 3 }] },
    place: { type: 'string', withLabel: true },
    places: { type: 'string[]', withLabel: true, optional: true },
    tags: { type: 'string[]', optional: true },
  },
  run() {
    const { size, colour, place, places, tags } = this;
    this.$emit({ size, colour, place, places, tags });
  },
};
