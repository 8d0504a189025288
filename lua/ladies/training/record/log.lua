--- Writes and reads the log of a run, JSON lines, one for every batch and one for every validation:
--
--   {"batch":12,"epoch":2,"loss":3.1416,"sampling_ms":1.2,"waiting_ms":1.2,"gathering_ms":0.1,
--    "computing_ms":9.8,"nodes":[512,512,512],"edges":[4021,3988],"isolated":0,"bytes":18350080}
--   {"batch":100,"epoch":12,"validation":{"micro-F1":0.6421},"seconds":1.93}
--
-- waiting_ms: how long the loop stood still for the mini-batch: for its checks, and for the
-- sampling, which workers do ahead of it;
-- nodes: rows of the input features, then of the output of every layer; edges: entries of each
-- layer's matrix; isolated: destinations without a sampled neighbour, over all layers; bytes: what
-- the program's own memory held at the end of the backward pass; validation: the numbers that it
-- found, by name; seconds: of training so far, without validation. Numbers of a loop's own, such as
-- callbacks return, come last in a line, under their names.
-- A line is written with one string.format: it is in the loop of training.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local of_class = require("ladies.base.fields").of_class
local options = require "ladies.base.options"

local clock = core.clock

local log = {}

local FLUSH = 1  -- seconds after which lines are in the file for a reader to see

local function set(...)
  local names = {}
  for _, name in ipairs{...} do names[name] = true end
  return names
end

--- The sets of names in the lines of a batch and of a validation, which numbers of a callback must
-- not have.
log.names = {
  batch = set("batch", "epoch", "loss", "sampling_ms", "waiting_ms", "gathering_ms", "computing_ms",
    "nodes", "edges", "isolated", "bytes", "validation"),
  validation = set("batch", "epoch", "validation", "seconds"),
}

local Log = {__name = "Log"}
Log.__index = Log
of_class(Log, "file path flushed hash:string")

local BATCH = '^{"batch":(%d+),"epoch":%d+,"loss":([^,}]+).*}$'

local function is_finite(x)
  return type(x) == "number" and x == x and x ~= math.huge and x ~= -math.huge
end

-- Parses a line of a log and returns what log.read does for it; nothing for other lines.
local function parse(line)
  local batch, loss = line:match(BATCH)
  local number = math.tointeger(tonumber(batch))
  if number and (is_finite(tonumber(loss)) or loss == "null") then return number, tonumber(loss) end
  local ok, record = errors.try(json.decode, line)
  if not ok or type(record) ~= "table" or math.type(record.batch) ~= "integer"
    or not is_finite(record.seconds) or type(record.validation) ~= "table" then return end
  for name, value in pairs(record.validation) do
    if type(name) ~= "string" or not is_finite(value) then return end
  end
  return record.batch, nil, record
end

-- Fails for a line that does not belong in a log.
local function check_line(path, i, batch)
  if not batch then errors.fail(("%s: line %d is not one of a run's log"):format(path, i)) end
end

local function check_file(path)
  if core.exists(path) ~= "file" then errors.fail(("%s is not a regular file"):format(path)) end
end

--- log.read(path) -> iterator: reads the log at `path`: gives for each line the number of its
-- batch; the loss, nil if it was not finite and for a validation; and the record of a validation. A
-- line that is none of a log is an error that names it.
function log.read(path)
  check_file(path)
  local next_line, i = io.lines(path), 0
  return function()
    local line = next_line()
    if not line then return nil end
    i = i + 1
    local batch, loss, validation = parse(line)
    check_line(path, i, batch)
    return batch, loss, validation
  end
end

-- Returns how many bytes of the log at `path` are to be kept, at most `keep`, and their hash. Of a
-- log that is shorter, which the third result tells, all complete lines are kept.
local function kept(path, keep)
  local is_cut, length, hash, i = core.folder.bytes(path) < keep, 0, nil, 0
  for line in io.lines(path, "L") do
    i = i + 1
    if length + #line > keep or line:sub(-1) ~= "\n" then break end
    if is_cut then check_line(path, i, (parse(line:sub(1, -2)))) end
    length, hash = length + #line, core.hash(line, hash)
  end
  return is_cut and length or keep, hash, is_cut
end

-- Truncates the log to `keep` bytes, or a shorter one to its complete lines. Returns the hash of
-- the rest, which must be `hash` if that is given and nothing is missing.
local function cut(path, keep, hash)
  if not core.exists(path) then return nil end
  check_file(path)
  local length, found, is_cut = kept(path, keep)
  if hash and not is_cut and found ~= hash then
    errors.fail(("%s: something in it was changed since the checkpoint; to go on without it, move "
      .. "it away"):format(path))
  end
  core.truncate(path, length)
  return found
end

