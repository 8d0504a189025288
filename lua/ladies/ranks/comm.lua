--- ladies.comm: communication between several processes that were started by mpirun or srun and
-- compute together, for training loops of one's own (ladies.train does all this by itself). A
-- process that nobody started so is rank 0 of 1, and everything here works in it, without MPI.
--
-- All ranks must call the same functions in the same order; an error names calls that differ. What
-- a function returns is the same at all ranks, to the bit. Where a rank fails, all end; none waits
-- for ever: after 1800 s, or as many as the environment's LADIES_PATIENCE says, waiting is an
-- error, also that at the end of the program for ranks that are not there yet.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local fold = require "ladies.ranks.fold"
local gradients = require "ladies.ranks.gradients"
local link = require "ladies.ranks.link"
local options = require "ladies.base.options"
local packed = require "ladies.ranks.packed"
local shares = require "ladies.ranks.shares"

local comm = {rank = link.rank, size = link.size}

--- comm.barrier(): returns when all ranks have called it.
function comm.barrier()
  link.gather("comm.barrier", "")
end

--- comm.gather(value) -> table: collects a value from every rank and returns them all as an array,
-- that of rank r at r + 1. A value is plain data (numbers, strings, booleans, and tables of these).
function comm.gather(value)
  return shares.gather("comm.gather", value)
end

-- Returns the root of a broadcast as an integer; fails unless it is the number of a rank.
local function check_root(root)
  root = options.value("comm.broadcast", "the rank", root, "non-negative integer or nil") or 0
  if root >= link.size then
    errors.fail(("comm.broadcast: there is no rank %d, the last is %d"):format(root, link.size - 1))
  end
  return root
end

-- Copies the Tensor t of rank `root` to all ranks; `shape` has the fields ndim, n_rows and n_cols
-- of t at every rank.
local function broadcast_tensor(shape, t, root)
  local sends, receives = {}, {}
  local n_cols = shape.ndim == 2 and shape.n_cols or nil
  local copy = core.zeros(shape.n_rows, n_cols)
  if link.rank == root then
    for rank = 0, link.size - 1 do
      if rank ~= root then sends[#sends + 1] = {rank, t} end
    end
    copy:copy_(t)
  else
    receives[1] = {root, copy}
  end
  if link.size > 1 then link.exchange("comm.broadcast", sends, receives) end
  return copy
end

--- comm.broadcast(value [, root = 0]) -> value: a copy of the value of rank `root` (0), a Tensor or
-- plain data, at all ranks; what the others give does not matter.
function comm.broadcast(value, root)
  root = check_root(root)
  local told
  if link.rank == root and options.class_of(value) == "Tensor" then
    core.check_constant("comm.broadcast", value)
    told = {shape = {ndim = value.ndim, n_rows = value.n_rows, n_cols = value.n_cols}}
  elseif link.rank == root then
    told = {value = value}
  end
  told = packed.value(link.broadcast("comm.broadcast", told and packed.text(told), root))
  if told.shape then return broadcast_tensor(told.shape, value, root) end
  return told.value
end

-- Fails where the tensors of the ranks differ in shape.
local function check_shapes(t)
  local own = ("%d x %d"):format(t.n_rows, t.n_cols)
  for i, other in ipairs(link.gather("comm.all_reduce", own)) do
    if other ~= own then
      errors.fail(("comm.all_reduce: rank %d has a Tensor of %s, rank %d of %s; all must have one "
        .. "shape"):format(link.rank, own, i - 1, other))
    end
  end
end

--- comm.all_reduce(t) -> Tensor: the sum of the tensors t of all ranks, of one shape, added in a
-- binary tree that depends on their number alone.
function comm.all_reduce(t)
  options.value("comm.all_reduce", "what it is given", t, "Tensor")
  core.check_constant("comm.all_reduce", t)
  if link.size == 1 then return t:clone() end
  check_shapes(t)
  local sends, receives, nodes = {}, {}, {}
  for rank = 0, link.size - 1 do
    local sum = t
    if rank ~= link.rank then
      sum = t:clone()
      sends[#sends + 1], receives[#receives + 1] = {rank, t}, {rank, sum}
    end
    nodes[rank + 1] = {first = rank + 1, last = rank + 1, sum = sum}
  end
  link.exchange("comm.all_reduce", sends, receives)
  return fold.add(nodes, link.size)
end

--- comm.together(f, ...) -> ...: calls a function, such as ladies.inference.exact or
-- ladies.metrics.f1, whose work the ranks then share, and returns its results. All ranks call it
-- with the same arguments. Of large matrix products in it every rank computes some rows and sends
-- them to the others; the results are those of one process alone, to the bit.
function comm.together(f, ...)
  options.value("comm.together", "f", f, "callable")
  return link.shared("comm.together", f, ...)
end

local EVERY = 64                                      -- steps, between comparisons of parameters
local steps_of = setmetatable({}, {__mode = "k"})     -- optimizer -> its steps that ranks shared

-- Returns the hash of the parameters at those steps at which ranks compare it, which are frequent
-- at first; false at others.
local function hash_now(optimizer)
  local number = (steps_of[optimizer] or 0) + 1
  steps_of[optimizer] = number
  local due = number % EVERY == 0 or number & (number - 1) == 0
  return due and optimizer:padded_values():hash() or false
end

-- Tells for each parameter whether it has a gradient at any rank; fails where the ranks' parameters
-- differ.
local function has_any(optimizer)
  local _, has = optimizer:sums()
  local any, first = {}, nil
  local told = {has = has, hash = hash_now(optimizer)}
  for i, one in ipairs(shares.gather("comm.accumulate", told)) do
    first = first or one
    if one.hash ~= first.hash then
      errors.fail(("comm.accumulate: at step %d rank %d has other parameters than rank 0; their "
        .. "first values, and what changes them (the learning rate, clipping, a schedule), must be "
        .. "the same at every rank"):format(steps_of[optimizer], i - 1))
    end
    for k, there in ipairs(one.has) do any[k] = any[k] or there end
  end
  return any
end

--- comm.accumulate(optimizer: Optimizer, batches: integer, place: integer) -> boolean: after a
-- backward pass: as optimizer:accumulate(batches, place), for the mini-batch of that place in a
-- step of so many that all ranks share, those of ladies.batches{step = batches}. At this rank's
-- last one of the step it waits for the others, gives the optimizer the mean of the gradients of
-- all, with the bits that one process alone would have, and returns true: it is time for
-- optimizer:step(). At some of the steps, the first ones and every 64th, it compares the parameters
-- of the ranks: others are an error.
function comm.accumulate(optimizer, batches, place)
  options.value("comm.accumulate", "the optimizer", optimizer, "Optimizer")
  options.value("comm.accumulate", "batches", batches, "positive integer")
  options.value("comm.accumulate", "the place", place, "positive integer")
  if optimizer:accumulate(batches, place) then return true end
  local _, last = fold.share(link.rank, link.size, batches)
  if link.size == 1 or place < last then return false end
  gradients.share(optimizer, batches, has_any(optimizer))
  return true
end

--- comm.finish(): closes the connection between the ranks, once all have called it. It is for
-- scripts that end with a status other than 0 without a failure; after that nothing here works any
-- more.
function comm.finish()
  link.finish()
end

return comm
