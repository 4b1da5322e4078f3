-- Items: an index per partition, and a hash per item. In a cluster, a partition lies in one slot, and
-- a call accesses one partition.
--
-- index   sorted set, all scores 0: the sorts of the items, in byte order
-- item    hash: v = version, COUNT.TOKEN; x = expiry in milliseconds since 1970, if any;
--         n:NAME = number; t:NAME = text; s:NAME = size of a set; eLENGTH:NAMETOKEN = its tokens
--
-- Numbers of Lua are exact up to 53 bits, so numbers of 64 bits are kept as text.

local MAX, MIN_DIGITS = '9223372036854775807', '9223372036854775808'
local SHORT = 15 -- a text of this length is always exact as a number of Lua
local LIMB = 1000000000

-- Returns whether a text is a number as the driver writes them.
local function is_number(text)
  local digits = string.match(text, '^%-?(%d+)$')
  if not digits or #digits > #MAX then return false end
  return #digits < #MAX or digits <= (digits == text and MAX or MIN_DIGITS)
end

local function limbs(text)
  local sign, digits = 1, text
  if string.sub(text, 1, 1) == '-' then sign, digits = -1, string.sub(text, 2) end
  if #digits <= 9 then return 0, sign * tonumber(digits) end
  return sign * tonumber(string.sub(digits, 1, -10)), sign * tonumber(string.sub(digits, -9))
end

-- Returns a + b, or nil if it exceeds 64 bits.
local function add(a, b)
  if #a <= SHORT and #b <= SHORT then return string.format('%.0f', tonumber(a) + tonumber(b)) end
  local ah, al = limbs(a)
  local bh, bl = limbs(b)
  local high, low = ah + bh, al + bl
  if low >= LIMB then high, low = high + 1, low - LIMB end
  if low <= -LIMB then high, low = high - 1, low + LIMB end
  if high > 0 and low < 0 then high, low = high - 1, low + LIMB end
  if high < 0 and low > 0 then high, low = high + 1, low - LIMB end
  local negative = high < 0 or low < 0
  high, low = math.abs(high), math.abs(low)
  local digits
  if high == 0 then digits = string.format('%.0f', low) else digits = string.format('%.0f%09.0f', high, low) end
  local most = negative and MIN_DIGITS or MAX
  if #digits > #most or (#digits == #most and digits > most) then return nil end
  if negative then return '-' .. digits end
  return digits
end

-- Returns whether a <= b.
local function at_most(a, b)
  if #a <= SHORT and #b <= SHORT then return tonumber(a) <= tonumber(b) end
  local ah, al = limbs(a)
  local bh, bl = limbs(b)
  return ah < bh or (ah == bh and al <= bl)
end

local function member(name, token)
  return 'e' .. #name .. ':' .. name .. token
end

-- Reads the arguments one after another.
local function reader(ARGV)
  local at = 0
  return function()
    at = at + 1
    return ARGV[at]
  end
end

-- Returns the type with which a field is stored: n, t, s, or nil.
local function kind_of(item, name)
  for _, kind in ipairs({'n', 't', 's'}) do
    if redis.call('HEXISTS', item, kind .. ':' .. name) == 1 then return kind end
  end
  return nil
end

-- Returns whether a field has something else than a number; given the number that is stored, if any.
local function is_other(item, name, number, there)
  if number then return not is_number(number) end
  return there and kind_of(item, name)
end