--- ladies.log(path [, keep: integer [, hash: string]]) -> table: opens a log of JSON lines for a
-- loop: log:batch(batch, number, loss, timer, bytes [, numbers]) and log:validation(number, epoch,
-- found, seconds [, numbers]) write one, log:sync() brings all to the disk and returns the length,
-- log:close() ends it. It is a new one, or, with `keep` (bytes), the old one cut back to that
-- length; one that is shorter, which somebody must have cut, keeps its whole lines. `hash`: what
-- log.hash was at that length; an error, and nothing is cut, where the log is another one.
function log.open(path, keep, hash)
  options.value("ladies.log", "the path", path, "string")
  options.value("ladies.log", "the length to keep", keep, "non-negative integer or nil")
  options.value("ladies.log", "the hash", hash, "string or nil")
  local of_kept = keep and cut(path, keep, hash)
  local file, reason = io.open(path, keep and "a" or "w")
  if not file then errors.fail("log: " .. reason) end
  file:setvbuf("full", 1 << 16)
  return setmetatable({file = file, path = path, hash = of_kept, flushed = clock()}, Log)
end

local function fail(self, reason)
  errors.fail(("log: %s: cannot be written: %s"):format(self.path, reason))
end

local function open_file(self)
  if io.type(self.file) ~= "file" then fail(self, "it is closed") end
  return self.file
end

local function put(self, line)
  local ok, reason = open_file(self):write(line)
  if not ok then fail(self, reason) end
  self.hash = core.hash(line, self.hash)
end

local function milliseconds(seconds)
  return seconds * 1e3
end

-- Returns the text of a callback's numbers, which ends a line; "" where there are none.
local function last_fields(numbers)
  options.value("log", "the numbers of the loop's own", numbers, "table or nil")
  return numbers and next(numbers) and "," .. json.encode(numbers):sub(2, -2) or ""
end

-- Returns two texts with commas: the rows of a batch's input and of every layer's output, and the
-- entries of every layer.
local function count(batch)
  local nodes, edges = {}, {}
  nodes[1] = #options.value("log:batch", "batch.input", batch.input, "Index")
  for i, block in ipairs(options.value("log:batch", "batch.blocks", batch.blocks, "table")) do
    local adj = options.value("log:batch", ("batch.blocks[%d].adj"):format(i), block.adj, "Matrix")
    nodes[i + 1], edges[i] = adj.n_rows, adj.nnz
  end
  return table.concat(nodes, ","), table.concat(edges, ",")
end

--- Returns the fields of a batch's line that say how it was computed, from the mini-batch, the
-- timer and the bytes in use.
function log.measured(batch, timer, bytes)
  local nodes, edges = count(batch)
  return ('"sampling_ms":%.3f,"waiting_ms":%.3f,"gathering_ms":%.3f,"computing_ms":%.3f,'
    .. '"nodes":[%s],"edges":[%s],"isolated":%s,"bytes":%d'):format(
      milliseconds(timer.sampling), milliseconds(timer.waiting), milliseconds(timer.gathering),
      milliseconds(timer.computing), nodes, edges, batch.stats and batch.stats.isolated or "null",
      bytes)
end

--- Writes the line of batch `number`; `measured` is the result of log.measured.
function Log:line(number, epoch, loss, measured, numbers)
  put(self, ('{"batch":%d,"epoch":%d,"loss":%s,%s%s}\n'):format(number, epoch,
    json.number(loss), measured, last_fields(numbers)))
  local now = clock()
  if now - self.flushed > FLUSH then self:flush(now) end
end

--- Writes the line of a batch: the mini-batch, its number in the run, the loss, the timer (see
-- ladies.timer), the bytes held, and numbers of the loop's own, by name, or nil.
function Log:batch(batch, number, loss, timer, bytes, numbers)
  local where = "log:batch"
  options.value(where, "the batch", batch, "table")
  options.value(where, "batch.epoch", batch.epoch, "integer")
  options.value(where, "the number", number, "integer")
  options.value(where, "the timer", timer, "table")
  options.value(where, "the bytes", bytes, "integer")
  if type(loss) ~= "number" then options.value(where, "the loss", loss, "number") end
  self:line(number, batch.epoch, loss, log.measured(batch, timer, bytes), numbers)
end

--- Writes the line of a validation after batch `number`: what it found, as numbers by name, the
-- seconds of training so far, and numbers of the loop's own, by name, or nil.
function Log:validation(number, epoch, found, seconds, numbers)
  local where = "log:validation"
  options.value(where, "the number", number, "integer")
  options.value(where, "the epoch", epoch, "integer")
  options.value(where, "what it found", found, "table")
  options.value(where, "the seconds", seconds, "number")
  put(self, ('{"batch":%d,"epoch":%d,"validation":%s,"seconds":%.3f%s}\n'):format(
    number, epoch, json.encode(found), seconds, last_fields(numbers)))
  self:flush()
end

--- Writes all buffered lines to the file.
function Log:flush(now)
  local ok, reason = open_file(self):flush()
  if not ok then fail(self, reason) end
  self.flushed = now or clock()
end

--- Writes all lines to the disk (fsync); returns the length of the file in bytes.
function Log:sync()
  self:flush()
  core.folder.sync(self.path)
  return self.file:seek("end")
end

--- Closes the file.
function Log:close()
  if io.type(self.file) ~= "file" then return end
  local ok, reason = self.file:close()
  if not ok then fail(self, reason) end
end

return log
