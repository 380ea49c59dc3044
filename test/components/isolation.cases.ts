import { type Area } from './case.js';

export default {
  area: 'isolation',
  title: 'Isolation',
  cases: [
    {
      component: 'isolation/programs.mjs',
      title: 'no other program and no worker can be started',
      shows: ['isolation-programs'],
      then: { emits: [['refused', 'refused', 'refused']] },
    },
    {
      component: 'isolation/files.mjs',
      title: 'files outside of the temporary folder cannot be read or written',
      shows: ['isolation-files'],
      then: { emits: [[false, false, 'done']] },
    },
    {
      component: 'isolation/network.mjs',
      title: 'private and metadata addresses are refused, naming the setting',
      shows: ['egress-guard'],
      then: { emits: [/SLUICE_EGRESS_ALLOW/, /SLUICE_EGRESS_ALLOW/, /SLUICE_EGRESS_ALLOW/] },
    },
  ],
} satisfies Area;
