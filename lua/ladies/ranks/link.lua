--- Sends data between ranks, by the module ladies_ranks (MPI) where mpirun or srun has started
-- several processes; a process that runs alone needs no MPI. Everything that is sent between ranks
-- is sent by this module, with a `kind` that says what it is for, and is counted by kind. Ranks
-- compare the kinds of their calls, and fail where these differ.
--
-- Rank 0 alone prints: the standard output of the other ranks and their notices are discarded. An
-- error of any rank ends all, with its message and the rank before it.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local launch = require "ladies.base.launch"

local link = {rank = 0, size = 1, host = nil, traffic = {}}

local PATIENCE = "LADIES_PATIENCE"

-- Seconds between a rank's error and the next one's, if both have one: mpirun gives the ranks of
-- the first one's machine a second to end before it ends those of others. From the fourth on they
-- speak together.
local TURN, TURNS = 1.25, 4

-- Loads ladies_ranks, the module for MPI, from the folder of the program.
local function load_module(launched)
  local prefix = package.loaded.ladies_host.prefix
  local open, reason = package.loadlib(prefix .. "/lib/ladies/ladies_ranks.so",
    "luaopen_ladies_ranks")
  if open then return open() end
  errors.fail(("%d processes were started, and this program was built without MPI, which Debian "
    .. "has as libopenmpi-dev, or cannot load it: %s"):format(launched, reason))
end

-- Returns for how many seconds this process waits for other ranks, by the environment variable
-- LADIES_PATIENCE; nil and its text where that is no such number.
local function patience()
  local text = os.getenv(PATIENCE) or "1800"
  local seconds = tonumber(text)
  if seconds and seconds > 0 then return seconds end
  return nil, text
end

local mpi

-- Ends this process with a line. It is loading the library, where no command catches errors yet.
local function give_up(host, message, ...)
  host.complain(("ladies: " .. message):format(...))
  os.exit(1)
end

-- Opens MPI, by which this process becomes one of the ranks; MPI must know of as many processes as
-- were started.
local function open(launched)
  local host = package.loaded.ladies_host
  mpi = load_module(launched)
  local seconds, text = patience()
  if seconds then mpi.set_patience(seconds) end
  local ok, rank, size, name = errors.try(mpi.open)
  if not ok then give_up(host, "%s", errors.message(rank)) end
  host.heed_termination()          -- not before: MPI does not poll while it begins
  if size ~= launched then
    give_up(host, "%d processes were started, and MPI knows of %d: they were started by another "
      .. "MPI than that of this program", launched, size)
  end
  link.rank, link.size, link.host = rank, size, name
  host.set_who(("rank %d of %d on %s: "):format(rank, size, name),
    math.min(rank, TURNS) * TURN)
  if not seconds then
    give_up(host, "%s must be a positive number of seconds, got %q", PATIENCE, text)
  end
  if rank > 0 then
    mpi.silence()
    rawset(io, "stderr", assert(io.open("/dev/null", "w")))
  end
end

-- Adds a call that has ended to the counts of its kind: its messages, its bytes, and the seconds
-- for which it waited. `waited` is how long this rank had waited in all before the call.
local function count(kind, waited, messages, bytes)
  local counts = link.traffic[kind] or {messages = 0, bytes = 0, seconds = 0}
  link.traffic[kind] = counts
  counts.messages, counts.bytes = counts.messages + messages, counts.bytes + bytes
  counts.seconds = counts.seconds + mpi.waited() - waited
end

-- Calls f(...), which sends so many messages and bytes, adds these to the counts of the kind, and
-- returns its result.
local function counted(kind, messages, bytes, f, ...)
  local waited = mpi.waited()
  mpi.at(kind)
  local result = f(...)
  count(kind, waited, messages, bytes)
  return result
end

