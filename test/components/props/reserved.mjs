export default { name: 'Reserved', props: { http: '$.interface.http', $emit: 'string' }, run() {} };
