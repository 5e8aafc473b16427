"""The Lua scripts of the projections. Dumb: every value arrives encoded, they compare and then write."""

from __future__ import annotations

from engramlog_server.events.redis.wire import Script

EPOCH_CHECK = """
local epoch = redis.call('HGET', KEYS[1], 'epoch') or '0'
if epoch ~= ARGV[1] then return {'fenced', epoch} end
"""
START_CHECK = """
local at, pieces = redis.call('HGET', KEYS[1], 'seq') or '0', redis.call('HGET', KEYS[1], 'pieces')
if pieces then at = at .. '+' .. pieces end
if at ~= ARGV[2] then return {'elsewhere', at} end
"""
ENTRY_CHECK = """
if ARGV[4] ~= '' then
  local entry = redis.call('XRANGE', KEYS[2], ARGV[3] .. '-0', ARGV[3] .. '-0')[1]
  if not entry or entry[2][4] ~= ARGV[4] then return {'rolled', ARGV[3]} end
end
"""
WRITES = """
-- Nothing that is touched again is empty in between: a slot that is moved to another node refuses a key that is not there, in the
-- middle of what is written. So what makes a key empty comes last.
local i, call, emptied, lists, fields = 5, redis.call, {}, {}, {}
while i <= #ARGV do
  local command, key, n = ARGV[i], KEYS[tonumber(ARGV[i + 1])], tonumber(ARGV[i + 2])
  if command == 'CLOSE' then  -- of a change log: the tail becomes the pack of this name
    local tail = call('GET', key)
    if tail then
      call('HSET', KEYS[tonumber(ARGV[i + 3])], ARGV[i + 4], tail)
      call('SET', key, '')
      emptied[#emptied + 1] = key
    end
  elseif command == 'FORGET' then  -- what readers made, where they made anything: it is made anew behind this
    if call('EXISTS', key) == 1 then
      local before, kept = call('HKEYS', key), {}
      call('HSET', key, unpack(ARGV, i + 3, i + 2 + n))
      for at = i + 3, i + 2 + n, 2 do kept[ARGV[at]] = true end
      for _, name in ipairs(before) do
        if not kept[name] then call('HDEL', key, name) end
      end
    end
  elseif command == 'DEL' then  -- of a list: what it holds so far
    lists[#lists + 1] = {key, call('LLEN', key)}
  elseif command == 'HDEL' then
    fields[key] = fields[key] or {}
    for at = i + 3, i + 2 + n do table.insert(fields[key], ARGV[at]) end
  else
    call(command, key, unpack(ARGV, i + 3, i + 2 + n))
  end
  i = i + 3 + n
end
for _, key in ipairs(emptied) do
  if call('STRLEN', key) == 0 then call('DEL', key) end
end
for _, one in ipairs(lists) do
  if one[2] > 0 then call('LTRIM', one[1], one[2], -1) end
end
for key, names in pairs(fields) do call('HDEL', key, unpack(names)) end
return {'ok'}
"""


def commit_script(*checks: str) -> Script:
    """The commit with the checks given. KEYS: checkpoint, stream, ...; ARGV: epoch, start, seq, event id, then writes.

    The start is a seq, and `+` with the number of pieces where some of what follows on it is written.
    """
    return Script("commit", "".join(checks) + WRITES)


COMMIT = commit_script(EPOCH_CHECK, START_CHECK, ENTRY_CHECK)

