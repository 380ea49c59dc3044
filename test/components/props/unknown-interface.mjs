export default { name: 'Unknown interface', props: { mail: '$.interface.email' }, run() {} };
