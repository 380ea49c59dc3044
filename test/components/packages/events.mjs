import { Emitter } from '@scope/emitter';
import { LazyThing } from '@scope/emitter/lazy.mjs';

class Feed extends Emitter {
  #seen = 0;
  push(item) {
    this.#seen++;
    return super.emit('item', { item, seen: this.#seen });
  }
}

export default {
  name: 'Subclass of a package',
  version: '0.0.1',
  async run({ items }) {
    const feed = new Feed();
    feed.on('item', (event) => this.$emit(event));
    for (const item of items) feed.push(item);
    this.$emit(await new LazyThing().load());
  },
};