LEASE = Script(
    "lease",
    """
-- KEYS: checkpoint, meta. ARGV: mode, holder, now ms, ttl ms, epoch held, build that must be live or ''
-- A lease that would last longer than four times one's own was taken before the clock went back: it has ended.
local holder = redis.call('HGET', KEYS[1], 'holder')
local ends = tonumber(redis.call('HGET', KEYS[1], 'until') or '0')
local epoch = redis.call('HGET', KEYS[1], 'epoch') or '0'
if ARGV[1] == 'take' then
  if ARGV[6] ~= '' and redis.call('HGET', KEYS[2], 'live') ~= ARGV[6] then return {0, epoch, 'not live'} end
  local lasts = ends - tonumber(ARGV[3])
  if holder and holder ~= ARGV[2] and lasts > 0 and lasts <= 4 * tonumber(ARGV[4]) then return {0, epoch, holder} end
  epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'until', tonumber(ARGV[3]) + tonumber(ARGV[4]))
  return {1, tostring(epoch), ARGV[2]}
end
if holder ~= ARGV[2] or epoch ~= ARGV[5] then return {0, epoch, holder or ''} end
if ARGV[1] == 'renew' then
  redis.call('HSET', KEYS[1], 'until', tonumber(ARGV[3]) + tonumber(ARGV[4]))
else
  redis.call('HDEL', KEYS[1], 'holder', 'until')
end
return {1, epoch, holder}
""",
)

DELTA = Script(
    "delta",
    """
-- KEYS: meta, checkpoint, owners, quarantine, changes, records, heads, stream. ARGV: owner, build, token, since seq
-- Answer: what is to be done, token, checkpoint, quarantine, head, the owner's head, entries of the log, and the records
local live = redis.call('HGET', KEYS[1], 'live') or ''
local head = redis.call('HGET', KEYS[1], 'head') or '0'
local own = redis.call('HGET', KEYS[7], ARGV[1]) or '0'
local many = redis.pcall('XLEN', KEYS[8])
if type(many) ~= 'number' then many = 0 end
if live ~= ARGV[2] then return {'build', live, '0', '', head, own, many} end
local token = redis.call('HGET', KEYS[3], ARGV[1]) or ''
local stuck = redis.call('HGET', KEYS[4], ARGV[1]) or ''
local at = redis.call('HGET', KEYS[2], 'seq') or '0'
if token == ARGV[3] then return {'same', token, at, stuck, head, own, many} end
if ARGV[3] == '' then return {'reload', token, at, stuck, head, own, many} end
local ids = redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ARGV[4], '+inf', 'LIMIT', '0', '1000')
if #ids >= 999 then return {'reload', token, at, stuck, head, own, many} end
local records = {}
if #ids > 0 then records = redis.call('HMGET', KEYS[6], unpack(ids)) end
return {'delta', token, at, stuck, head, own, many, ids, records}
""",
)

SWITCH = Script(
    "switch",
    """
-- KEYS: meta, live checkpoint, new checkpoint. ARGV: live build, new build, now ms
if redis.call('HGET', KEYS[1], 'live') ~= ARGV[1] then return {'other', redis.call('HGET', KEYS[1], 'live')} end
local old, new = redis.call('HGET', KEYS[2], 'seq') or '0', redis.call('HGET', KEYS[3], 'seq') or '0'
if tonumber(new) < tonumber(old) or redis.call('HEXISTS', KEYS[3], 'pieces') == 1 then return {'behind', old, new} end
redis.call('HSET', KEYS[1], 'live', ARGV[2], 'old:' .. ARGV[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], 'epoch', 1)
redis.call('HDEL', KEYS[2], 'holder', 'until')
redis.call('HINCRBY', KEYS[3], 'epoch', 1)
redis.call('HDEL', KEYS[3], 'holder', 'until')
return {'ok', new}
""",
)

BEGIN_PARTITION = Script(
    "begin a partition",
    """
-- KEYS: meta, stream, checkpoint of the first build. ARGV: first build, fields and values of the checkpoint
-- One that has entries gets no checkpoint here: where it is gone, somebody took it away, and a rebuild alone folds them again.
-- A partition that has begun is only read, so that a store opens on a Redis that is full.
local live = redis.call('HGET', KEYS[1], 'live')
if not live then
  redis.call('HSET', KEYS[1], 'live', ARGV[1])
  live = ARGV[1]
end
if live ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('HEXISTS', KEYS[3], 'seq') == 1 then return 0 end
redis.call('HSET', KEYS[3], unpack(ARGV, 2))
return 1
""",
)

CREATE_STORE = Script(
    "create store",
    """
-- KEYS: engramlog:store. ARGV: field, value, ...
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
""",
)
