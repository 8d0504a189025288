--- Defines the task of link prediction: which pairs of nodes have an edge. The edges of the graph
-- are split; those for training are the positives of mini-batches and the only edges that
-- propagation uses, and a decoder scores pairs by the rows that the model computes for their nodes.

local copies = require "ladies.data.copies"
local core = require "ladies_core"
local edge_split = require "ladies.task.edge_split"
local errors = require "ladies.base.errors"
local in_time = require "ladies.links.in_time"
local LeftOut = require "ladies.links.left_out"
local links = require "ladies.links"
local link_tests = require "ladies.task.link_tests"
local LinkDecoder = require "ladies.nn.link_decoder"
local losses = require "ladies.nn.loss"
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"
local Task = require "ladies.task.object"

local sampling = core.sampling
local WHERE = "ladies.task.link_prediction"

local SPEC = {
  edge_split = {"string", "85/5/10"}, edge_split_seed = {"integer", 1}, seed = {"integer", 1},
  supervision = {"number in (0, 1]", 1}, exclude = {"seeds|all|none", "seeds"},
  negatives = {"uniform|degree|pairs or callable", "uniform"},
  per_positive = {"positive integer", 1}, corrupt = {"both|to|from", "both"},
  candidates = {"string or positive integer", "pairs"},
  decoder = {"dot|distmult|complex|mlp", "dot"},
  embedding = {"positive integer", 64}, variational = {"boolean", false},
  relations = {"boolean", false}, in_time = {"boolean", false},
}

-- Parses the option `candidates`: "pairs", "all", or how many candidates there are for each end.
local function candidates_of(given)
  if given == "pairs" or given == "all" then return given end
  local n = math.tointeger(tonumber(given))
  if n and n > 0 then return n end
  errors.fail(('%s: candidates must be "pairs", "all" or a positive integer, got "%s"'):format(
    WHERE, given))
end

-- Fails if relations are asked for and edges have no types.
local function check_relations(data, opts, against)
  if not opts.relations then return end
  if not (data.edges and data.edges.types) then
    errors.fail(("%s: relations = true asks for types of edges, which %s has not"):format(WHERE,
      data.name or "the data set"))
  elseif against == "pairs" then
    errors.fail(WHERE .. ': relations are tested against candidates: --candidates all, or a number '
      .. "of them, such as --candidates 100 (in Lua candidates)")
  end
end

-- Fails for options that a task in time has no use for.
local function check_in_time(opts, against, by_time)
  if not opts.in_time then return end
  if not by_time then
    errors.fail(('%s: in time the edges are divided by their times: edge_split = "time" or '
      .. '"time:%s"'):format(WHERE, opts.edge_split))
  elseif against == "all" then
    errors.fail(WHERE .. ': candidates = "all" needs the rows of all nodes at the time of every '
      .. "edge; a number of candidates, such as 100, needs that of so many")
  elseif opts.exclude == "all" then
    errors.fail(WHERE .. ': exclude = "all": in time nothing has to be left out of propagation, '
      .. "since an edge is not before its own time")
  end
end

