import { list } from './not-there.mjs';

export default { name: 'Imports what is missing', props: { http: '$.interface.http' }, run: list };
