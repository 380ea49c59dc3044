export default { name: 'Unknown strategy', dedupe: 'newest', props: { http: '$.interface.http' }, run() {} };
