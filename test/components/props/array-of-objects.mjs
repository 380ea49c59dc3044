export default { name: 'Object has no array', props: { http: '$.interface.http', rows: 'object[]' }, run() {} };
