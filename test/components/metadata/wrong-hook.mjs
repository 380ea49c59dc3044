export default { name: 'Hook is a text', hooks: { deploy: 'yes' }, props: { http: '$.interface.http' }, run() {} };