-- Checks the condition of a write and plans its steps. Returns 'ok', 'unmet' or 'type'; consumes
-- all its arguments in each case.
local function plan(item, next, token)
  local version = redis.call('HGET', item, 'v')
  local there = version ~= false
  local count = there and tonumber(string.match(version, '^%d+')) or 0
  local result = 'ok'
  local numbers = {} -- the numbers after the change, where known
  local whole = false -- whether the change replaces all fields
  local steps = {{'HSET', item, 'v', string.format('%.0f.%s', count + 1, token)}}

  local function step(...)
    steps[#steps + 1] = {...}
  end
  local function fails(why)
    if result ~= 'type' then result = why end
  end
  -- Removes a field of any type.
  local function forget(name)
    local kind = kind_of(item, name)
    if kind == 's' then
      local prefix = member(name, '')
      for _, field in ipairs(redis.call('HKEYS', item)) do
        if string.sub(field, 1, #prefix) == prefix then step('HDEL', item, field) end
      end
    end
    if kind then step('HDEL', item, kind .. ':' .. name) end
  end
  local function put(name)
    local kind = next()
    if kind == 's' then
      local size = tonumber(next())
      for _ = 1, size do step('HSET', item, member(name, next()), '') end
      if size > 0 then step('HSET', item, 's:' .. name, size) end
      numbers[name] = false
    else
      local value = next()
      step('HSET', item, kind .. ':' .. name, value)
      numbers[name] = kind == 'n' and value
    end
  end
  local function size_of(name)
    local size = redis.call('HGET', item, 's:' .. name)
    if size then return tonumber(size) end
    if there and kind_of(item, name) then fails('type') end
    return 0
  end
  local function lacks(name, element)
    if size_of(name) == 0 then return true end
    return redis.call('HEXISTS', item, member(name, element)) == 0
  end

  local operation = next()
  if operation == 'put' then
    whole = true
    -- Only if needed: after its first write, a script goes on even on a full server.
    if redis.call('EXISTS', item) == 1 then
      step('DEL', item)
      steps[1], steps[2] = steps[2], steps[1]
    end
    local expires, forget_at = next(), next()
    if expires ~= '' then step('HSET', item, 'x', expires) end
    for _ = 1, tonumber(next()) do put(next()) end
    if expires ~= '' then step('PEXPIREAT', item, forget_at) end
  elseif operation == 'delete' then
    whole = true
    steps = {{'DEL', item}}
  else
    for _ = 1, tonumber(next()) do
      local change, name = next(), next()
      if change == 'add' then
        local delta = next()
        local old = redis.call('HGET', item, 'n:' .. name)
        if is_other(item, name, old, there) then
          fails('type')
        else
          local sum = add(old or '0', delta)
          if sum then
            numbers[name] = sum
            step('HSET', item, 'n:' .. name, sum)
          else
            fails('unmet')
          end
        end
      elseif change == 'put' then
        if there then forget(name) end
        put(name)
      else
        local element = next()
        local size = size_of(name)
        local has = size > 0 and not lacks(name, element)
        if change == 'token' and not has then
          step('HSET', item, member(name, element), '', 's:' .. name, size + 1)
        elseif change == 'drop' and has then
          step('HDEL', item, member(name, element))
          if size == 1 then step('HDEL', item, 's:' .. name) else step('HSET', item, 's:' .. name, size - 1) end
        end
      end
    end
  end

  -- Returns whether the field is stored with the value that follows.
  local function is(name)
    local kind = next()
    if kind ~= 's' then return redis.call('HGET', item, kind .. ':' .. name) == next() end
    local size = tonumber(next())
    local same = redis.call('HGET', item, 's:' .. name) == tostring(size)
    for _ = 1, size do
      local element = next()
      same = same and redis.call('HEXISTS', item, member(name, element)) == 1
    end
    return same
  end
  local function after(name)
    local number = numbers[name]
    if number == nil and not whole then number = redis.call('HGET', item, 'n:' .. name) end
    if number then return number end
    if numbers[name] == false or (not whole and there and kind_of(item, name)) then fails('type') end
    return '0'
  end
  for _ = 1, tonumber(next()) do
    local condition = next()
    local holds
    if condition == 'absent' then
      holds = not there
    elseif condition == 'version' then
      local given = next()
      holds = there and version == given
    elseif condition == 'is' then
      holds = is(next()) and there
    elseif condition == 'has' then
      local name = next()
      holds = there and kind_of(item, name) and true
    elseif condition == 'within' then
      local name, least, most = next(), next(), next()
      local number = after(name)
      holds = at_most(least, number) and at_most(number, most)
    elseif condition == 'lacks' then
      local name, element = next(), next()
      holds = lacks(name, element)
    else
      local name, least = next(), tonumber(next())
      holds = size_of(name) < least
    end
    if not holds then fails('unmet') end
  end

  local exists_after = operation ~= 'delete'
  return result, steps, there, exists_after
end

-- Returns why an index cannot be written; nil if no reason is known.
local function misused(index)
  local kind = redis.call('TYPE', index).ok
  if kind ~= 'zset' and kind ~= 'none' then
    return 'WRONGTYPE ' .. index .. ' is a ' .. kind .. ', not the index of items'
  end
  return nil
end

-- Returns why the user may not call a command; nil if it may, or if the server cannot tell.
local function denied(...)
  if redis.acl_check_cmd and not redis.acl_check_cmd(...) then -- since Redis 7
    return 'NOPERM ' .. (...) .. ' is not allowed'
  end
  return nil
end

-- Returns why a step, or reading the item after them, would fail; nil if no reason is known. A
-- script that fails between two commands leaves the first one done, so all are checked first.
local function obstacle(index, item, steps)
  local why = misused(index) or denied('HGETALL', item)
  for _, step in ipairs(steps) do why = why or denied(unpack(step)) end
  return why
end

-- Returns a function that calls a command, unless one before it has failed. It returns the answer,
-- or nil and the result of the script: {'failed', why} if nothing was done before, else {'torn', why}.
local function runner()
  local done, failure = false, nil
  return function(...)
    if failure then return nil, failure end
    local answer = redis.pcall(...)
    if type(answer) == 'table' and answer.err then
      failure = {done and 'torn' or 'failed', answer.err}
      return nil, failure
    end
    done = true
    return answer
  end
end

-- KEYS: for each write the index and the item.
-- ARGV: a unique token of the call, then for each write its sort, operation and conditions.
-- Returns {'applied', fields...} with the item as the last write left it,
-- {'unmet' or 'type', place of the write, fields...} if nothing was written,
-- {'failed', why} if nothing was written, {'torn', why} if some of it may have been.
local function write(KEYS, ARGV)
  local next = reader(ARGV)
  local token = next()
  local plans = {}
  for i = 1, #KEYS, 2 do
    local index, item, sort = KEYS[i], KEYS[i + 1], next()
    local result, steps, before, after = plan(item, next, token)
    if result ~= 'ok' then
      local answer = redis.call('HGETALL', item)
      table.insert(answer, 1, tostring((i - 1) / 2))
      table.insert(answer, 1, result)
      return answer
    end
    if after and not before then steps[#steps + 1] = {'ZADD', index, '0', sort} end
    if before and not after then steps[#steps + 1] = {'ZREM', index, sort} end
    local why = obstacle(index, item, steps)
    if why then return {'failed', why} end
    plans[#plans + 1] = steps
  end
  local run = runner()
  for _, steps in ipairs(plans) do
    for _, step in ipairs(steps) do run(unpack(step)) end
  end
  local answer, failure = run('HGETALL', KEYS[#KEYS])
  if failure then return failure end
  table.insert(answer, 1, 'applied')
  return answer
end

-- As write, but without an effect: returns {'ok'}, or 'unmet' or 'type' as write does. For a full
-- server, which rejects the start of write.
local function judge(KEYS, ARGV)
  local next = reader(ARGV)
  local token = next()
  for i = 1, #KEYS, 2 do
    next()
    local result = plan(KEYS[i + 1], next, token)
    if result ~= 'ok' then
      local answer = redis.call('HGETALL', KEYS[i + 1])
      table.insert(answer, 1, tostring((i - 1) / 2))
      table.insert(answer, 1, result)
      return answer
    end
  end
  return {'ok'}
end

-- Adds to one number, some with a new item each, the marker of a request.
-- KEYS: the index and the item of the number, then for each marker its index and item.
-- ARGV: a unique token of the call, the sort of the number, then for each add its amount, the least
-- and the most value after it (both empty if any is), and how many arguments its marker has: none,
-- or its sort, when Redis may forget it (empty if never), and its fields as they are stored.
-- Returns {'done', fields of the number, results...}, in order: 'a' and the value after the add;
-- 'x' and the fields of the marker that exists, which is the next result; 'u' and the value outside
-- of whose bounds the sum would be, if any. Otherwise {'type'} if the number is not one, or
-- {'failed', why} if nothing was written, or {'torn', why} if some of it may have been.
local function group(KEYS, ARGV)
  local index, item, token, sort = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
  local version = redis.call('HGET', item, 'v')
  local number = redis.call('HGET', item, 'n:value')
  if is_other(item, 'value', number, version) then return {'type'} end
  local value, added = number or '0', false
  local results = {}
  local markers = {} -- for each that is stored: its place in KEYS, and those of its arguments
  local place, at = 3, 3
  while ARGV[at] do
    local sum, least, most = add(value, ARGV[at]), ARGV[at + 1], ARGV[at + 2]
    local fits = sum and (least == '' or (at_most(least, sum) and at_most(sum, most)))
    local first = at + 4
    at = first + tonumber(ARGV[at + 3])
    local marker = at > first and KEYS[place + 1]
    if marker and redis.call('EXISTS', marker) == 1 then
      results[#results + 1] = 'x'
      results[#results + 1] = redis.call('HGETALL', marker)
    elseif fits then
      value, added = sum, true
      results[#results + 1] = 'a' .. value
      if marker then markers[#markers + 1] = {place, first, at - 1} end
    else
      results[#results + 1] = 'u' .. ((version or added) and value or '')
    end
    if marker then place = place + 2 end
  end
  local run = runner()
  if added then
    local why = obstacle(index, item, {{'HSET', item, 'v', '0'}})
    local entries = {[index] = version and {} or {'0', sort}} -- of each index, as arguments of ZADD
    for _, marker in ipairs(markers) do
      local at, name = KEYS[marker[1]], KEYS[marker[1] + 1]
      local new = entries[at]
      if not new then
        new = {}
        entries[at] = new
        why = why or misused(at)
      end
      new[#new + 1] = '0'
      new[#new + 1] = ARGV[marker[2]]
      why = why or denied('HSET', name, 'v', '0') or denied('PEXPIREAT', name, '0')
    end
    for at, new in pairs(entries) do
      if #new > 0 then why = why or denied('ZADD', at, unpack(new)) end
    end
    if why then return {'failed', why} end
    for _, marker in ipairs(markers) do
      local name, forget_at = KEYS[marker[1] + 1], ARGV[marker[2] + 1]
      run('HSET', name, 'v', '1.' .. token, unpack(ARGV, marker[2] + 2, marker[3]))
      if forget_at ~= '' then run('PEXPIREAT', name, forget_at) end
    end
    local count = version and tonumber(string.match(version, '^%d+')) or 0
    run('HSET', item, 'v', string.format('%.0f.%s', count + 1, token), 'n:value', value)
    for at, new in pairs(entries) do
      if #new > 0 then run('ZADD', at, unpack(new)) end
    end
  end
  local fields, failure = run('HGETALL', item)
  return failure or {'done', fields, unpack(results)}
end

-- KEYS: an index, and an item. Returns {'ok'}, or {why} if a command that writes is not allowed.
local function permit(KEYS)
  local index, item = KEYS[1], KEYS[2]
  local why = obstacle(index, item, {
    {'HSET', item, 'v', '0'}, {'HDEL', item, 'v'}, {'DEL', item}, {'PEXPIREAT', item, '0'},
    {'ZADD', index, '0', 'x'}, {'ZREM', index, 'x'}})
  return {why or 'ok'}
end

-- KEYS: items. Returns the fields of each, as of one moment.
local function read(KEYS)
  local found = {}
  for i, item in ipairs(KEYS) do found[i] = redis.call('HGETALL', item) end
  return found
end

-- KEYS: the index. ARGV: prefix of the keys of items, first bound, last bound, whether descending,
-- most items. Returns {sort, fields} of each item, and removes expired items from the index.
local function scan(KEYS, ARGV)
  local prefix, first, last, descending = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == '1'
  local most = tonumber(ARGV[5])
  local found = {}
  while #found < most do
    local wanted = tostring(most - #found)
    local sorts
    if descending then
      sorts = redis.call('ZREVRANGEBYLEX', KEYS[1], last, first, 'LIMIT', '0', wanted)
    else
      sorts = redis.call('ZRANGEBYLEX', KEYS[1], first, last, 'LIMIT', '0', wanted)
    end
    for _, sort in ipairs(sorts) do
      local fields = redis.call('HGETALL', prefix .. sort)
      if #fields == 0 then
        redis.call('ZREM', KEYS[1], sort)
      else
        found[#found + 1] = {sort, fields}
      end
      if descending then last = '(' .. sort else first = '(' .. sort end
    end
    if #sorts < tonumber(wanted) then break end
  end
  return found
end
