--[[ reconcile-node: apply the load that a heartbeat of the node reports.
  KEYS[1] node     HASH  slots, reported, released, declared_by, and the claim on the id (generation)
  KEYS[2] leases   ZSET  "job:attempt" -> expiry (ms, server time)
  KEYS[3] marks    HASH  "a:job:attempt" since when abandoned (ms), "r:job:attempt" held at the last report, "t:job:attempt" since when it is committed
  ARGV[1] running  jobs the node counts
  ARGV[2] named    JSON list of the ids of its jobs, or "" if the report has none
  ARGV[3] idle     ms that the node's keys are kept after its last report, or half as long
  ARGV[4] age      age of the report, ms: it proves nothing about leases that were abandoned since
  ARGV[5] taken    ms: a lease that was committed this long ago had reached the node when it wrote the report; -1: unknown
  ARGV[6] claim    generation of the connection that delivered the report; 0: none
  Returns {"reconciled"|"outdated", used, max} or {"unknown_node"}
  Idempotent: the same report has the same effect; leases released in between are counted by the report itself. ]]
local node, leases, marks, running, named = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local idle, age, taken, claim = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local slots, reported, released, by, generation =
  unpack(redis.call('HMGET', node, 'slots', 'reported', 'released', 'declared_by', 'generation'))
if not slots then
  return { 'unknown_node' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if claim > 0 and claim < math.max(tonumber(by) or 0, tonumber(generation) or 0) then
  local live = redis.call('ZCOUNT', leases, '(' .. now, '+inf')
  return { 'outdated', math.max(live, (tonumber(reported) or 0) - (tonumber(released) or 0)), tonumber(slots) }
end
local gone = redis.call('ZRANGEBYSCORE', leases, '-inf', now)
if named ~= '' then
  local is_running = {}
  for _, job in ipairs(cjson.decode(named)) do
    is_running[job] = true
  end
  -- Only abandoned or committed leases: the job of a reserved one may not have reached the node when it wrote its report.
  local latest = { a = now - age, t = taken >= 0 and now - taken or -1 }
  local all = redis.call('HGETALL', marks)
  for at = 1, #all, 2 do
    local kind, lease = string.match(all[at], '^([at]):(.*)$')
    if
      kind
      and not is_running[string.match(lease, '^(.*):[^:]*$')]
      and tonumber(all[at + 1]) <= latest[kind]
    then
      table.insert(gone, lease)
    end
  end
end
for _, lease in ipairs(gone) do
  redis.call('ZREM', leases, lease)
  redis.call('HDEL', marks, 'a:' .. lease, 'r:' .. lease, 't:' .. lease)
end
local held = redis.call('ZRANGE', leases, 0, -1)
for _, lease in ipairs(held) do
  redis.call('HSET', marks, 'r:' .. lease, 1)
end
redis.call('HSET', node, 'reported', running, 'released', 0)
-- Not at every heartbeat, because each write goes to the replicas; half of the time is long enough.
for _, key in ipairs({ node, leases, marks }) do
  if redis.call('PTTL', key) < tonumber(idle) / 2 then
    redis.call('PEXPIRE', key, idle)
  end
end
return { 'reconciled', math.max(#held, tonumber(running)), tonumber(slots) }
