export default {
  name: 'Dates and languages',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  run() {
    const at = new Date('2026-07-01T12:00:00Z');
    this.$emit([
      at
        .toLocaleString('en-US', { timeZone: 'America/New_York', dateStyle: 'short', timeStyle: 'short' })
        .replace(/\s/g, ' '),
      new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234.5).replace(/\s/g, ' '),
      Intl.DateTimeFormat().resolvedOptions().timeZone,
      ['ä', 'z', 'a'].sort(new Intl.Collator('de').compare).join(''),
      new Intl.PluralRules('en').select(1),
      'Ⅷ'.normalize('NFKC'),
    ]);
  },
};
