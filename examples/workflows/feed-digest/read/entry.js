import { itemsOf } from './items.mjs';

/** Items that are remembered. A feed has fewer. */
const REMEMBERED = 1000;

export default {
  props: {
    url: { type: 'string', label: 'Address of an Atom or RSS feed' },
    db: '$.service.db',
  },
  async run({ $ }) {
    const response = await fetch(this.url, { signal: AbortSignal.timeout(20_000) });
    if (!response.ok) throw new Error(`${this.url} answered ${response.status}`);
    const seen = this.db.get('seen') ?? [];
    const items = itemsOf(await response.text()).filter(({ id }) => !seen.includes(id));
    if (items.length === 0) return $.flow.exit('nothing new');
    // This is stored together with the outcome of the step, so a crash between the two is not possible.
    this.db.set('seen', [...items.map(({ id }) => id), ...seen].slice(0, REMEMBERED));
    $.export('$summary', `${items.length} new items`);
    return items;
  },
};
