--- What binds the ranks: the module ladies_ranks where mpirun or srun has started several, and
-- nothing where this process is alone. Everything that goes between ranks goes through here, by a
-- `kind` that says what for, and is counted. Ranks compare the kinds of their calls, and fail where
-- these are not the same.
--
-- Rank 0 alone is heard: the standard output of the others goes nowhere, and so do their notes. An
-- error of any rank ends all, with its message and the rank before it.

local errors = require "ladies.base.errors"
local launch = require "ladies.base.launch"

local link = {rank = 0, size = 1, host = nil, traffic = {}}

local PATIENCE = "LADIES_PATIENCE"

-- The module of MPI, from beside the program.
local function load_module(launched)
  local prefix = package.loaded.ladies_host.prefix
  local open, reason = package.loadlib(prefix .. "/lib/ladies/ladies_ranks.so",
    "luaopen_ladies_ranks")
  if open then return open() end
  errors.fail(("%d processes were started, and this program was built without MPI, which Debian "
    .. "has as libopenmpi-dev, or cannot load it: %s"):format(launched, reason))
end

-- How long this process waits for others, as the environment says.
local function set_patience(mpi)
  local text = os.getenv(PATIENCE)
  local seconds = tonumber(text or "1800")
  if not seconds or seconds <= 0 then
    errors.fail(("%s must be a positive number of seconds, got %q"):format(PATIENCE, text))
  end
  mpi.set_patience(seconds)
end

local mpi

-- Becomes one of so many ranks.
local function open(launched)
  local host = package.loaded.ladies_host
  host.heed_termination()
  mpi = load_module(launched)
  local rank, size, name = mpi.open()
  if size ~= launched then
    errors.fail(("%d processes were started, and MPI knows of %d: they were started by another MPI "
      .. "than that of this program"):format(launched, size))
  end
  link.rank, link.size, link.host = rank, size, name
  host.set_who(("rank %d of %d on %s: "):format(rank, size, name), rank > 0)
  set_patience(mpi)
  if rank > 0 then
    mpi.silence()
    rawset(io, "stderr", assert(io.open("/dev/null", "w")))
  end
end

-- Counts what a call of that kind has sent, which began when this rank had waited for so long.
local function count(kind, waited, messages, bytes)
  local counts = link.traffic[kind] or {messages = 0, bytes = 0, seconds = 0}
  link.traffic[kind] = counts
  counts.messages, counts.bytes = counts.messages + messages, counts.bytes + bytes
  counts.seconds = counts.seconds + mpi.waited() - waited
end

-- The result of f(...), which sends so many messages and bytes.
local function counted(kind, messages, bytes, f, ...)
  local waited = mpi.waited()
  mpi.at(kind)
  local result = f(...)
  count(kind, waited, messages, bytes)
  return result
end

--- The texts of all ranks, in their order.
function link.gather(kind, text)
  if link.size == 1 then return {text} end
  local others = link.size - 1
  return counted(kind, others, others * #text, mpi.gather, text)
end

--- The text of rank `root`, at all; the others give nil.
function link.broadcast(kind, text, root)
  if link.size == 1 then return text end
  local others = link.rank == root and link.size - 1 or 0
  return counted(kind, others, others * #(text or ""), mpi.broadcast, text, root)
end

--- Sends tensors and receives others, each {{rank, Tensor}, ...}; the k-th from one rank to another
-- is the k-th there.
function link.exchange(kind, sends, receives)
  local bytes = 0
  for _, one in ipairs(sends) do bytes = bytes + 4 * one[2].n_rows * one[2].n_cols end
  counted(kind, #sends, bytes, mpi.exchange, sends, receives)
end

--- Begins to bring to this rank the rows of an ascending Index that it lacks of Rows, and to give
-- others what they want of those: a fetch, for the functions below. All ranks call it alike. One is
-- under way at a time: another one first waits for the end of that before, also of one that nobody
-- has waited for.
function link.fetch(rows, ids)
  return mpi.fetch(rows, ids)
end

--- What the fetch under way can do now, without waiting.
function link.go_on()
  mpi.go_on()
end

--- Waits for the end of a fetch: the Rows that it began with, and those that it has brought.
function link.fetched(kind, fetch)
  local waited = mpi.waited()
  local rows, messages, bytes = mpi.fetched(fetch)
  count(kind, waited, messages, bytes)
  return rows
end

--- Brings to this rank the rows of an ascending Index, none of which GraphRows hold, and gives
-- others what they want of these: a Matrix, or nil where no rank wanted any. All ranks call it.
function link.fetch_graph(kind, rows, ids)
  local waited = mpi.waited()
  mpi.at(kind)
  local found, messages, bytes = mpi.fetch_graph(rows, ids)
  count(kind, waited, messages, bytes)
  return found
end

local is_sharing = false

-- Lets products be made together until the result, a <close> variable, goes out of scope.
local function sharing(kind)
  local waited, messages, bytes = mpi.waited(), mpi.shared()
  mpi.share(true)
  is_sharing = true
  return setmetatable({}, {__close = function()
    mpi.share(false)
    is_sharing = false
    local all_messages, all_bytes = mpi.shared()
    count(kind, waited, all_messages - messages, all_bytes - bytes)
  end})
end

--- The results of f(...), whose matrix products all ranks make together: each makes some rows of a
-- product and gives them to the others. All ranks call it, for the same; also within another one.
-- What is not worth sending (core/tensor/share.c) every rank makes itself.
function link.shared(kind, f, ...)
  if link.size == 1 or is_sharing then return f(...) end
  local _ <close> = sharing(kind)
  return f(...)
end

--- Whether all ranks are within link.shared.
function link.is_sharing() return is_sharing end

--- Fills a tensor of which each rank makes its own rows, those of rank r from bounds[r + 1] + 1 on,
-- within link.shared: by f(...), in which nothing is shared; then all have all rows.
function link.make_own(tensor, bounds, f, ...)
  mpi.share(false)
  f(...)
  mpi.share(true)
  mpi.gather_rows(tensor, bounds)
end

--- Fills a tensor with the sum of those of all ranks, in an order of MPI's own: what an exchange is
-- measured against.
function link.sum(kind, sum, own)
  counted(kind, 1, 4 * own.n_rows * own.n_cols, mpi.sum, sum, own)
end

--- Ends what binds the ranks, when all of them come to this: they may then end with any status.
function link.finish()
  if link.size == 1 then return end
  link.gather("end", "")
  mpi.finish()
end

local launched = launch.size()
if launched > 1 then open(launched) end

return link
