export default { type: 'action', name: 'Timed action', props: { timer: '$.interface.timer' }, run() {} };
