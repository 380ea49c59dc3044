import { defineSource } from '@pipedream/types';

interface Reading {
  celsius: number;
  station?: string;
}

enum Level {
  Cold = 'cold',
  Warm = 'warm',
}

const levelOf = ({ celsius }: Reading): Level => (celsius < 15 ? Level.Cold : Level.Warm);

export default defineSource({
  name: 'Typed source',
  version: '0.0.1',
  props: { http: '$.interface.http' as const },
  async run(event: Reading): Promise<void> {
    const station = event.station!;
    this.$emit({ station, level: levelOf(event) } satisfies Record<string, string>);
  },
});
