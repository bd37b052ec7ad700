// A page with the voices of a room. It offers to each member of each list that it should hear, and does not know whether the other offers, too.
window.talk = ({ url, code }) => {
  const peers = new Map();
  const ws = new WebSocket(url);
  const send = (message) => ws.send(JSON.stringify(message));
  const state = { code, me: '', wanted: new Map(), peers, send };
  Object.assign(window, { state });
  const microphone = navigator.mediaDevices.getUserMedia({ audio: true });

  async function connect(to) {
    const peer = new RTCPeerConnection();
    peers.get(to)?.close();
    peers.set(to, peer);
    peer.onicecandidate = ({ candidate }) => {
      if (candidate !== null)
        send({ type: 'webrtc_ice', room_code: state.code, to, candidate: candidate.toJSON() });
    };
    const stream = await microphone;
    for (const track of stream.getTracks()) peer.addTrack(track, stream);
    return peer;
  }

  async function offer(to) {
    const peer = await connect(to);
    await peer.setLocalDescription(await peer.createOffer());
    send({ type: 'webrtc_offer', room_code: state.code, to, sdp: peer.localDescription?.toJSON() });
  }

  ws.onopen = () => {
    send({ type: 'session_init', client_version: 'web', platform: 'web', src_lang: 'zh', tgt_lang: 'en' });
    send(
      code === undefined
        ? { type: 'room_create', client_ts: Date.now() }
        : { type: 'room_join', room_code: code },
    );
  };
  ws.onmessage = async ({ data }) => {
    const frame = JSON.parse(String(data));
    if (frame.type === 'session_init_ack') state.me = frame.session_id;
    if (frame.type === 'room_create_ack') state.code = frame.room_code;
    if (frame.type === 'room_members')
      for (const { session_id: id, raw_voice_preferences: wishes = {} } of frame.members) {
        if (id === state.me) continue;
        const isWanted = wishes[state.me] !== false;
        state.wanted.set(id, isWanted);
        if (!isWanted) {
          peers.get(id)?.close();
          peers.delete(id);
        } else if (!peers.has(id)) void offer(id);
      }
    if (frame.type === 'webrtc_offer') {
      const peer = await connect(frame.to);
      await peer.setRemoteDescription(frame.sdp);
      await peer.setLocalDescription(await peer.createAnswer());
      send({
        type: 'webrtc_answer',
        room_code: state.code,
        to: frame.to,
        sdp: peer.localDescription?.toJSON(),
      });
    }
    if (frame.type === 'webrtc_answer') await peers.get(frame.to)?.setRemoteDescription(frame.sdp);
    if (frame.type === 'webrtc_ice')
      await peers
        .get(frame.to)
        ?.addIceCandidate(frame.candidate)
        .catch(() => {});
  };
};

/** Packets of sound by member. */
window.heard = async () => {
  const counts = {};
  for (const [id, peer] of window.state.peers)
    for (const stats of (await peer.getStats()).values())
      if (stats.type === 'inbound-rtp') counts[id] = stats.packetsReceived;
  return counts;
};