--- Collects a text from every rank and returns them all, in the order of the ranks.
function link.gather(kind, text)
  if link.size == 1 then return {text} end
  local others = link.size - 1
  return counted(kind, others, others * #text, mpi.gather, text)
end

--- Returns the text of rank `root` at all ranks; the others pass nil.
function link.broadcast(kind, text, root)
  if link.size == 1 then return text end
  local others = link.rank == root and link.size - 1 or 0
  return counted(kind, others, others * #(text or ""), mpi.broadcast, text, root)
end

local shared_kind          -- what products are divided for, within link.shared

--- Sends tensors to other ranks and receives tensors from them; both lists are {{rank, Tensor},
-- ...}. The k-th tensor that one rank sends to another fills the k-th that the other receives from
-- it. Within link.shared the kind may be nil, and is that of the whole.
function link.exchange(kind, sends, receives)
  kind = kind or shared_kind
  local bytes = 0
  for _, one in ipairs(sends) do bytes = bytes + 4 * one[2].n_rows * one[2].n_cols end
  counted(kind, #sends, bytes, mpi.exchange, sends, receives)
end

--- Begins to bring those rows of an ascending Index that this rank lacks of Rows, and to send other
-- ranks what they want; returns the fetch, for the functions below. All ranks call it together.
-- Only one fetch is under way at a time: a new one first waits for the end of the one before.
function link.fetch(rows, ids)
  return mpi.fetch(rows, ids)
end

--- Waits for the end of a fetch, and returns Rows that hold those with which it began and those
-- that it has brought.
function link.fetched(kind, fetch)
  local waited = mpi.waited()
  local rows, messages, bytes = mpi.fetched(fetch)
  count(kind, waited, messages, bytes)
  return rows
end

--- Returns Rows that hold the rows of `own`, and copies of those of an ascending Index which the
-- Rows `have` hold.
function link.kept(own, have, ids)
  return mpi.kept(own, have, ids)
end

--- Brings the rows of an ascending Index, none of which this rank's GraphRows have, and sends other
-- ranks what they want; returns a Matrix, or nil where no rank wanted any. All ranks call it
-- together.
function link.fetch_graph(kind, rows, ids)
  local waited = mpi.waited()
  mpi.at(kind)
  local found, messages, bytes = mpi.fetch_graph(rows, ids)
  count(kind, waited, messages, bytes)
  return found
end

-- Divides matrix products among the ranks until the result, a <close> variable, goes out of scope.
local function sharing(kind)
  local waited, messages, bytes = mpi.waited(), mpi.shared()
  mpi.share(true)
  shared_kind = kind
  return setmetatable({}, {__close = function()
    mpi.share(false)
    shared_kind = nil
    local all_messages, all_bytes = mpi.shared()
    count(kind, waited, all_messages - messages, all_bytes - bytes)
  end})
end

--- Calls f(...) and returns its results, dividing its matrix products among the ranks: each
-- computes some rows of a product and sends them to the others. All ranks call it with the same
-- function and arguments; calls may be nested. Small products (core/tensor/shared_product.c) every
-- rank computes itself.
function link.shared(kind, f, ...)
  if link.size == 1 or shared_kind then return f(...) end
  local _ <close> = sharing(kind)
  return f(...)
end

--- Tells whether this code runs within link.shared.
function link.is_sharing() return shared_kind ~= nil end

--- Fills a tensor within link.shared: each rank computes its own rows, those of rank r from
-- bounds[r + 1] + 1 on, by f(...), in which no products are divided; then the ranks exchange the
-- rows.
function link.make_own(tensor, bounds, f, ...)
  link.apart(f, ...)
  mpi.gather_rows(tensor, bounds)
end

--- Returns the seconds that this rank has waited for others so far.
function link.waited()
  return mpi.waited()
end

--- Calls f(...) within link.shared, at all ranks, without dividing its products, and returns its
-- result.
function link.apart(f, ...)
  mpi.share(false)
  local result = f(...)
  mpi.share(true)
  return result
end

--- Calls f(...) as link.apart does. It returns the rows of a tensor that this rank has by `bounds`,
-- as for link.make_own; returns the whole tensor, or nil where f returns nil, at all ranks.
function link.joined(bounds, f, ...)
  local own = link.apart(f, ...)
  if not own then return nil end
  local whole = core.zeros(bounds[#bounds], own.n_cols)
  if own.n_rows > 0 then
    whole:slice(bounds[link.rank + 1] + 1, bounds[link.rank + 2]):copy_(own)
  end
  mpi.gather_rows(whole, bounds)
  return whole
end

--- Adds a tensor of all ranks by MPI's own reduction (into `sum`), against which the time of this
-- library's exchange is measured.
function link.sum(kind, sum, own)
  counted(kind, 1, 4 * own.n_rows * own.n_cols, mpi.sum, sum, own)
end

--- Closes the connection between the ranks when all have called it; afterwards each may exit with
-- any status.
function link.finish()
  if link.size == 1 then return end
  link.gather("end", "")
  mpi.finish()
end

local launched = launch.size()
if launched > 1 then open(launched) end

return link