-- Returns the positives of training, a random part of the training edges.
local function positives_of(edges, opts)
  if opts.supervision == 1 then
    if opts.exclude == "all" then
      errors.fail(WHERE .. ': exclude = "all" leaves nothing to propagate on where all edges for '
        .. "training are positives; supervision = 0.3 makes 30 % of them positives")
    end
    return edges.train
  end
  local n = math.max(1, math.floor(#edges.train * opts.supervision))
  local rng = core.rng(opts.edge_split_seed):fork(1)
  return edges.train[sampling.uniform(#edges.train, n, {rng = rng}):sort()]
end

-- Returns the places of edges, given by their ends, in the adjacency (an undirected edge has two).
local function entries_of(edges, from, to)
  if not edges.both_ways then return to, from end
  return sampling.concat{to, from}, sampling.concat{from, to}
end

-- Returns a function that removes edges, given by their ends, from the blocks of a mini-batch.
local function excluding(edges, positives, exclude)
  if exclude == "none" then return function(batch) return batch end end
  local left_out, n, both_ways = LeftOut.new(edges.graph), #positives, edges.both_ways
  if exclude == "all" then
    local all = left_out:prepare(entries_of(edges, edges.from[positives], edges.to[positives]))
    return function(batch) return left_out:edit(batch, all) end
  end
  return function(batch, from, to)
    if #from == n and #batch.blocks > 0 then
      errors.fail(WHERE .. ': exclude = "seeds" leaves nothing to propagate on where a mini-batch '
        .. 'has all positives; smaller ones, or exclude = "none"')
    end
    return left_out:edit(batch, left_out:prepare(entries_of({both_ways = both_ways}, from, to)))
  end
end

-- Returns the task's function `draw`, which makes a mini-batch of positives. Its first pairs are
-- the positives, the others negatives. In time a negative has the time of its positive, and the
-- seeds are nodes at these times.
local function drawing(edges, positives, opts, node_types)
  local all_from, all_to, all_relations = edges.from, edges.to, edges.relations
  local all_times, n_nodes = opts.in_time and edges.times or nil, edges.n_nodes
  local draw_negatives = links.negatives(edges, {draw = opts.negatives, corrupt = opts.corrupt,
    per_positive = opts.per_positive, node_types = node_types, in_time = opts.in_time})
  local leave_out = excluding(edges, positives, opts.in_time and "none" or opts.exclude)
  return function(units, rng, sample)
    local from, to = all_from[units], all_to[units]
    local relations, times = all_relations and all_relations[units], all_times and all_times[units]
    local other_from, other_to, of, of_positives = draw_negatives(from, to, relations, rng, times)
    local a, b = sampling.concat{from, other_from}, sampling.concat{to, other_to}
    local batch, at
    if times then
      times = times .. times[of_positives]
      local seeds, seed_times, places = in_time.distinct(a .. b, times .. times, n_nodes)
      batch = sample(seeds, seed_times)
      at = {from = places(a, times), to = places(b, times)}
      if batch.output ~= seeds then
        errors.fail(WHERE .. ": the output of the sampler must be the seeds in their order")
      end
    else
      batch = sample(sampling.unique(sampling.concat{a, b}))
      leave_out(batch, from, to)
      at = {from = sampling.find(batch.output, a), to = sampling.find(batch.output, b)}
    end
    if #at.from < #a or #at.to < #b then
      errors.fail(WHERE .. ": the sampler left out some of the nodes whose pairs are to be scored")
    end
    batch.pairs = {from = at.from, to = at.to, positives = #from,
      relations = relations and sampling.concat{relations, of}}
    return batch
  end
end

-- Returns the task's function `top`. In time the rows are those after the last edge.
local function best_links(edges, opts, node_types)
  local ends = opts.corrupt == "from" and "from" or "to"
  local function named(found)
    local from, to = found.given, found.other
    if ends == "from" then from, to = to, from end
    return {from = from, to = to, rank = found.rank, scores = found.scores}
  end
  return function(rows, model, k, each)
    local all = core.range(1, edges.n_nodes)
    local h = rows(all, opts.in_time and all * 0 + (edges.times:max() + 1) or nil)
    if opts.variational then h = link_tests.halves(h) end
    local found = links.top(edges, model.decoder, h, k, {ends = ends, node_types = node_types,
      each = each and function(some) each(named(some)) end})
    return found and named(found)
  end
end

-- Returns the weights of pairs by which all positives together count as much as all negatives.
local function balance(at)
  local n, m = at.positives, #at.from - at.positives
  if m == 0 then return core.full(n, 1 / n) end
  return link_tests.is_edge(n, n + m) * (1 / (2 * n) - 1 / (2 * m)) + 1 / (2 * m)
end

-- Draws rows from normal distributions with their means and deviations; returns them, and the mean
-- over the rows of the divergence from the standard normal distribution.
local function drawn_rows(h, rng)
  local mean, log = link_tests.halves(h)
  local noise = core.zeros(h.n_rows, mean.n_cols):normal_(1, rng)
  local divergence = ((mean:square() + (log * 2):exp() - log * 2 - 1) / 2):sum() / h.n_rows
  return mean + noise * log:exp(), divergence
end

local function reading(opts)
  return function(h, batch, model)
    local divergence
    if opts.variational then h, divergence = drawn_rows(h, batch.rng) end
    local at = batch.pairs
    local scores = model.decoder:forward(h[at.from], h[at.to], at.relations, batch.rng)
    return opts.variational and {scores = scores, divergence = divergence} or scores
  end
end

--- ladies.task.link_prediction(data: Dataset [, {edge_split = "85/5/10", decoder = "dot", ...}]) ->
-- Task: which pairs of nodes of a data set have an edge. What a mini-batch is drawn of are edges,
-- the positives; the model gives a row for each of their nodes and of the negatives', and the
-- decoder a score for each pair, whose loss is binary cross-entropy.
-- edge_split     shares of the edges for training, validation and test, in per cent; propagation,
--                in training and in evaluation, has those for training alone. "time:80/10/10", or
--                "time": by the times of edges, as links.split has it. The pairs that an edge is
--                tested against are then no edges at its time, but may be edges at other times,
--                unless candidates are "all"
-- in_time        whether the row of a node is that at the time of the edge, by the edges from
--                before it, in training and in evaluation: for edges divided by time, and for the
--                sampler ladies.samplers.temporal alone. A negative has the time of its positive
-- edge_split_seed   of the split, and of what edges are tested against
-- exclude        what is left out of propagation in training, so that no edge is predicted from
--                itself: "seeds", the positives of the mini-batch; "all", those of every
--                mini-batch; "none"
-- supervision    the share of the edges for training that are positives; others only propagate
-- negatives      how they are drawn: "uniform", "degree", "pairs", or a function of one's own; see
--                ladies.links.negatives
-- per_positive   negatives for each positive
-- corrupt        the end of a positive that a negative has another node at, and at which edges are
--                tested against candidates; where nodes have types (data.node_types) it is one of
--                the same type, and an undirected edge leads from the lower type to the higher
-- decoder        "dot", "distmult", "complex" or "mlp": see ladies.nn.link_decoder
-- embedding      columns of a node's row
-- variational    a row is drawn of a normal distribution that the model gives, whose divergence
--                from the standard one, over the number of nodes, is part of the loss (VGAE); in
--                evaluation it is the mean
-- candidates     what edges are tested against. "pairs": as many pairs that are no edges, for AUC
--                and AP, all different (Kipf and Welling 2016), or where edges are divided by time
--                or nodes have types one for each edge, with which it shares an end, so that some
--                may come twice; "all": each edge among all nodes at either of its ends, those of
--                other edges left out, for MRR and Hits@1, 3 and 10 (filtered), or a number of
--                nodes for each end that make no edge
-- relations      whether the types of edges (data.edges.types) are relations, which distmult and
--                complex tell apart: each edge is a triple, a negative keeps its relation, and
--                edges are tested against candidates, among which is the end that stays, too
-- seed           of the decoder's first weights
-- task.data.edges has what the data set knows of the edges for training, for models that read their
-- types or features. In it the inverse of a type is a type of its own, as in data.edges.
return function(data, given)
  options.value(WHERE, "the data set", data, "Dataset")
  local opts = options.check(WHERE, given, SPEC)
  local val, test, by_time = edge_split(WHERE, opts.edge_split)
  local against, node_types = candidates_of(opts.candidates), data.node_types
  check_relations(data, opts, against)
  check_in_time(opts, against, by_time)
  local edges = links.split(data.graph, {val = val, test = test, seed = opts.edge_split_seed,
    edges = data.edges, relations = opts.relations, by = by_time and "time" or "chance",
    node_types = node_types})
  local positives = positives_of(edges, opts)
  local fields = against == "pairs" and link_tests.pairs(edges, opts, data)
    or link_tests.candidates(edges, opts, against ~= "all" and against or nil, data)
  if opts.in_time then fields.nodes, fields.score = nil, nil else fields.infer = nil end
  local n_nodes = edges.n_nodes
  local function decoder()
    return LinkDecoder.new{kind = opts.decoder, inputs = opts.embedding,
      relations = edges.n_relations,
      rng = core.rng(opts.seed):fork(-2)}
  end
  decoder()                       -- so that options that it refuses are an error before the run
  return Task.new(tables.merged(fields, {
    name = "link prediction", unit = "edge",
    data = copies.with_graph(data, edges.graph, opts.in_time and data.edges or edges.edge_data),
    units = {train = positives, val = edges.val, test = edges.test},
    outputs = opts.variational and 2 * opts.embedding or opts.embedding,
    outputs_are = "columns of a row",
    draw = drawing(edges, positives, opts, node_types), read = reading(opts),
    loss = function(out, targets, _, batch)
      local scores = opts.variational and out.scores or out
      local loss = losses.binary_cross_entropy(scores, targets, balance(batch.pairs))
      return opts.variational and loss + out.divergence / n_nodes or loss
    end,
    decoder = decoder, top = not edges.relations and best_links(edges, opts, node_types) or nil,
  }), WHERE)
end
