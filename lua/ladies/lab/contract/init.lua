--- Examines whether a sampler keeps its contract, as far as a few mini-batches can prove it.
--
-- No fault here is statistical: each is proved by a malformed mini-batch, by entries that are no
-- edges, by a repeated call with another result, or by random numbers that are used twice.

local edges = require "ladies.lab.contract.edges"
local errors = require "ladies.base.errors"
local numbered_batches = require "ladies.training.batches.numbered"
local propagation = require "ladies.graph.propagation"
local replay = require "ladies.lab.contract.replay"
local sampling = require "ladies.sampling"
local streams = require "ladies.lab.contract.streams"
local statistics = require "ladies.statistics"
local Subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local trained = require "ladies.training.loop.trained"

local contract = {}

-- The number of groups whose draws are checked, the draws of each, and the calls that are repeated.
local GROUPS, DRAWS, AGAIN = 4, 2, 4

-- The keys of faults that are only warnings, since they do no harm to training.
local WARNINGS = {isolated = true}

-- Adds a fault, unless there is one with its key.
local function fault(run, key, text, proof, remedy)
  if run.found[key] then return end
  run.found[key] = true
  run.faults[#run.faults + 1] = {key = "contract." .. key, text = text, proof = proof,
    remedy = remedy, kind = WARNINGS[key] and "warning" or "fault"}
end

-- ---------------------------------------------------------------- a mini-batch by itself
-- run.place says which, in proofs.

