export default { key: 'tide-table', version: 7, props: { http: '$.interface.http' }, run() {} };