-- Tells whether a mini-batch is well-formed, so that the rest can be checked; otherwise adds a
-- fault.
local function is_well_formed(run, batch, seeds)
  local ok, reason = errors.try(sampling.check, batch, run.title,
    {nodes = run.context.data.graph.n_nodes})
  if not ok then
    reason = errors.message(reason):sub(#run.title + 3)
  elseif getmetatable(batch) then
    reason = "a mini-batch must have no metatable"
  else
    reason = not numbered_batches.own_batches(run.sampler)
      and numbered_batches.wrong_output(batch, seeds)
      or run.own_nodes and numbered_batches.wrong_loss(batch, run.own_nodes)
  end
  if not reason then return true end
  fault(run, "shape", reason, run.place, "see what a sampler returns: "
    .. "ladies.help(ladies.sampling.check)")
  return false
end

-- Checks that a block was not sliced from another matrix than P, such as its transpose; otherwise
-- adds a fault and returns false.
local function check_root(run, block, l)
  local P, root = run.P, block.adj.root
  if not root or root.n_rows ~= P.n_rows or root:is_close(P) then return true end
  if root:transpose():is_close(P) then
    fault(run, "transposed", ("layer %d is sliced from the transpose of P: nodes are heard by "
      .. "those whom they should hear"):format(l), run.place,
      "slice P, whose rows are the nodes that hear")
  else
    fault(run, "other_P", ("layer %d is sliced from another matrix than P"):format(l),
      ("it has %s, P is %s"):format(propagation.describe(root, run.context.data.graph),
        propagation.describe(P, run.context.data.graph)),
      "slice the P that the sampler is given; or set normalize to what it slices, which inference "
        .. "takes then")
  end
end

-- Counts the entries of a block that P does not have, and adds a fault for them, unless check_root
-- has already reported another matrix.
local function check_edges(run, block, l, is_of_P)
  local count, row, col, reason = edges.foreign(run.P, block)
  run.entries, run.foreign = run.entries + block.adj.nnz, run.foreign + count
  if count == 0 or not is_of_P then return end
  fault(run, "edges", ("layer %d has entries that are no edges of P%s"):format(l,
    reason and ": " .. reason or ""), ("%s: %d of %d entries, the first from node %d to node %d")
      :format(run.place, count, block.adj.nnz, col, row),
    reason and "put dst, src and the rows and columns of adj in the same order"
      or "adj[i][j] must be a weight of P[dst[i], src[j]]")
end

-- Compares stats.isolated, where there is one, with the number of rows without entries.
local function check_stats(run, batch)
  local told, found = (batch.stats or {}).isolated, 0
  for _, block in ipairs(batch.blocks) do found = found + block.adj:empty_rows() end
  if told and told ~= found then
    fault(run, "isolated", "stats.isolated is not the number of rows without entries",
      ("%s: it is %s, there are %d"):format(run.place, told, found),
      "add adj:empty_rows() of every layer")
  end
end

local function check_batch(run, batch)
  local states_P = batch.P or type(run.sampler) == "table" and run.sampler.P
  for l, block in ipairs(batch.blocks) do
    check_edges(run, block, l, states_P or check_root(run, block, l))
  end
  check_stats(run, batch)
  run.batches = run.batches + 1
end

-- ---------------------------------------------------------------- random numbers

-- Tells whether no neighbour is missing: every row of the blocks has as many entries as in P, or a
-- `control` for the others.
local function is_whole(P, batch)
  for _, block in ipairs(batch.blocks) do
    if not block.control and block.adj.nnz < P:degrees(block.dst):sum():item() then return false end
  end
  return true
end

-- Tells whether all draws with the same seeds are the same.
local function all_same(draws)
  local seen = {}
  for _, draw in ipairs(draws) do
    local group, found = draw.group, sampling.hash(draw.batch)
    if seen[group] and seen[group] ~= found then return false end
    seen[group] = found
  end
  return true
end

-- Adds a fault for draws that use no random numbers, are the same with every rng, and leave
-- neighbours out.
local function check_rng(run, draws)
  if run.is_whole or run.uses_rng or not all_same(draws) then return end
  fault(run, "rng", "it ignores its rng: draws with other random numbers are the same, though they "
    .. "leave neighbours out", ("%d draws with each of %d sets of seeds"):format(DRAWS, GROUPS),
    "give the rng that the sampler is called with to every primitive that draws")
end

-- Returns the names of calls as text: "choice and sample_rows", or "3 calls of choice".
local function calls_of(names)
  local same = true
  for _, name in ipairs(names) do same = same and name == names[1] end
  return same and ("%d calls of %s"):format(#names, names[1]) or table.concat(names, " and ")
end

-- Adds faults for random numbers that are used twice. seen: a result of streams.of for a draw;
-- others: those of earlier draws, with other rngs.
local function check_streams(run, seen, others)
  local names = streams.shared_within(seen)
  if names then
    fault(run, "streams", ("%s use the same random numbers within one mini-batch, so that what "
      .. "they draw hangs together"):format(calls_of(names)),
      ("%d calls on one stream of the rng"):format(#names),
      "pass rng on as it is: every call of a primitive takes the next stream of it")
  end
  for _, other in ipairs(others) do
    local name = streams.shared_between(seen, other)
    if name then
      fault(run, "same_stream", name .. " has the same random numbers in different mini-batches",
        "two calls with different rngs use one stream",
        "make no rng of its own; draw from the one that the sampler is called with")
    end
  end
end

-- ---------------------------------------------------------------- memory

-- Returns a clause that names the functions called by the sampler which depend on more than their
-- arguments.
local function outside_of(uses)
  local found = {}
  for _, seen in ipairs(uses) do
    for _, name in ipairs(seen.outside) do found[name] = true end
  end
  local names = tables.sorted_keys(found)
  return #names > 0 and (" (it calls %s)"):format(table.concat(names, ", ")) or ""
end

local REMEDY = "depend on seeds and rng alone; or be a table with adaptive = true, which says that "
  .. "it has a memory"

local function check_worker(run, calls, hashes, from_worker)
  local other, reason, where = table.unpack(from_worker, 1, 3)
  if where == "crossing" then
    run.notes[#run.notes + 1] = "it does not cross into workers, and runs in step with training: "
      .. reason
  elseif reason then
    fault(run, "state", "in another Lua state it fails: " .. reason, "the first call there",
      "what a sampler uses must be local: globals do not cross into a worker")
  elseif replay.differing(hashes, other) > 0 then
    fault(run, "state", "in another Lua state it draws other mini-batches" .. run.outside,
      ("%d of %d calls differ"):format(replay.differing(hashes, other), #calls), REMEDY)
  end
end

local function check_memory(run, calls, from_worker)
  local context, sampler = run.context, run.sampler
  local hashes = replay.hashes(context, sampler, calls)
  local function compare(key, text, other)
    local count = replay.differing(hashes, other)
    if count == 0 then return true end
    fault(run, key, text .. run.outside, ("%d of %d calls differ"):format(count, #calls), REMEDY)
  end
  local same = compare("repeated", "the same calls give other mini-batches the second time",
    replay.hashes(context, sampler, calls))
    and compare("order", "it remembers: the same calls in another order give other mini-batches",
      replay.hashes(context, sampler, calls, true))
    and (run.subject.given or compare("memory", "it remembers: one that was made anew gives other "
      .. "mini-batches", replay.hashes(context, context:sampler(run.subject), calls, true)))
  if same then check_worker(run, calls, hashes, from_worker) end
end

-- Adds a fault if a sampler that learns during training remembers something that is not in its
-- `state`: a new sampler with the same state must draw the same.
local function check_state(run, calls)
  local sampler, context = run.sampler, run.context
  if run.subject.given then return end
  local other = run.subject:make(context:exact(run.P).model)
  if type(other) ~= "table" then return end
  local _, kept = trained.of_sampler(sampler)
  local _, fresh = trained.of_sampler(other)
  if #kept ~= #fresh then return end
  for i, one in ipairs(fresh) do
    if kept[i].tensor ~= one.tensor then one.tensor:copy_(kept[i].tensor) end
  end
  local hashes = replay.hashes(context, sampler, calls)
  local count = replay.differing(hashes, replay.hashes(context, other, calls))
  if count == 0 then return end
  fault(run, "kept_state", "it remembers what is not in its `state`: one that was made anew, with "
    .. "the same state and parameters, gives other mini-batches",
    ("%d of %d calls differ"):format(count, #calls), "put each tensor that it changes into "
      .. "`state`, an array of {name =, tensor =}: "
      .. "checkpoints hold these alone")
end

-- ---------------------------------------------------------------- all of it

-- Returns the set of the keys of a table.
local function names_of(t)
  local names = {}
  for key in next, t do names[key] = true end
  return names
end

-- Adds a warning if the sampler has made new global variables.
local function check_globals(run, before)
  for _, name in ipairs(tables.sorted_keys(names_of(_G))) do
    if not before[name] then
      run.faults[#run.faults + 1] = {key = "contract.globals", kind = "warning",
        text = ("it sets the global %s"):format(name), proof = "it was not there before its calls",
        remedy = "a local; what is global is another one in every Lua state of --workers"}
      return
    end
  end
end

-- Makes a sampler for the run and its draws, {batch =, group =}, and checks each of these; returns
-- false if one is malformed.
local function draw_all(run, calls)
  run.P = run.context:propagation_of(run.subject)
  run.sampler = run.context:sampler(run.subject)
  local draws, uses, whole = {}, {}, true
  for k, call in ipairs(calls) do
    run.place = ("seeds %d, draw %d"):format(call[1], call[2])
    local seeds, rng, place = run.context:arguments(run.sampler, call[1], call[2])
    local seen, batch = streams.of(run.sampler, seeds, rng, place)
    if not is_well_formed(run, batch, seeds) then return false end
    run.in_step = run.in_step or batch.after_step ~= nil or batch.penalty ~= nil
    check_batch(run, batch)
    check_streams(run, seen, uses)
    draws[k], uses[k] = {batch = batch, group = call[1]}, seen
    whole = whole and is_whole(run.P, batch)
    run.uses_rng = run.uses_rng or next(seen.streams) ~= nil
  end
  run.draws, run.is_whole, run.outside = draws, whole, outside_of(uses)
  return true
end

-- Returns the findings, which say how much was checked; none if the first mini-batch was malformed.
local function findings_of(run)
  if run.batches == 0 then return {} end
  local function finding(key, label, value, format, sentence)
    return tables.merged({key = "contract." .. key, section = "contract", label = label,
      format = format, sentence = sentence}, statistics.interval{value})
  end
  return {
    finding("batches", "mini-batches looked at", run.batches, "%.0f",
      "Their shapes, ids and entries were all looked at."),
    finding("entries", "entries of their blocks", run.entries, "%.0f",
      "Each must be an entry of P, whatever its weight."),
    finding("foreign", "of these no edges of P", run.foreign, "%.0f",
      run.foreign == 0 and "All of them are." or "These pass on what P does not."),
  }
end

--- contract.examine(subject, context) -> findings, faults, notes: examines whether a sampler (see
-- ladies.lab.subject) keeps its contract; faults are {key =, kind = "fault" | "warning", text =,
-- proof =, remedy =}. It looks at the shapes and ids of mini-batches (ladies.sampling.check); at
-- their entries, which must be P's; at the matrix that they were sliced from; whether the same call
-- gives the same mini-batch twice, in another order, and in another Lua state; and at the random
-- numbers that are used. A sampler that learns in step with training may remember, so its calls are
-- not made again. A sampler that is given as it is should be examined before its first call. An
-- error of the sampler is raised, with the call that it came from.
function contract.examine(subject, context)
  local run = {
    subject = subject, context = context, title = subject.title, place = "the first call",
    notes = {}, faults = {}, found = {}, batches = 0, entries = 0, foreign = 0,
    own_nodes = context.nodes.train and numbered_batches.own_nodes(context.nodes.train),
  }
  local calls = replay.calls(GROUPS)
  local again = table.move(calls, 1, AGAIN, 1, {})
  -- A sampler that was given as an object is copied to a worker before its first call, so that it
  -- does not remember anything yet.
  local sampler = subject.given or context:sampler(subject)
  run.in_step = Subject.is_adaptive(sampler)
  local from_worker = not run.in_step
    and table.pack(replay.hashes_of_worker(context, sampler, again))
  local globals = names_of(_G)
  local ok, drawn = errors.try(draw_all, run, calls)
  check_globals(run, globals)
  if not ok then errors.pass_on(drawn, ("%s: %s"):format(run.title, run.place)) end
  if drawn then
    check_rng(run, run.draws)
    if run.in_step then
      run.notes[1] = "it goes in step with training (adaptive, penalty or after_step), so it may "
        .. "remember: the same calls were not made again"
        .. (Subject.is_adaptive(sampler) and ""
          or "; with adaptive = true it is also examined after steps of a training, and asked "
            .. "whether its state is whole")
      check_state(run, again)
    else
      check_memory(run, again, from_worker)
    end
    if run.is_whole then
      run.notes[#run.notes + 1] = "no row left out an entry in these draws: all neighbours are "
        .. "there"
    end
  end
  return findings_of(run), run.faults, run.notes
end

return contract
